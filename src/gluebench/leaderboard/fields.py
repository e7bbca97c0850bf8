"""The fields of a submission, defined once for the forms, API, pages, exports and commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, NamedTuple

from gluebench.leaderboard.common.formats import count

REGIMES = {
    "single-task": "Single-task training",
    "multi-task": "Multi-task training",
    "frozen": "Pre-trained sentence representations, frozen",
    "other": "Other",
}
"""How a system was trained: the groups of the paper's Table 4."""
LEAST_MS, MOST_MS = 0.001, 1e9
"""The range of a latency, one microsecond to eleven days, so that all fit on one axis."""


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
    """Each value with its label."""
    least: float = 0
    most: float = 2**63 - 1
    unit: str = ""
    cost: str = ""
    """Title of its axis on the charts of scores against costs; empty if it is not a cost."""

    @property
    def is_listed(self) -> bool:
        """Whether boards show it; long texts are only on the submission's own page."""
        return not self.private and self.kind != "text"

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
        return f"{value:g} {self.unit}".rstrip() if self.kind == "number" else str(value)


SECTIONS = {
    "On the board": (
        Field(
            "name",
            "Name",
            "What your system is called, as the board shows it. Your team has a field of its own.",
            required=True,
        ),
        Field("model", "Model", "The kind of model, in a few words: BiLSTM+ELMo+Attn.", required=True),
        Field("team", "Team", "Who stands behind it. Your email address is never shown."),
        Field("link", "Link", "A page about it. The board links to it.", "address"),
    ),
    "The method": (
        Field(
            "description",
            "Description",
            "A few sentences on the method. Markdown works; HTML does not.",
            "text",
        ),
        Field("paper", "Paper", "Where the method is described.", "address"),
        Field("code", "Code", "Where others find what they need to do it again.", "address"),
        Field(
            "regime",
            "Training",
            "One model for each task, one for all, or a fixed sentence encoder with small classifiers.",
            "choice",
            choices=REGIMES,
        ),
        Field(
            "training_data",
            "Other training data",
            "What it was trained on beyond the training sets of this benchmark: "
            "corpora, other labeled data, generated text.",
        ),
    ),
    "What it takes": (
        Field(
            "parameters",
            "Parameters",
            "All parameters the system uses at test time, over all tasks, as a plain number.",
            "count",
            place="parameters.total",
            cost="Parameters",
        ),
        Field(
            "shared_parameters",
            "Shared by all tasks",
            "Those parameters that every task uses.",
            "count",
            place="parameters.shared",
        ),
        Field("compute", "Compute", "What the training took, in your words: 8 GPU days of H100, 60 kWh."),
        Field(
            "latency_ms",
            "Latency",
            "Milliseconds for one example at test time; say on what in the description.",
            "number",
            least=LEAST_MS,
            most=MOST_MS,
            unit="ms",
            cost="Milliseconds for an example",
        ),
    ),
}
"""The fields, under the headings of the form."""

FIELDS = {field.name: field for fields in SECTIONS.values() for field in fields}
LISTED = [field for field in FIELDS.values() if field.is_listed]


def as_json(read: Callable[[str], Any], fields: Iterable[Field]) -> dict[str, Any]:
    """The values of the fields, nested as in JSON; `read` returns the value of a field by its name."""
    values: dict[str, Any] = {}
    for field in fields:
        outer, _, inner = (field.place or field.name).partition(".")
        if inner:
            values.setdefault(outer, {})[inner] = read(field.name)
        else:
            values[outer] = read(field.name)
    return values


def from_json(values: Mapping[str, Any], name: str) -> Any:
    """The value of the field `name` in a result of `as_json`."""
    place = FIELDS[name].place if name in FIELDS else ""
    for part in (place or name).split("."):
        values = values[part]
    return values
