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
EVALUATORS = {
    "": "Not stated",
    "first_party": "The model's developer",
    "third_party": "A third party",
    "collaborative": "The developer with others",
    "other": "Other",
}
"""Who ran the model for the submission, in the terms of Every Eval Ever."""
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
        return f"{value:g} {self.unit}".rstrip() if self.kind == "number" else str(value)


SECTIONS = {
    "On the board": (
        Field("name", "Name", "Your system's name on the board. Your team has its own field.", required=True),
        Field("model", "Model", "The kind of model in a few words, such as BiLSTM+ELMo+Attn.", required=True),
        Field("team", "Team", "Who built it. Other people never see your email address."),
        Field("link", "Link", "A web page about your system. The board links to it.", "address"),
    ),
    "Method": (
        Field("description", "Description", "A short description of the method, in Markdown.", "text"),
        Field("paper", "Paper", "The address of the paper that describes the method.", "address"),
        Field("code", "Code", "The address of the code that reproduces your results.", "address"),
        Field(
            "model_id",
            "Model ID",
            "The model as developer/model, such as its repository on the hub. Exports need it.",
        ),
        Field(
            "evaluator",
            "Evaluated by",
            "Who ran the model to get these predictions.",
            "choice",
            choices=EVALUATORS,
        ),
        Field(
            "regime",
            "Training",
            "One model per task, one for all tasks, or a frozen sentence encoder with small classifiers.",
            "choice",
            choices=REGIMES,
        ),
        Field(
            "training_data",
            "Other training data",
            "Training data besides this benchmark's: corpora, other labeled data, generated text.",
        ),
    ),
    "Cost": (
        Field(
            "parameters",
            "Parameters",
            "All parameters used at test time, of all tasks together, as a plain number.",
            "count",
            place="parameters.total",
            cost="Parameters",
        ),
        Field(
            "shared_parameters",
            "Shared by all tasks",
            "The parameters that all tasks share.",
            "count",
            place="parameters.shared",
        ),
        Field("compute", "Compute", "The cost of training, such as 8 GPU days on an H100, 60 kWh."),
        Field(
            "latency_ms",
            "Latency",
            "Milliseconds per example at test time. Name the hardware in the description.",
            "number",
            least=LEAST_MS,
            most=MOST_MS,
            unit="ms",
            cost="Milliseconds per example",
        ),
    ),
}
"""The fields, under the headings of the form."""

FIELDS = {field.name: field for fields in SECTIONS.values() for field in fields}
LISTED = [field for field in FIELDS.values() if not field.private and field.kind != "text"]
"""The fields that boards show; long texts are only on the submission's own page."""


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
