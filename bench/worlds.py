"""Worlds of known truth: test sets and systems' answers, drawn from real answers or from a joint table."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gluebench.benchmark import Metric, load_benchmark
from gluebench.scoring import read_gold
from gluebench.scoring.metrics import metric_function, point
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column, check

REAL = Path(os.environ.get("GLUEBENCH_REAL") or Path(__file__).resolve().parents[2] / "shared" / "real")
SYSTEMS = ("bert4keras", "fastmtl")
SHARES: Mapping[str, Sequence[float]] = {
    **dict.fromkeys(("SST-2", "QNLI", "RTE"), (0.5, 0.5)),
    **dict.fromkeys(("MNLI-m", "MNLI-mm"), (0.35, 0.32, 0.33)),
    "CoLA": (0.31, 0.69),
    "MRPC": (0.335, 0.665),
    "QQP": (0.63, 0.37),
    "WNLI": (0.65, 0.35),
    "AX": (0.42, 0.35, 0.23),
}
"""Of each label, in the test set where it is public or the paper gives it, else in the dev set."""
PREMISES = [2] * 20 + [3] * 11 + [4] * 6 + [5] * 3 + [6] * 3 + [7, 9]
"""Examples that share a premise, in WNLI's test set."""
SAME = 0.5
"""Probability that two systems draw an answer together."""
COPIES = 40
"""Copies of each row in the population whose scores are the truth of exchanged answers."""

Rng = np.random.Generator
Floats = NDArray[np.float64]
Drawn = dict[str, list[Pairs]]
"""A test set, or each part of it, with the answers of all systems."""
Truth = dict[str, Floats]
"""Part to (metrics and, where there are several, their mean; systems)."""
WHOLE = ""


def metrics_of(file: str) -> list[Metric]:
    """The metrics of a test file of GLUE."""
    return [each for task in load_benchmark("glue").tasks for each in task.metrics if each.file == file]


def words_of(file: str) -> tuple[str, ...]:
    """Its labels."""
    glue = load_benchmark("glue")
    return tuple(glue.task(glue.file(file).task).words)


def _with_mean(values: Sequence[Sequence[float]]) -> Floats:
    return np.array([*values, np.mean(values, axis=0)] if len(values) > 1 else values)


@dataclass(frozen=True)
class Table:
    """Independent examples with labels, from the probability of each (gold, answer, answer ...)."""

    metrics: Sequence[Metric]
    words: tuple[str, ...]
    joint: Floats
    n: int

    def draw(self, rng: Rng) -> Drawn:
        """A multinomial draw; the order of independent examples does not matter."""
        counts = rng.multinomial(self.n, self.joint.ravel() / self.joint.sum())
        cells = np.indices(self.joint.shape, np.uint8).reshape(self.joint.ndim, -1)
        gold, *answers = (Column(self.words, np.repeat(each, counts).tobytes()) for each in cells)
        return {WHOLE: [Pairs(gold, each) for each in answers]}

    def truth(self) -> Truth:
        """On the expected tables."""
        axes = range(1, self.joint.ndim)
        tables = [self.joint.sum(axis=tuple(set(axes) - {axis})) for axis in axes]
        codes = [0 if each.positive is None else self.words.index(each.positive) for each in self.metrics]
        functions: list[Any] = [metric_function(metric.function) for metric in self.metrics]
        found = [
            [each.of(table, code) for table in tables] for each, code in zip(functions, codes, strict=True)
        ]
        return {WHOLE: _with_mean(found)}

    def rows(self, metrics: Sequence[Metric], n: int) -> Rows:
        """The same examples one by one, for metrics that are no formula over the table."""
        cells = np.indices(self.joint.shape).reshape(self.joint.ndim, -1)
        each = np.repeat(cells, self.joint.astype(int).ravel(), axis=1).T
        return Rows(metrics, self.words, each[:, np.newaxis].astype(float), n)

    def exchanged(self, share: float) -> Table:
        """With the two systems in each other's place on that share of the examples."""
        return replace(self, joint=(1 - share) * self.joint + share * self.joint.swapaxes(1, 2))

    def spoiled(self, share: float) -> Table:
        """With the second system's answers turned round on that share of the examples; for two labels."""
        return replace(self, joint=(1 - share) * self.joint + share * self.joint[:, :, ::-1])


