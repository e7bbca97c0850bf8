"""What can be answered without reading everything: one text alone, its length, the words in common."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import NamedTuple

from gluebench.analysis.compare import ALPHA
from gluebench.analysis.compare.words import p_words
from gluebench.analysis.lint.findings import Finding, LintSplit, percent
from gluebench.benchmark import Task
from gluebench.benchmark.figures import counted, interval
from gluebench.data import Example
from gluebench.scoring.inference import mcnemar
from gluebench.scoring.intervals import holm, student_t_two_sided, wilson
from gluebench.scoring.metrics.numbers import pearson_of
from gluebench.systems.protocols import TrainablePredictor

MOST = 10_000
"""Rows of a split that are learned from, or answered: an even draw (seed 0) of a larger one."""
FEWEST = 20
"""Rows of the training split below which nothing can be learned."""
ADVICE = (
    "Look at which words or lengths go with a label, and collect examples that break the pattern; "
    "else publish the figure as the score to beat."
)


class Shortcut(NamedTuple):
    """A system that sees only a part of each example."""

    name: str
    make: Callable[[], TrainablePredictor]
    columns: tuple[str, ...]
    """The input columns it sees."""
    aliases: tuple[str, ...] = ()

    def answers(
        self, task: Task, train: Sequence[Example], tests: Iterable[Sequence[Example]]
    ) -> Iterator[Sequence[str | float]]:
        """The answers to each test set, whose columns stand in the order of the task that is learned."""
        system = self.make()
        system.fit(task, self._seen(task, train), [])
        for examples in tests:
            yield system.predict(task, self._seen(task, examples))

    def _seen(self, task: Task, examples: Sequence[Example]) -> list[Example]:
        places = {column: task.columns.index(column) for column in self.columns}
        texts = [list(example.inputs.values()) for example in examples]
        return [
            replace(example, inputs={column: of_example[at] for column, at in places.items()})
            for example, of_example in zip(examples, texts, strict=True)
        ]


def shortcut_findings(task: Task, splits: Sequence[LintSplit]) -> Iterator[Finding]:
    """Each shortcut fitted on the training split and tested on each labeled other.

    No dev split is used for choosing a setting, so its figure is as honest as that of the test split.
    """
    labeled = [split for split in splits if split.labeled]
    train = next((split for split in labeled if split.role is None), None)
    others = [split for split in labeled if split.role is not None]
    if train is None or len(train.examples) < FEWEST or not others:
        text = f"not measured: that takes a labeled training split of {FEWEST} rows and another labeled split"
        yield Finding("note", "shortcuts", "all", 0, text)
        return
    learned = drawn(train.examples)
    tests = {split.name: drawn(split.examples) for split in others}
    measured = []
    for shortcut in shortcuts(task):
        answers_to = shortcut.answers(task, learned, tests.values())
        for (split, examples), answers in zip(tests.items(), answers_to, strict=True):
            if task.words:
                lead, p, words = _against_majority(task, learned, examples, answers)
            else:
                lead, p, words = _correlated(examples, answers)
            measured.append((shortcut.name, split, lead, p, words))
    adjusted = holm([p for *_, p, _ in measured])
    for (name, split, lead, _, words), p in zip(measured, adjusted, strict=True):
        real = p < ALPHA and lead > 0
        verdict = "beyond noise" if real else "no lead beyond noise"
        text = f"{name} {words}: {verdict} ({p_words(p)} after Holm)"
        yield Finding("warning" if real else "note", name, split, lead, text, ADVICE if real else "")


def shortcuts(task: Task) -> list[Shortcut]:
    """Those that a task can have: a single text has a length only, since to read it is to do the task."""
    from gluebench.systems.bag import HypothesisOnly
    from gluebench.systems.overlap import WordOverlap

    lengths = [Shortcut(f"length of {name}", WordOverlap, (name,)) for name in task.columns]
    if len(task.columns) < 2:
        return lengths
    alone = [Shortcut(f"{name} alone", HypothesisOnly, (name,)) for name in task.columns]
    first, second = task.columns[:2]
    return [*alone, Shortcut("word overlap", WordOverlap, (first, second)), *lengths]


def drawn(examples: Sequence[Example]) -> list[Example]:
    """The examples, or an even draw (seed 0) of `MOST` of them."""
    return list(examples) if len(examples) <= MOST else Random(0).sample(list(examples), MOST)


def _against_majority(
    task: Task, train: Sequence[Example], examples: Sequence[Example], answers: Sequence[str | float]
) -> tuple[float, float, str]:
    """Accuracy beyond that of the most frequent training label, on the same rows; its p-value; the words."""
    from gluebench.systems.targets import typical

    usual = typical(task, train)
    gold = [example.label for example in examples]
    hits = [answer == label for answer, label in zip(answers, gold, strict=True)]
    base = [label == usual for label in gold]
    outcomes = Counter(zip(hits, base, strict=True))
    won, lost = outcomes[True, False], outcomes[False, True]
    share, bar = sum(hits) / len(gold), wilson(sum(hits), len(gold))
    words = (
        f"answers {percent(share)}{interval(bar.low, bar.high)} of {counted(len(gold), 'row')} rightly, "
        f"the majority class {percent(sum(base) / len(base))}"
    )
    return (won - lost) / len(gold), mcnemar(won, lost), words


def _correlated(examples: Sequence[Example], answers: Sequence[str | float]) -> tuple[float, float, str]:
    """Pearson's correlation with the gold scores, 0 where either does not vary; its p-value; the words."""
    gold = [float(example.label or 0) for example in examples]
    r = pearson_of(gold, [float(answer) for answer in answers])
    p = 1.0
    if len(gold) > 2:
        left = max(1 - r * r, 1e-15)
        p = student_t_two_sided(r * math.sqrt((len(gold) - 2) / left), len(gold) - 2)
    return r, p, f"correlates with the scores by {r:.3f} (Pearson, {counted(len(gold), 'row')})"
