"""SentEval's classifier, L2 penalty chosen on the dev split, and its regression (Tai et al. 2015).

All penalties are trained at once. SentEval trains them one after another with the same seed, so that they
start from the same weights and see the same batches; here their first layers are one matrix. SentEval then
repeats the run with the best penalty; that is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from gluebench.scoring.metrics import pearson
from gluebench.systems.probe.settings import ProbeSettings
from gluebench.systems.training.engine import seeded

Combine = Callable[[Tensor, Tensor], tuple[Tensor, ...]]
"""From u and v, each (examples, dim), to the parts of the features."""


def four_ways(u: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """u, v, their product and their distance: the features of a classifier of pairs."""
    return u, v, u * v, (u - v).abs()


def two_ways(u: Tensor, v: Tensor) -> tuple[Tensor, ...]:
    """Distance and product: the features of a regression."""
    return (u - v).abs(), u * v


PARTS: Mapping[Combine, int] = {four_ways: 4, two_ways: 2}


@dataclass(frozen=True, slots=True)
class Features:
    """The features of all examples of a split; only those of a batch are ever in memory."""

    vectors: NDArray[Any]
    """Memory-mapped, (sentences, dim)."""
    rows: NDArray[np.int64]
    """(examples, texts): the row in `vectors` of each text; one text or two."""
    combine: Combine = four_ways
    device: str = "cpu"

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        """Length of an example's features."""
        return int(self.vectors.shape[1]) * (PARTS[self.combine] if self.rows.shape[1] == 2 else 1)

    def batch(self, chosen: NDArray[np.int64] | slice) -> Tensor:
        """The features of some examples, (examples, width), float32."""
        rows = self.rows[chosen]
        texts = [torch.from_numpy(self.vectors[column]).to(self.device, torch.float32) for column in rows.T]
        return texts[0] if len(texts) == 1 else torch.cat(self.combine(*texts), dim=1)


BLOCK = 1 << 23
"""Feature values in memory at once during prediction: 32 MiB."""
Loss = Callable[[Tensor, Tensor], Tensor]
"""From outputs (batch, runs, classes) and targets (batch, ...) to a scalar; runs must not mix."""
Score = Callable[[Tensor], Sequence[float]]
"""From outputs of the dev split (examples, runs, classes) to a score of each run, higher being better."""


class SideBySide(nn.Module):
    """One network for each run, all with the same first weights: linear, or linear, sigmoid, linear."""

    def __init__(
        self, width: int, classes: int, *, nhid: int = 0, dropout: float = 0.0, runs: int = 1
    ) -> None:
        super().__init__()
        self.runs = runs
        self.dropout = dropout
        first = nn.Linear(width, nhid or classes)
        self.weight = nn.Parameter(first.weight.detach().T.repeat(1, runs))  # (width, runs * units)
        self.bias = nn.Parameter(first.bias.detach().repeat(runs))
        self.out: nn.Parameter | None = None
        self.shift: nn.Parameter | None = None
        if nhid:
            second = nn.Linear(nhid, classes)
            self.out = nn.Parameter(second.weight.detach().T.repeat(runs, 1, 1))  # (runs, nhid, classes)
            self.shift = nn.Parameter(second.bias.detach().repeat(runs, 1))

    def forward(self, features: Tensor) -> Tensor:
        """Outputs (batch, runs, classes) from features (batch, width)."""
        values = torch.addmm(self.bias, features, self.weight).view(len(features), self.runs, -1)
        if self.out is None or self.shift is None:
            return values
        values = torch.sigmoid(nn.functional.dropout(values, self.dropout, self.training))
        return torch.einsum("brh,rhc->brc", values, self.out) + self.shift

    def decays(self, penalties: Tensor) -> list[Tensor]:
        """The penalties (runs,) for each parameter, in a shape that broadcasts to it."""
        units = len(self.bias) // self.runs
        flat = penalties.repeat_interleave(units)
        inner = [] if self.out is None else [penalties.view(-1, 1, 1), penalties.view(-1, 1)]
        return [flat, flat, *inner]

    def one(self, run: int) -> dict[str, Tensor]:
        """A copy of one run's state, to load into a network with one run."""
        units = len(self.bias) // self.runs
        own = slice(run * units, (run + 1) * units)
        state = {"weight": self.weight[:, own], "bias": self.bias[own]}
        if self.out is not None and self.shift is not None:
            state |= {"out": self.out[run : run + 1], "shift": self.shift[run : run + 1]}
        return {name: values.detach().clone() for name, values in state.items()}


