"""What the Reconciliation Service API 0.2 lets a service and a client say, as JSON Schema: no more, and no less.

Written anew from the specification's facts: which fields there are, of which types, which of them are required. Where
the schemas that its authors publish are given (`published_schemas`), a test holds that both let the same documents
pass. Those of `reconcile_schemas` are stricter: they say what PACAS promises.
"""

from __future__ import annotations

from typing import Any

import jsonschema

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
YES_OR_NO: dict[str, Any] = {"type": "boolean"}


def _fields(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An object with these fields; it may have others, unless `more` says that it may not."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required), **more}


def _only(required: dict[str, Any], optional: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return _fields(required, optional, additionalProperties=False, **more)


def _list(items: Any, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **more}


def _each(value: Any) -> dict[str, Any]:
    """An object whose fields are named as somebody likes."""
    return {"type": "object", "additionalProperties": value}


def _with(template: str) -> dict[str, Any]:
    """A text that has a place for an identifier."""
    return TEXT | {"pattern": template}


NAMED = {"id": TEXT, "name": TEXT}
ENTITY = _fields({"id": TEXT}, {"name": TEXT})
TYPE = _fields(NAMED, {"description": TEXT, "broader": _list({"$ref": "#/definitions/type"})})
ID_IN_BRACES = _with(r"\{\{id\}\}")
SERVICE = {"service_url": TEXT, "service_path": TEXT}
SUGGESTS = _fields({}, {**SERVICE, "flyout_service_url": TEXT, "flyout_service_path": _with(r"\$\{id\}")})
CHOICES = _list(_fields({"value": TEXT, "name": TEXT}))


def _setting(kind: str, default: Any, **more: Any) -> dict[str, Any]:
    return _fields(
        {"type": {"const": kind}, "label": TEXT, "name": TEXT, **more}, {"default": default, "help_text": TEXT}
    )


SETTING = {
    "oneOf": [
        _setting("number", NUMBER),
        _setting("text", TEXT),
        _setting("checkbox", YES_OR_NO),
        _setting("select", TEXT, choices=CHOICES),
    ]
}
MANIFEST = _fields(
    {"versions": _list(TEXT, contains={"const": "0.2"}), "name": TEXT, "identifierSpace": TEXT, "schemaSpace": TEXT},
    {
        **dict.fromkeys(("documentation", "serviceVersion", "logo"), TEXT),
        **dict.fromkeys(("view", "feature_view"), _fields({"url": ID_IN_BRACES})),
        "authentication": {"not": {}},  # Swagger's, and a service of ours asks for none
        "defaultTypes": _list({"$ref": "#/definitions/type"}, uniqueItems=True),
        "suggest": _fields({}, dict.fromkeys(("entity", "property", "type"), SUGGESTS)),
        "preview": _fields({"url": ID_IN_BRACES, "width": {"type": "integer"}, "height": {"type": "integer"}}),
        "extend": _fields({}, {"propose_properties": _fields({}, SERVICE), "property_settings": _list(SETTING)}),
    },
    definitions={"type": TYPE},
)
VALUE = {"oneOf": [TEXT, NUMBER, YES_OR_NO, ENTITY]}
GIVEN = _fields({"pid": TEXT, "v": {"oneOf": [VALUE, _list(VALUE)]}})
QUERY = _only(
    {},
    {
        "query": TEXT,
        "type": {"oneOf": [TEXT, _list(TEXT)]},
        "limit": NUMBER,
        "properties": _list(GIVEN),
        "type_strict": {"enum": ["any", "should", "all"]},
    },
    anyOf=[{"required": ["query"]}, {"required": ["properties"], "properties": {"properties": {"minItems": 1}}}],
)
FEATURE = _fields({}, {"id": TEXT, "value": {"oneOf": [YES_OR_NO, NUMBER]}})
CANDIDATE = _fields(
    {**NAMED, "score": NUMBER},
    {"description": TEXT, "features": _list(FEATURE), "match": YES_OR_NO, "type": _list({"oneOf": [ENTITY, TEXT]})},
)
MOMENT = (
    r"^-?([1-9][0-9]*)?[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])?$"
)
CELL = {
    "oneOf": [
        _only({}),
        _only(NAMED, {"description": TEXT}),
        _only({"str": TEXT}),
        _only({"float": NUMBER}),
        _only({"int": {"type": "integer"}}),
        _only({"date": _with(MOMENT)}),
    ]
}
COLUMN = _fields(NAMED, {"type": ENTITY, "service": _with("^https?://")})
SPECIFIED: dict[str, dict[str, Any]] = {
    "manifest": MANIFEST,
    "reconciliation-query-batch": _each(QUERY),
    "reconciliation-result-batch": _each(_fields({"result": _list(CANDIDATE)})),
    "data-extension-query": _fields(
        {"ids": _list(TEXT), "properties": _list(_fields({"id": TEXT}, {"settings": {"type": "object"}}))}
    ),
    "data-extension-response": _fields({"meta": _list(COLUMN), "rows": _each(_each(_list(CELL)))}),
    "suggest-properties-response": _fields({"result": _list(_fields(NAMED, {"description": TEXT}))}),
}
"""By what the published ones are called."""
VALIDATORS: dict[str, Any] = {name: jsonschema.Draft7Validator(schema) for name, schema in SPECIFIED.items()}
