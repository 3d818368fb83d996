"""What the Reconciliation Service API 0.2 asks of each answer, and of what is sent, as JSON Schema.

Written anew from the text of the specification (w3.org/community/reports/reconciliation/CG-FINAL-specs-0.2-20230410),
and stricter where PACAS promises more: an answer has nothing but what is named here. A document is also held to what
the specification itself asks (`specified_schemas`), by another validator, and to the schemas that its authors publish
where they are given (`published_schemas`). None of those has `batchSize` and proposals, which the text alone has.
"""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from published_schemas import FOLDER, published
from specified_schemas import VALIDATORS

TEXT = {"type": "string", "minLength": 1}


def _object(required: dict[str, Any], optional: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


NAMED = _object({"id": TEXT, "name": TEXT})
SERVICE = _object(
    {
        "service_url": {"type": "string", "pattern": "^https?://"},
        "service_path": {"type": "string", "pattern": "^/"},
    }
)
_SETTING = {"label": TEXT, "name": TEXT, "help_text": TEXT}
_SETTINGS = [
    _object(
        {"type": {"const": "select"}, **_SETTING, "choices": _list(_object({"value": TEXT, "name": TEXT}))},
        {"default": TEXT},
    ),
    _object({"type": {"const": "checkbox"}, **_SETTING}, {"default": {"type": "boolean"}}),
    _object({"type": {"const": "text"}, **_SETTING}, {"default": {"type": "string"}}),
]
MANIFEST = _object(
    {
        "versions": _list(TEXT, contains={"const": "0.2"}),
        "name": TEXT,
        "identifierSpace": {"type": "string", "format": "uri"},
        "schemaSpace": {"type": "string", "format": "uri"},
        "batchSize": {"type": "integer", "minimum": 1},
        "defaultTypes": _list(NAMED, uniqueItems=True, minItems=1),
        "suggest": _object({"property": SERVICE}),
        "extend": _object(
            {
                "propose_properties": SERVICE,
                "property_settings": _list({"oneOf": _SETTINGS}),
            }
        ),
    }
)
"""No entity is suggested, previewed or viewed: a manifest that said so would fail."""
SUGGESTED = _object({"result": _list(_object({"id": TEXT, "name": TEXT, "description": TEXT}))})
PROPOSAL = _object({"properties": _list(NAMED)}, {"type": {"type": "string"}, "limit": {"type": "integer"}})
RESULTS = {
    "type": "object",
    "additionalProperties": _object(
        {
            "result": _list(
                _object(
                    {"id": TEXT, "name": TEXT, "score": {"type": "number"}},
                    {"description": TEXT, "match": {"type": "boolean"}, "type": _list(NAMED)},
                )
            )
        }
    ),
}
EXTENSION = _object(
    {
        "meta": _list(NAMED),
        "rows": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": _list(
                    {"oneOf": [_object({}), _object({"str": {"type": "string"}})]}, minItems=1
                ),
            },
        },
    }
)


_ENTITY = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id"]}
_VALUE = {"oneOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, _ENTITY]}
_TYPES = {"oneOf": [{"type": "string"}, _list({"type": "string"})]}
_GIVEN = {"type": "object", "properties": {"pid": TEXT, "v": {"oneOf": [_VALUE, _list(_VALUE)]}}}
_GIVEN |= {"required": ["pid", "v"]}
QUERIES = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [{"required": ["query"]}, {"properties": {"properties": {"minItems": 1}}, "required": ["properties"]}],
        **_object(
            {},
            {
                "query": {"type": "string"},
                "type": _TYPES,
                "limit": {"type": "number"},
                "properties": _list(_GIVEN),
                "type_strict": {"enum": ["any", "should", "all"]},
            },
        ),
    },
}
EXTENSION_QUERY = _object(
    {"ids": _list({"type": "string"}), "properties": _list(_object({"id": TEXT}, {"settings": {"type": "object"}}))}
)

PROMISED = {
    "manifest": MANIFEST,
    "reconciliation-query-batch": QUERIES,
    "reconciliation-result-batch": RESULTS,
    "data-extension-query": EXTENSION_QUERY,
    "data-extension-response": EXTENSION,
    "suggest-properties-response": SUGGESTED,
}
"""By what the specification's are called, of those that there are."""


def check(document: Any, schema: dict[str, Any]) -> Any:
    """A document that is as the specification has it."""
    jsonschema_rs.validate(schema, document, validate_formats=True)
    for name in [name for name, own in PROMISED.items() if own is schema]:
        VALIDATORS[name].validate(document)
        if FOLDER is not None:
            published(name).validate(document)
    return document
