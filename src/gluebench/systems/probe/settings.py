"""The settings of SentEval's classifier, and which of them each frozen row of Table 4 was run with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from gluebench.benchmark.lookup import find

PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)


@dataclass(frozen=True, slots=True)
class RelatednessSettings:
    """How scores are learned: softmax over whole scores, squared error to two of them."""

    batch_size: int = 64
    epoch_size: int = 50
    """Epochs between two looks at the dev split."""
    tenacity: int = 3
    max_epoch: int = 1000
    scale: tuple[float, float] | None = None
    """Lowest and highest score that can be predicted; None for the task's own range.

    The original has 1 to 5 for every task, so it cannot predict any of STS-B's scores below 1.
    """


@dataclass(frozen=True, slots=True)
class ProbeSettings:
    """SentEval's parameters under SentEval's names; the defaults are its default configuration."""

    nhid: int = 0
    """Units of a hidden layer (sigmoid); 0 for logistic regression."""
    optim: Literal["adam", "rmsprop"] = "adam"
    """With PyTorch's learning rates: 0.001 for Adam, 0.01 for RMSProp."""
    batch_size: int = 64
    tenacity: int = 5
    """Looks at the dev split that may pass without an improvement, all of them counted, in a row or not."""
    epoch_size: int = 4
    """Epochs between two looks at the dev split."""
    max_epoch: int = 200
    """No round is begun after more epochs than this; so one is begun after exactly as many."""
    dropout: float = 0.0
    """Before the hidden layer's sigmoid."""
    penalties: tuple[float, ...] = PENALTIES
    """Weights of the L2 penalty that are tried; the first of those that tie on dev is chosen."""
    choose: Literal["accuracy", "metric"] = "accuracy"
    """The dev score that chooses: accuracy, as in SentEval, or the mean of the task's own metrics."""
    balance: bool = False
    """Whether each penalty is also tried with classes of equal weight."""
    loss: Literal["mean", "sum"] = "mean"
    """Over a batch. SentEval asks for the sum; PyTorch after 0.4.0 gives it the mean all the same.

    Adam does not see the scale of a loss, but the L2 penalty weighs batch_size times less beside a sum.
    """
    relatedness: RelatednessSettings = RelatednessSettings()
    seed: int = 1111


@dataclass(frozen=True, slots=True)
class Preset:
    """Settings by name, with those of tasks that are treated otherwise."""

    name: str
    about: str
    """One sentence."""
    settings: ProbeSettings = ProbeSettings()
    tasks: Mapping[str, ProbeSettings] = field(default_factory=dict)
    """Task name to the settings it has instead."""

    def of(self, task: str) -> ProbeSettings:
        """The settings for a task."""
        return self.tasks.get(task, self.settings)

    def seeded(self, seed: int | None) -> Preset:
        """The same with another seed; None leaves it as it is."""
        if seed is None:
            return self
        others = {name: replace(settings, seed=seed) for name, settings in self.tasks.items()}
        return replace(self, settings=replace(self.settings, seed=seed), tasks=others)


def _paper(row: str, title: str, own: ProbeSettings) -> Preset:
    """A row of the paper: one epoch a round and 16 at most, but on SST-2 as the row's own script says."""
    own = replace(own, loss="sum", relatedness=RelatednessSettings(scale=(1.0, 5.0)), seed=111)
    forced = replace(own, max_epoch=15, epoch_size=1)
    about = f"The row {title} of Table 4: as its script ran SentEval's fork for GLUE."
    return Preset(f"paper:{row}", about, forced, {"SST-2": own})


_PROTOTYPE = ProbeSettings(optim="rmsprop", batch_size=128, tenacity=3, epoch_size=2)
_BY_METRIC = ProbeSettings(penalties=(1e-6, *PENALTIES), choose="metric", balance=True)
_PRESETS = (
    Preset(
        "task-metric",
        "SentEval's default, but the task's own metrics choose the penalty and the weights of classes.",
        _BY_METRIC,
    ),
    Preset("senteval-default", "SentEval's default configuration."),
    Preset("senteval-prototype", "SentEval's configuration for prototyping: faster, less exact.", _PROTOTYPE),
    _paper("cbow", "CBoW", ProbeSettings(batch_size=16)),
    _paper("skip-thought", "Skip-Thought", ProbeSettings()),
    _paper("infersent", "InferSent", _PROTOTYPE),
    _paper("dissent", "DisSent", ProbeSettings()),
    _paper("gensen", "GenSen", ProbeSettings(batch_size=16)),
)
PRESETS: Mapping[str, Preset] = {preset.name: preset for preset in _PRESETS}
"""Name to preset."""
DEFAULT = "task-metric"


def preset_called(name: str) -> Preset:
    """The preset of that name. Raises UnknownNameError."""
    return find(name, _PRESETS, what="preset of the probe")