class Run(NamedTuple):
    """The result of training with one penalty."""

    penalty: float
    score: float
    """The best on the dev split."""
    epochs: int
    """Epochs it was trained before it stopped."""
    state: dict[str, Tensor]
    """State of the network that had that score."""
    balanced: bool = False
    """Whether all classes had the same weight in training, whatever their number of examples."""


class Probe(NamedTuple):
    """A trained network and the runs that it was chosen from."""

    model: SideBySide
    """With one run."""
    runs: tuple[Run, ...]
    """One for each penalty, then one for each with balanced classes if these are tried; without states."""
    chosen: int
    """Index of the run that is kept: the best on dev, the first among ties."""

    def outputs(self, features: Features) -> Tensor:
        """Outputs (examples, classes)."""
        return outputs(self.model, features)[:, 0]


def fit_classifier(
    train: Features,
    codes: Sequence[int],
    dev: Features,
    dev_codes: Sequence[int],
    *,
    classes: int,
    settings: ProbeSettings,
    score: Callable[[list[int]], float] | None = None,
) -> Probe:
    """Train with each penalty and keep the best on dev; on one machine, equal seeds give equal results.

    `score` gives the score of predicted codes on dev; by default their accuracy. Another round of epochs
    starts while at most max_epoch epochs are done.
    """
    dev_targets = torch.tensor(dev_codes)
    runs = len(settings.penalties)
    weights = _class_weights(codes, classes, runs).to(train.device) if settings.balance else None

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        flat = logits.flatten(0, 1), targets.repeat_interleave(logits.shape[1])
        if weights is None:
            total = functional.cross_entropy(*flat, reduction="sum")
        else:
            total = (
                functional.cross_entropy(*flat, reduction="none") * weights[:, targets].T.flatten()
            ).sum()
        return total / len(logits) if settings.loss == "mean" else total

    def scores(logits: Tensor) -> list[float]:
        predicted = logits.argmax(dim=2)
        if score is None:
            return (predicted == dev_targets[:, None]).double().mean(dim=0).tolist()
        return [score(column.tolist()) for column in predicted.T]

    probe = _fit(
        train,
        torch.tensor(codes),
        dev,
        classes=classes,
        settings=settings if weights is None else replace(settings, penalties=settings.penalties * 2),
        rounds=settings.max_epoch // settings.epoch_size + 1,
        loss=loss,
        score=scores,
    )
    balanced = [run._replace(balanced=place >= runs) for place, run in enumerate(probe.runs)]
    return probe._replace(runs=tuple(balanced))


def _class_weights(codes: Sequence[int], classes: int, runs: int) -> Tensor:
    """Weights (2 * runs, classes): 1, then those with which all classes that occur weigh the same."""
    counts = torch.bincount(torch.tensor(codes), minlength=classes).float()
    equal = len(codes) / (counts.count_nonzero() * counts.clamp(min=1))
    return torch.cat([torch.ones(runs, classes), equal.repeat(runs, 1)])


