"""The fields of a submission, defined once for the forms, API, pages, exports and commands."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from gluebench.leaderboard.apps.common.formats import count
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.tables import toml_beside


class Field(NamedTuple):
    """One field. Its database column defines the maximum length and the default."""

    name: str
    label: str
    help: str
    kind: Literal["line", "text", "address", "choice", "count", "number"] = "line"
    """A "text" is Markdown of several lines; for a "count" without a value, pages say "not stated"."""
    required: bool = False
    private: bool = False
    """Whether only its author and the organizers see it."""
    place: str = ""
    """Its path in JSON, if that is not its name: "parameters.total"."""
    choices: Mapping[str, str] = {}
    """Each value with its label; an empty one if none need be chosen."""
    least: float = 0
    most: float = 2**63 - 1
    unit: str = ""
    cost: str = ""
    """Title of its axis on the charts of scores against costs; empty if it is not a cost."""

    @property
    def is_numeric(self) -> bool:
        """Whether its value is a number."""
        return self.kind in ("count", "number")

    def shown(self, value: Any) -> str:
        """A value as pages show it."""
        if self.choices:
            return self.choices[value]
        if self.kind == "count" or value is None:
            return count(value)
        if self.kind == "number":
            return f"{value:g} {self.unit}".rstrip()
        return str(value)


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
