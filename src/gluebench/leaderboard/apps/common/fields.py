"""Fields that people fill in, declared in TOML once for forms, checks, API, pages, exports and commands.

Those of a submission are here; the settings of a policy, and the fields of a phase and of a study, stand
beside their own code.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, Literal, NamedTuple

from gluebench.leaderboard.apps.common.formats import count
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.tables import toml_beside

Text = Literal["line", "text", "address", "list", "choice"]
"""A "text" has several lines; the parts of a "list" are separated by semicolons."""
Number = Literal["count", "number", "limit", "share"]
"""Pages say "not stated" of a "count" without a value. A "limit" is a whole number from 1 on, a "share" a
number between 0 and 1; both may be left out."""
Kind = Text | Number | Literal["switch", "day", "file", "files"]
"""A "day" is one of UTC."""
LARGEST = 2**63 - 1
"""The largest whole number that a column holds: no limit of a field's own."""
NONE = "none"
"""No value, in a file and on the command line; TOML has no null."""


class Field(NamedTuple):
    """One field. Where it has a column in the database, that defines its length and default."""

    name: str
    label: str
    help: str = ""
    kind: Kind = "line"
    required: bool = False
    private: bool = False
    """Whether only its author and the organizers see it."""
    place: str = ""
    """Its path in JSON, if that is not its name: "parameters.total"."""
    choices: Mapping[str, str] = {}
    """Each value with its label; an empty one if none need be chosen."""
    least: float = 0
    most: float = LARGEST
    length: int | None = None
    """The most characters of a text."""
    initial: Any = None
    """What the form proposes."""
    unit: str = ""
    cost: str = ""
    """Title of its axis on the charts of scores against costs; empty if it is not a cost."""

    @property
    def is_numeric(self) -> bool:
        """Whether its value is a number."""
        return self.kind in ("count", "number")

    @property
    def valid_values(self) -> str:
        """What a setting of this kind is, for who gave something else."""
        match self.kind:
            case "choice":
                return f"one of {', '.join(self.choices)}"
            case "switch":
                return "true or false"
            case "day":
                return "a date as 2027-06-30"
            case "limit":
                return "a whole number from 1 on, or nothing for no limit"
            case "count":
                return f"a whole number from {self.least:g} on"
            case "share":
                return "a number between 0 and 1"
        return f"a text of at most {self.length} characters"

    def is_valid(self, value: Any) -> bool:
        """Whether a setting of this kind may have the value; None stands for nothing."""
        match self.kind:
            case "choice":
                return isinstance(value, str) and value in self.choices
            case "switch":
                return isinstance(value, bool)
            case "day":
                return value is None or type(value) is date
            case "limit":
                return value is None or (type(value) is int and value >= 1)
            case "count":
                return type(value) is int and self.least <= value <= self.most
            case "share":
                return value is None or (type(value) in (int, float) and 0 < value < 1)
        return isinstance(value, str) and (self.length is None or len(value) <= self.length)

    def read(self, text: str) -> Any:
        """The value of a setting as typed on a command line; text where it cannot be read."""
        if self.kind in ("choice", "text"):
            return text
        if text.lower() == NONE:
            return None
        try:
            return json.loads(text.lower())
        except ValueError:
            return text

    def format_value(self, value: Any) -> str:
        """A value as pages show it."""
        if self.choices:
            return self.choices[value]
        if self.kind == "count" or value is None:
            return count(value)
        if self.kind == "number":
            return f"{value:g} {self.unit}".rstrip()
        return str(value)


def fields_beside(module: str, name: str) -> dict[str, Field]:
    """The fields of the TOML file of that name beside a module, given as `__file__`."""
    return {field: Field(field, **values) for field, values in toml_beside(module, name).items()}


SECTIONS: dict[str, tuple[Field, ...]] = {}
"""The fields of fields.toml, under the headings of the form."""
FIELDS: dict[str, Field] = {}
for _title, _fields in toml_beside(__file__).items():
    SECTIONS[_title] = tuple(Field(name, **values) for name, values in _fields.items())
    FIELDS |= {field.name: field for field in SECTIONS[_title]}

LISTED = [field for field in FIELDS.values() if not field.private and field.kind != "text"]
"""The fields that boards show; long texts are only on the submission's own page."""
REGIMES = FIELDS["regime"].choices
EVALUATORS = FIELDS["evaluator"].choices
"""How a system was trained, with the titles."""


def as_json(read: Callable[[str], Any], fields: Iterable[Field]) -> Values:
    """The values of the fields, nested as in JSON; `read` returns the value of a field by its name."""
    values: Values = {}
    for field in fields:
        outer, _, inner = (field.place or field.name).partition(".")
        if inner:
            values.setdefault(outer, {})[inner] = read(field.name)
        else:
            values[outer] = read(field.name)
    return values


def from_json(values: Facts, name: str) -> Any:
    """The value of the field `name` in a result of `as_json`."""
    place = FIELDS[name].place if name in FIELDS else ""
    for part in (place or name).split("."):
        values = values[part]
    return values