@dataclass(frozen=True)
class Rows:
    """Units of one size, drawn with replacement: single rows, or sentence pairs."""

    metrics: Sequence[Metric]
    words: tuple[str, ...]
    units: Floats
    """(units, examples of a unit, 1 + systems): gold and answers; codes where there are words."""
    n: int
    """Units of a test set."""
    parts: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    """Category to (units, examples of a unit): the examples in it."""
    share: float = 0.0
    """Share of the units in which the two systems are in each other's place."""

    def draw(self, rng: Rng) -> Drawn:
        """Units drawn one by one, then exchanged."""
        drawn = rng.integers(0, len(self.units), self.n)
        units = self.units[drawn]
        if self.share:
            coins = rng.random(self.n) < self.share
            units[coins] = units[coins][:, :, [0, 2, 1]]
        return self._divided(units, {name: within[drawn] for name, within in self.parts.items()})

    def _divided(self, units: Floats, parts: Mapping[str, NDArray[np.bool_]]) -> Drawn:
        number, size, columns = units.shape
        gold, *answers = (self._column(each) for each in units.reshape(-1, columns).T)
        groups = tuple(np.repeat(np.arange(number), size).tolist()) if size > 1 else None
        systems = [Pairs(gold, each, groups) for each in answers]
        found = {}
        for name, within in parts.items():
            at = np.flatnonzero(within.ravel()).tolist()
            found[name] = [pairs.subset(at) for pairs in systems]
        return {name: part for name, part in found.items() if len(part[0])} or {WHOLE: systems}

    def _column(self, values: Floats) -> Column:
        codes = values.astype(np.uint8).tobytes() if self.words else array("d", values.tobytes())
        return Column(self.words, codes)

    def truth(self) -> Truth:
        """On the units themselves, each as often as it is to be drawn."""
        moved = round(self.share * COPIES)
        copies = (
            [self.units] * (COPIES - moved) + [self.units[:, :, [0, 2, 1]]] * moved if moved else [self.units]
        )
        parts = {name: np.concatenate([within] * len(copies)) for name, within in self.parts.items()}
        return {
            part: _with_mean([[point(metric, each).value for each in systems] for metric in self.metrics])
            for part, systems in self._divided(np.concatenate(copies), parts).items()
        }

    def exchanged(self, share: float) -> Rows:
        """With the two systems in each other's place on about that share of the units."""
        return replace(self, share=round(share * COPIES) / COPIES)

    def spoiled(self, share: float) -> Rows:
        """With the second system's answers shuffled among that share of the units."""
        rng, units = np.random.default_rng(0), self.units.copy()
        at = np.flatnonzero(rng.random(len(units)) < share)
        units[at, :, 2] = units[rng.permutation(at), :, 2]
        return replace(self, units=units)

    def one_sided(self, label: int, seed: int = 0) -> Rows:
        """The first system's answers, with a label for 75 % of its errors and in a quarter of the units."""
        rng, units = np.random.default_rng(seed), self.units[:, :, :2].copy()
        changed = (units[:, :, 1] != units[:, :, 0]) & (rng.random(units.shape[:2]) < 0.75)
        units[:, :, 1][changed | (rng.random(len(units)) < 0.25)[:, None]] = label
        return replace(self, units=units)

    def beside(self, other: Rows) -> Rows:
        """The systems of both."""
        return replace(self, units=np.concatenate([self.units, other.units[:, :, 1:]], axis=2))


@dataclass(frozen=True)
class Systems:
    """Labels answered by systems of given accuracies, which draw half of their answers together."""

    file: str
    n: int
    """Examples; of WNLI premises, each with several examples."""
    accuracies: Sequence[float]
    together: float = 0.3
    """Probability that the answers to a premise are right or wrong together, rather than one by one."""
    runs: int = 1
    """So many consecutive answers are runs of one system, which agree more."""

    @property
    def metrics(self) -> Sequence[Metric]:
        """Those of the file."""
        return metrics_of(self.file)

    def draw(self, rng: Rng) -> Drawn:
        """An answer is right where a uniform number, common or the system's own, is below its accuracy."""
        grouped, words, n = self.file == "WNLI", words_of(self.file), self.n
        groups = np.repeat(np.arange(n), rng.choice(PREMISES, n)) if grouped else np.arange(n)
        as_one = (rng.random(n) < self.together * grouped)[groups]
        numbers = None if not grouped else tuple(groups.tolist())

        def uniform() -> Floats:
            return np.where(as_one, rng.random(n)[groups], rng.random(len(groups)))

        gold = rng.choice(len(words), p=SHARES[self.file], size=len(groups)).astype(np.uint8)
        common, column, systems = uniform(), Column(words, gold.tobytes()), []
        for at, accuracy in enumerate(self.accuracies):
            if at % self.runs == 0:
                of_system = np.where((rng.random(n) < SAME**0.5)[groups], common, uniform())
            of_run = (rng.random(n) < (1 - SAME / 2 if self.runs > 1 else 1))[groups]
            right = np.where(of_run, of_system, uniform()) < accuracy
            wrong = (gold + rng.integers(1, len(words), len(gold))) % len(words)
            answers = np.where(right, gold, wrong).astype(np.uint8)
            systems.append(Pairs(column, Column(words, answers.tobytes()), numbers))
        return {WHOLE: systems}

    def truth(self) -> Truth:
        """On the expected tables."""
        tables = [even(accuracy, len(words_of(self.file))) for accuracy in self.accuracies]
        return {
            WHOLE: np.hstack([two_tables(self.file, each, each, 1).truth()[WHOLE][:, :1] for each in tables])
        }


