"""Worlds of several systems that share half of their answers: for differences and for ranks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from intervals import PREMISES, SHARES, Diagnostic, World, confused, expected_table, right_together
from numpy.typing import NDArray

from gluebench.benchmark import Benchmark, Phenomenon, TestFile
from gluebench.scoring import Gold, Metadata
from gluebench.scoring.tags import categories
from gluebench.submission import Column, Submission

COPIED = 0.5
"""Share of the examples on which another system gives the first one's answer."""

Rng = np.random.Generator
Codes = NDArray[np.uint8]


class Columns(NamedTuple):
    """One test file of a world."""

    gold: Column
    predicted: tuple[Column, ...]
    """Of the first system, then of the others."""
    groups: tuple[int, ...] | None = None


class Several:
    """Draws test sets and systems, and knows the true scores."""

    def __init__(self, benchmark: Benchmark, diagnostic: Diagnostic) -> None:
        self.benchmark, self.diagnostic = benchmark, diagnostic
        self._truths = World(benchmark, diagnostic)

    def truths(self, accuracy: float, gap: float) -> dict[str, float]:
        """Name to the true difference between the first system and one that is right less often by `gap`."""
        ours, theirs = self._truths.truths(accuracy), self._truths.truths(accuracy - gap)
        return {name: ours[name][0] - theirs[name][0] for name in ours}

    def draw(self, accuracy: float, gaps: Sequence[float], rng: Rng) -> tuple[Gold, list[Submission]]:
        """Gold, and the predictions of the first system and of one for each gap."""
        owns = [accuracy - gap / (1 - COPIED) for gap in gaps]  # how often right where they do not copy
        drawn = {file.name: self._file(file, accuracy, gaps, owns, rng) for file in self.benchmark.files()}
        phenomena, parts = {}, {}
        for task in self.benchmark.diagnostics:
            name = task.files[0].name
            drawn[name], phenomena[name] = self._pairs(accuracy, owns, rng)
            parts[name] = categories(task, phenomena[name], None, size=len(drawn[name].gold))
        metadata = {
            each: Metadata(columns.groups, {})
            for each, columns in drawn.items()
            if columns.groups is not None
        }
        gold = {each: columns.gold for each, columns in drawn.items()}
        labels = Gold(
            self.benchmark, "test", "", gold, phenomena, metadata, parts, partial=True, version=None
        )
        return labels, [
            Submission(
                self.benchmark, "test", "", "valid", (), {k: v.predicted[at] for k, v in drawn.items()}
            )
            for at in range(1 + len(gaps))
        ]

    def _file(
        self, file: TestFile, accuracy: float, gaps: Sequence[float], owns: Sequence[float], rng: Rng
    ) -> Columns:
        words = self.benchmark.task(file.task).words
        if not self.benchmark.task(file.task).scored:
            return Columns(Column(words, b""), (Column(words, b""),) * (1 + len(owns)))
        if not words:
            return _numbers(file.size(), [accuracy, *(accuracy - gap for gap in gaps)], rng)
        if file.name.startswith("WNLI"):
            sizes = rng.choice(PREMISES, size=len(PREMISES))
            groups = np.repeat(np.arange(len(sizes)), sizes)
            gold = rng.choice(2, p=SHARES["WNLI"], size=len(groups)).astype(np.uint8)
            return _grouped(words, gold, groups, accuracy=accuracy, owns=owns, rng=rng)
        return _labels(words, file.size(), SHARES[file.name], accuracy, owns, rng)

    def _pairs(
        self, accuracy: float, owns: Sequence[float], rng: Rng
    ) -> tuple[Columns, dict[Phenomenon, tuple[int, ...]]]:
        task, number = self.benchmark.diagnostics[0], len(self.diagnostic.gold)
        drawn = rng.integers(0, number, size=number)
        gold = self.diagnostic.gold[drawn].ravel()
        groups = np.repeat(np.arange(number), 2)
        tags = {
            phenomenon: tuple(
                np.flatnonzero(self.diagnostic.categories[f"fine: {phenomenon.name}"][drawn].ravel()).tolist()
            )
            for phenomenon in task.phenomena
            if f"fine: {phenomenon.name}" in self.diagnostic.categories
        }
        return _grouped(task.words, gold, groups, accuracy=accuracy, owns=owns, rng=rng), tags


def _labels(
    words: Sequence[str],
    size: int,
    shares: Sequence[float],
    accuracy: float,
    owns: Sequence[float],
    rng: Rng,
) -> Columns:
    """Independent examples, drawn as the table of (gold, first, others); their order does not matter."""
    classes = len(shares)
    joint = np.array(expected_table(shares, accuracy))
    for at, own in enumerate(owns):
        table = np.array(expected_table([1.0] * classes, own)).reshape(classes, *[1] * (1 + at), classes)
        copied = np.eye(classes).reshape(1, classes, *[1] * at, classes)
        joint = joint[..., None] * (COPIED * copied + (1 - COPIED) * table)
    counts = rng.multinomial(size, joint.ravel() / joint.sum())
    cells = np.indices(joint.shape).reshape(joint.ndim, -1).astype(np.uint8)
    gold, *predicted = (Column(tuple(words), np.repeat(each, counts).tobytes()) for each in cells)
    return Columns(gold, tuple(predicted))


def _grouped(
    words: Sequence[str],
    gold: Codes,
    groups: NDArray[np.int64],
    *,
    accuracy: float,
    owns: Sequence[float],
    rng: Rng,
) -> Columns:
    first = confused(gold, right_together(groups, accuracy, rng), len(words), rng)
    columns = [gold, first]
    for own in owns:
        other = confused(gold, right_together(groups, own, rng), len(words), rng)
        copied = (rng.random(int(groups.max()) + 1) < COPIED)[groups]
        columns.append(np.where(copied, first, other).astype(np.uint8))
    labels, *predicted = (Column(tuple(words), each.tobytes()) for each in columns)
    return Columns(labels, tuple(predicted), tuple(groups.tolist()))


def _numbers(size: int, correlations: Sequence[float], rng: Rng) -> Columns:
    """Predictions that correlate with gold as given, and whose errors are half the same."""
    gold, shared = rng.normal(size=(2, size))
    columns = [gold]
    for r in correlations:
        noise = COPIED**0.5 * shared + (1 - COPIED) ** 0.5 * rng.normal(size=size)
        columns.append(r * gold + (1 - r * r) ** 0.5 * noise)
    labels, *predicted = (Column((), array("d", each.tobytes())) for each in columns)
    return Columns(labels, tuple(predicted))
