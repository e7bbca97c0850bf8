"""JSON Schema of a policy file, for editors that complete and check TOML."""

from django.db import models

from gluebench.leaderboard.apps.benchmarks.policy import PHASES, SETTINGS
from gluebench.leaderboard.apps.common.fields import NONE, Field
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.limits.phase_acts import VALUES
from gluebench.leaderboard.apps.limits.phase_forms import FIELDS
from gluebench.leaderboard.apps.phases.models import OVERRIDDEN, Phase

DIALECT = "https://json-schema.org/draft/2020-12/schema"
COLUMN_TYPES: dict[type, Values] = {
    models.PositiveSmallIntegerField: {"type": "integer", "minimum": 1},
    models.FloatField: {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    models.JSONField: {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
}
"""What a file gives for a column of a phase. Others are texts; editors read TOML's times as texts, too."""


def policy_schema() -> Values:
    """The schema of the whole file: the settings, and the tables of phases."""
    settings = {name: _setting_schema(field) for name, field in SETTINGS.items()}
    phases = {"type": "array", "description": "Stretches of time with rules of their own."}
    return {
        "$schema": DIALECT,
        "title": "Policy of a benchmark on a gluebench site",
        **_table({**settings, PHASES: {**phases, "items": _phase_schema()}}),
        "dependentRequired": {"public_share": ["reveal"], "reveal": ["public_share"]},
    }


def _phase_schema() -> Values:
    properties = {}
    for name in VALUES:
        if name == "settings":
            properties[name] = _table({one: _setting_schema(SETTINGS[one]) for one in OVERRIDDEN})
        else:
            properties[name] = _column_schema(name)
    # Of a phase that exists, what is left out stays.
    return {**_table(properties), "required": ["name"]}


def _table(properties: Values) -> Values:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _column_schema(name: str) -> Values:
    """What a file gives for a column of a phase, with the words of the form."""
    column = Phase._meta.get_field(name)
    schema: Values = {"title": FIELDS[name].label, "description": FIELDS[name].help}
    choices = getattr(column, "choices", None)
    if choices:
        return {**schema, "enum": [value for value, _ in choices]}
    return {**schema, **COLUMN_TYPES.get(type(column), {"type": "string"})}


def _setting_schema(field: Field) -> Values:
    """What a file gives for a setting: `Field.is_valid` in the words of JSON Schema."""
    schema: Values = {"title": field.label, "description": field.help}
    match field.kind:
        case "choice":
            return {**schema, "enum": list(field.choices)}
        case "switch":
            return {**schema, "type": "boolean"}
        case "count":
            return {**schema, "type": "integer", "minimum": field.least, "maximum": field.most}
        case "limit":
            return {**schema, "anyOf": [{"type": "integer", "minimum": 1}, {"const": NONE}]}
        case "share":
            share = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
            return {**schema, "anyOf": [share, {"const": NONE}]}
        case "day":
            return {**schema, "anyOf": [{"type": "string", "format": "date"}, {"const": NONE}]}
    text: Values = {"type": "string", "not": {"const": NONE}}
    if field.length is not None:
        text["maxLength"] = field.length
    return {**schema, **text}
