"""The schemas that the authors of the Reconciliation Service API publish, from a folder that is given.

They are others' files and not part of this repository. `PACAS_RECONCILE_SCHEMAS` names a folder that holds those of
version 0.2 (github.com/reconciliation-api/specs, `0.2/schemas`; no registry has them as a package). Then every answer
that a test checks is held to them, too, and ours to letting the same documents pass.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
from referencing import Registry
from referencing.jsonschema import DRAFT7

VARIABLE = "PACAS_RECONCILE_SCHEMAS"
FOLDER = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
SWAGGER: dict[str, Any] = {"definitions": {"securityDefinitions": {"additionalProperties": {"not": {}}}}}
"""In place of Swagger's schemas, which are not in the folder: a manifest of ours asks for no authentication."""


@cache
def published(name: str) -> Any:
    """The validator of one of them."""
    assert FOLDER is not None
    read = {path.name: json.loads(path.read_bytes()) for path in FOLDER.glob("*.json")}
    known = [(schema["$id"], schema) for schema in read.values() if "$id" in schema]
    resources = [(address, DRAFT7.create_resource(schema)) for address, schema in known]
    swagger = ("http://swagger.io/v2/schema.json", DRAFT7.create_resource(SWAGGER))
    registry: Registry[Any] = Registry().with_resources([*resources, swagger])
    return jsonschema.Draft7Validator(read[f"{name}.json"], registry=registry)