World = Table | Rows | Systems
"""What test sets are drawn from."""


def even(accuracy: float, classes: int) -> Floats:
    """(gold, answer): right with that probability, errors spread evenly over the other labels."""
    wrong = (1 - accuracy) / (classes - 1)
    return np.full((classes, classes), wrong) + np.eye(classes) * (accuracy - wrong)


def recalls(*of_each: float) -> Floats:
    """(gold, answer) from the share of each label that is answered right; errors spread evenly."""
    return np.array([even(recall, len(of_each))[gold] for gold, recall in enumerate(of_each)])


def two_tables(file: str, a: Floats, b: Floats, n: int) -> Table:
    """Two systems on labels with a test file's shares."""
    return Table(metrics_of(file), words_of(file), joint_of(SHARES[file], a, b), n)


def joint_of(shares: Sequence[float], a: Floats, b: Floats) -> Floats:
    """Two systems that answer from the same random number, right first, with probability SAME."""
    classes = len(a)
    joint = np.zeros((classes,) * 3)
    for gold, share in enumerate(shares):
        order = [gold, *(label for label in range(classes) if label != gold)]
        ends_a, ends_b = (np.append(0.0, np.cumsum(each[gold][order])) for each in (a, b))
        both = np.minimum.outer(ends_a[1:], ends_b[1:]) - np.maximum.outer(ends_a[:-1], ends_b[:-1])
        alone = np.outer(a[gold][order], b[gold][order])
        joint[gold][np.ix_(order, order)] = share * (SAME * np.maximum(both, 0.0) + (1 - SAME) * alone)
    return joint


def solved(
    make: Callable[[float], Table], low: float, high: float, *, gap: float = 0.0, score: int = -1
) -> Table:
    """The table between two settings at which A's score minus B's is `gap`, by bisection."""

    def missing(setting: float) -> float:
        a, b = make(setting).truth()[WHOLE][score]
        return float(a - b - gap)

    rising = missing(high) > missing(low)
    assert missing(low) * missing(high) <= 0, (missing(low), missing(high))
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if (missing(middle) > 0) == rising else (middle, high)
    return make(low)


@cache
def real(file: str, systems: Sequence[str] = SYSTEMS) -> Any:
    """Real answers to a test file with public labels: a Table of independent labels, else Rows."""
    glue = load_benchmark("glue")
    with tempfile.TemporaryDirectory() as copy:  # reading gold leaves a key beside it
        gold = read_gold(shutil.copytree(REAL / "gold", Path(copy) / "gold"), glue, partial=True)
    column, words = gold.columns[file], words_of(file)
    columns = [column] + [check(REAL / "submissions" / name, glue).predictions[file] for name in systems]
    rows = np.array([list(each.codes if words else each.numbers) for each in columns])
    if file == "AX":
        parts = {
            f"{each.kind}: {each.name}": np.isin(np.arange(len(column)), each.positions).reshape(-1, 2)
            for each in gold.categories[file]
            if each.kind in ("overall", "coarse", "fine")
        }
        pairs = rows.T.reshape(-1, 2, len(rows)).astype(float)
        return Rows(metrics_of(file), words, pairs, len(pairs), parts)
    if not words:
        return Rows(metrics_of(file), words, rows.T[:, np.newaxis], len(column))
    joint = np.zeros((len(words),) * len(rows))
    np.add.at(joint, tuple(rows), 1.0)
    return Table(metrics_of(file), words, joint, len(column))