def fit_regression(
    train: Features,
    scores: Sequence[float],
    dev: Features,
    dev_scores: Sequence[float],
    *,
    scale: NDArray[np.float64],
    settings: ProbeSettings,
) -> Probe:
    """Train with Adam and no penalty; stop early by Pearson's correlation on the dev split.

    Another round of epochs starts while fewer than max_epoch epochs are done.
    """

    def loss(logits: Tensor, targets: Tensor) -> Tensor:
        return ((logits[:, 0].softmax(dim=1) - targets) ** 2).mean()

    def score(logits: Tensor) -> list[float]:
        return [pearson(dev_scores, expected_score(logits[:, 0], scale).tolist())]

    options = settings.relatedness
    settings = ProbeSettings(
        batch_size=options.batch_size,
        tenacity=options.tenacity,
        epoch_size=options.epoch_size,
        penalties=(0.0,),
        seed=settings.seed,
    )
    rounds = -(-options.max_epoch // options.epoch_size)  # rounded up
    targets = torch.from_numpy(two_hot(scores, scale))
    return _fit(
        train, targets, dev, classes=len(scale), settings=settings, rounds=rounds, loss=loss, score=score
    )


def _fit(
    examples: Features,
    targets: Tensor,
    dev: Features,
    *,
    classes: int,
    settings: ProbeSettings,
    rounds: int,
    loss: Loss,
    score: Score,
) -> Probe:
    """Train a run for each penalty until its dev score stops improving; keep the best on dev."""
    penalties = settings.penalties
    device = examples.device
    runs = [Run(penalty, -inf, 0, {}) for penalty in penalties]
    misses = [0] * len(runs)  # checks on dev without an improvement, consecutive or not
    with one_thread(), seeded(settings.seed):
        sizes: dict[str, Any] = {"nhid": settings.nhid, "dropout": settings.dropout}
        model = SideBySide(examples.width, classes, **sizes, runs=len(penalties)).to(device)
        step = _stepper(model, settings, loss, device)
        order = torch.Generator().manual_seed(settings.seed)
        for number in range(1, rounds + 1):
            model.train()
            for _ in range(settings.epoch_size):
                shuffled = torch.randperm(len(examples), generator=order)
                for rows in torch.split(shuffled, settings.batch_size):
                    step(examples.batch(rows.numpy()), targets[rows].to(device))
            for at, value in enumerate(score(outputs(model, dev))):
                if misses[at] <= settings.tenacity:
                    runs[at] = runs[at]._replace(epochs=number * settings.epoch_size)
                    value = 0.0 if isnan(value) else value
                    if value > runs[at].score:
                        runs[at] = runs[at]._replace(score=value, state=model.one(at))
                    else:
                        misses[at] += 1
            if min(misses) > settings.tenacity:
                break
        chosen = max(range(len(runs)), key=lambda run: runs[run].score)
        best = SideBySide(examples.width, classes, **sizes).to(device)
        best.load_state_dict(runs[chosen].state)
    return Probe(best, tuple(run._replace(state={}) for run in runs), chosen)


def _stepper(
    model: SideBySide, settings: ProbeSettings, loss: Loss, device: str
) -> Callable[[Tensor, Tensor], None]:
    """Return a function that takes one optimizer step; penalties join the gradient, as weight_decay does."""
    parameters = list(model.parameters())
    optimizer: torch.optim.Optimizer
    if settings.optim == "adam":
        optimizer = torch.optim.Adam(parameters, fused=True)
    else:
        optimizer = torch.optim.RMSprop(parameters)
    decays = model.decays(torch.tensor(settings.penalties, dtype=torch.float32, device=device))

    def step(features: Tensor, targets: Tensor) -> None:
        optimizer.zero_grad()
        torch.autograd.backward(loss(model(features), targets))
        with torch.no_grad():
            for parameter, decay in zip(parameters, decays, strict=True):
                assert parameter.grad is not None
                parameter.grad.addcmul_(parameter, decay.expand_as(parameter))
        optimizer.step()

    return step


@contextmanager
def one_thread() -> Iterator[None]:
    """Let PyTorch use one thread, then as many as before.

    These matrices are small. With one thread, results do not depend on the number of threads, and other
    programs do not slow the training down.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def outputs(model: SideBySide, features: Features) -> Tensor:
    """Outputs for all examples, (examples, runs, classes), on the CPU; computed in blocks to limit memory."""
    model.eval()
    size = max(1, BLOCK // features.width)
    with torch.no_grad():
        blocks = []
        for start in range(0, len(features), size):
            batch = features.batch(slice(start, start + size))
            blocks.append(model(batch).cpu())
    return torch.cat(blocks)


MOST_LEVELS = 11
OTHERWISE = 6
"""Number of levels, unless the scale has 3 to MOST_LEVELS whole numbers."""


def levels(scale: tuple[float, float]) -> NDArray[np.float64]:
    """The scores that get a probability: the whole numbers of a short scale, else six in equal steps."""
    low, high = scale
    whole = low == int(low) and high == int(high) and 2 <= high - low < MOST_LEVELS
    return np.linspace(low, high, int(high - low) + 1 if whole else OTHERWISE)


def two_hot(scores: Sequence[float], scale: NDArray[np.float64]) -> NDArray[np.float32]:
    """Targets (scores, levels): each score is shared linearly between its two nearest levels.

    The shares of a score within the scale sum to 1 and have it as their mean. A score below the scale keeps
    only the share of the lowest level, as in the original: on levels 1 to 5, 0.4 is (0.4, 0, 0, 0, 0).
    """
    places = (np.asarray(scores, dtype=np.float64) - scale[0]) / (scale[1] - scale[0])
    distances: NDArray[np.float64] = np.abs(places[:, None] - np.arange(len(scale)))
    return np.maximum(0.0, 1.0 - distances).astype(np.float32)


def expected_score(outputs: Tensor, scale: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score that outputs (..., levels) predict: the mean of the levels under their softmax."""
    shares = outputs.double().softmax(dim=-1).numpy()
    return np.asarray(shares @ scale)
