"""What can be answered without reading everything: one text alone, its length, the words in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from statistics import fmean
from typing import NamedTuple

from gluebench.analysis.compare import ALPHA
from gluebench.analysis.compare.words import p_words
from gluebench.analysis.lint.findings import Finding, LintSplit, Severity, percent
from gluebench.analysis.lint.groups import clustered_t_p, sign_flip_p, sums_of, text_groups
from gluebench.benchmark import Task
from gluebench.benchmark.figures import counted, interval
from gluebench.data import Example
from gluebench.scoring.intervals import OptionalInterval, accuracy_interval, holm
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
        """The examples with the columns that the shortcut sees."""
        places = {column: task.columns.index(column) for column in self.columns}
        seen = []
        for example in examples:
            texts = list(example.inputs.values())
            inputs = {column: texts[place] for column, place in places.items()}
            seen.append(replace(example, inputs=inputs))
        return seen


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
    learned = sample_of(train.examples)
    tests = {split.name: sample_of(split.examples) for split in others}
    results: list[ShortcutResult] = []
    for shortcut in shortcuts(task):
        answers_to_tests = shortcut.answers(task, learned, tests.values())
        for (split, examples), answers in zip(tests.items(), answers_to_tests, strict=True):
            if task.words:
                lead, words = _beside_majority(task, learned, examples, answers)
            else:
                lead, words = _correlation(examples, answers)
            results.append(ShortcutResult(shortcut.name, split, lead, words))
    adjusted = holm([result.lead.p for result in results])
    for result, p in zip(results, adjusted, strict=True):
        text = f"{result.name} {result.words}: "
        severity: Severity = "note"
        advice = ""
        if p < ALPHA and result.lead.share > 0:
            severity = "warning"
            advice = ADVICE
            text += f"beyond noise ({p_words(p)} after Holm)"
        else:
            text += f"no lead beyond noise ({p_words(p)} after Holm)"
        yield Finding(severity, result.name, result.split, result.lead.share, text, advice)


class ShortcutResult(NamedTuple):
    """What a shortcut achieves on a split."""

    name: str
    split: str
    lead: Lead
    words: str
    """The figure in words."""


def shortcuts(task: Task) -> list[Shortcut]:
    """Those that a task can have: a single text has a length only, since to read it is to do the task."""
    from gluebench.systems.bag import HypothesisOnly
    from gluebench.systems.overlap import WordOverlap

    lengths = [Shortcut(f"length of {name}", WordOverlap, (name,)) for name in task.columns]
    if len(task.columns) < 2:
        return lengths
    alone = [Shortcut(f"{name} alone", HypothesisOnly, (name,)) for name in task.columns]
    first, second = task.columns[:2]
    overlap = Shortcut("word overlap", WordOverlap, (first, second))
    return [*alone, overlap, *lengths]


def sample_of(examples: Sequence[Example]) -> list[Example]:
    """The examples, or an even draw (seed 0) of `MOST` of them."""
    if len(examples) <= MOST:
        return list(examples)
    return Random(0).sample(list(examples), MOST)


def _beside_majority(
    task: Task, train: Sequence[Example], examples: Sequence[Example], answers: Sequence[str | float]
) -> tuple[Lead, str]:
    """The lead over the most frequent training label, on the same rows, and the figures in words."""
    from gluebench.systems.targets import typical

    majority = typical(task, train)
    gold = [example.label for example in examples]
    share, bar, lead = accuracy_beside(majority, answers, examples)
    words = (
        f"answers {percent(share)}{interval(bar.low, bar.high)} of {counted(len(gold), 'row')} rightly, "
        f"the majority class {percent(gold.count(majority) / len(gold))}"
    )
    return lead, words


class Lead(NamedTuple):
    """How much more often a system is right than an answer that is always the same."""

    share: float
    """Share of the rows, below 0 where the constant answer is right more often; of scores Pearson's r."""
    p: float
    """Two-sided p-value, by group."""


def lead_over(answer: object, hits: Sequence[bool], gold: Sequence[object], groups: Sequence[int]) -> Lead:
    """Compare a system's right answers with a constant answer on the same rows."""
    gains = [hit - (label == answer) for hit, label in zip(hits, gold, strict=True)]
    return Lead(sum(gains) / len(gold), sign_flip_p(sums_of(gains, groups)))


def accuracy_beside(
    answer: object, answers: Sequence[str | float], examples: Sequence[Example]
) -> tuple[float, OptionalInterval, Lead]:
    """The accuracy of answers with its interval, and their lead over a constant answer."""
    gold = [example.label for example in examples]
    hits = [given == label for given, label in zip(answers, gold, strict=True)]
    groups = example_groups(examples)
    bar = accuracy_interval(hits, groups if max(groups) + 1 < len(gold) else None)
    return sum(hits) / len(gold), bar, lead_over(answer, hits, gold, groups)


def example_groups(examples: Sequence[Example]) -> list[int]:
    """The group of each example, by their texts."""
    return text_groups([tuple(example.inputs.values()) for example in examples])


def _correlation(examples: Sequence[Example], answers: Sequence[str | float]) -> tuple[Lead, str]:
    """Pearson's correlation with the gold scores, 0 where either does not vary, and its words."""
    gold = [float(example.label or 0) for example in examples]
    given = [float(answer) for answer in answers]
    r = pearson_of(gold, given)
    mean_gold = fmean(gold)
    mean_given = fmean(given)
    products = [(one - mean_gold) * (other - mean_given) for one, other in zip(gold, given, strict=True)]
    p = clustered_t_p(products, example_groups(examples))
    return Lead(r, p), f"correlates with the scores by {r:.3f} (Pearson, {counted(len(gold), 'row')})"
