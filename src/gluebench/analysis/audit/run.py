"""The audit of section 4 of the paper: how well shallow features predict the label of a pair.

Gururangan et al. (2018) and others found that the hypothesis of a crowdsourced pair alone often predicts
its label. The paper trains such classifiers on SNLI and on MNLI and finds them near chance on its
diagnostic set: 32.7 % and 36.4 %.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from math import log2
from statistics import median
from typing import Any, NamedTuple

from gluebench.analysis.audit.sets import FOLDS, PairSet
from gluebench.analysis.lint.shortcuts import Lead, Shortcut, accuracy_beside
from gluebench.benchmark import Task
from gluebench.benchmark.extras import optional
from gluebench.benchmark.lookup import find
from gluebench.data.errors import refuse
from gluebench.data.tokens import words
from gluebench.scoring.inference import ALPHA
from gluebench.scoring.intervals import TOO_FEW, OptionalInterval
from gluebench.systems.overlap import WordOverlap

PRINTED: Mapping[str, Mapping[tuple[str, str], float]] = {
    "glue": {("SNLI train", "AX"): 0.327, ("MNLI train", "AX"): 0.364}
}
"""Benchmark to (training set, test set) to the accuracy that the paper prints for the hypothesis."""
EPOCHS = 5
SMOOTHING = 100.0
"""Added to every count, as in Gururangan et al.; else rare words have the highest PMI."""
SHOWN = 5
"""Maximum number of words listed for each class."""
LEAST = 0.005
"""Smallest PMI listed; a lower one would be shown as 0.00."""


class Association(NamedTuple):
    """A word associated with a class."""

    label: str
    word: str
    pmi: float
    """Smoothed log2 of the ratio of the class's probability given the word to its probability."""
    share: float
    """Fraction of the class's texts that contain the word."""
    texts: int
    """Number of texts of the class that contain the word."""


def shortcuts_of_views(
    task: Task, names: Sequence[str] = (), *, epochs: int = EPOCHS, seed: int = 0
) -> list[Shortcut]:
    """A shortcut for each named view of the examples, or for all views, under the name of the view.

    The views are each text alone, the last text's length, and views of both texts. A task of single sentences
    has the views text, length and neighbors. Raises UnknownNameError.
    """
    optional("sklearn", "Classifying texts", '"gluebench[audit]"')
    from gluebench.analysis.audit import pairs

    training: dict[str, Any] = {"epochs": epochs, "seed": seed}

    def one_text() -> pairs.Classifier:
        # Fast enough to learn from the whole of a large training set.
        return pairs.Classifier(partial(pairs.text_alone, **training), limited=False)

    def stacked_trees() -> pairs.StackedTrees:
        classifiers = [
            pairs.text_alone(pairs.of_first, **training),
            pairs.text_alone(pairs.of_second, **training),
            pairs.cross_features(**training),
            pairs.neighbors(pairs.by_side),
            pairs.neighbors(pairs.unshared),
        ]
        return pairs.StackedTrees(classifiers)

    last = task.columns[-1]
    shortcuts = [Shortcut(last, one_text, (last,))]
    for column in task.columns[:-1]:
        shortcuts.append(Shortcut(column, one_text, (column,)))
    shortcuts.append(Shortcut("length", WordOverlap, (last,)))
    models_of_all_texts: dict[str, Callable[[], Any]]
    if len(task.columns) == 1:
        models_of_all_texts = {"neighbors": partial(pairs.neighbors, pairs.marked_features)}
    else:
        shortcuts.append(Shortcut("overlap", WordOverlap, task.columns))
        models_of_all_texts = {
            "trees": pairs.shallow_trees,
            "neighbors": partial(pairs.neighbors, pairs.by_side),
            "unshared": partial(pairs.neighbors, pairs.unshared),
            "cross": partial(pairs.cross_features, **training),
            "stacked": stacked_trees,
        }
    for name, make_model in models_of_all_texts.items():
        shortcuts.append(Shortcut(name, partial(pairs.Classifier, make_model), task.columns))
    if not names or "all" in names:
        return shortcuts
    chosen = [find(name, shortcuts, what=f"part of {task.name} to see") for name in names]
    return list(dict.fromkeys(chosen))  # each once


class ShortcutAccuracy(NamedTuple):
    """The accuracy of a classifier on one test set."""

    train: str
    sees: str
    test: str
    examples: int
    accuracy: float
    """A fraction, like the next four fields."""
    low: float | None
    """Ends of Wilson's 95 % interval, over groups of examples that share a text (`text_groups`)."""
    high: float | None
    chance: float
    """1 over the number of classes."""
    majority: float
    """Share of the most frequent label of the test set."""
    p: float
    """Two-sided p-value of the lead over that label, on the same examples and by group."""
    printed: float | None
    """The accuracy in the paper."""
    verdict: str


class Lengths(NamedTuple):
    """Median number of words of the texts of a class."""

    train: str
    label: str
    pairs: int
    first: float
    second: float | None
    """None in a task of single sentences."""


class Audit(NamedTuple):
    """The results of an audit."""

    measured: list[ShortcutAccuracy]
    """Ordered by training set, view and test set."""
    associations: dict[str, list[Association]]
    """Training set to the words of its second texts, class by class; empty if `shown` is 0."""
    lengths: list[Lengths]


def audit(
    train: Sequence[PairSet],
    tests: Sequence[PairSet],
    *,
    see: Sequence[str] = (),
    epochs: int = EPOCHS,
    seed: int = 0,
    smoothing: float = SMOOTHING,
    shown: int = SHOWN,
    printed: Mapping[tuple[str, str], float] | None = None,
    progress: Callable[[str], object] = lambda line: None,
) -> Audit:
    """Learn the label from each view of each training set, and test it on each other set.

    `see` names views (see `shortcuts_of_views`), by default all. Raises DataError if a test set has other
    labels than the training set, or no test set is left, and UnknownNameError for an unknown view.
    """
    _check(train, tests)
    accuracies: list[ShortcutAccuracy] = []
    associated = {}
    lengths: list[Lengths] = []
    for source in train:
        others = [test for test in tests if test.name != source.name]
        for view in shortcuts_of_views(source.task, see, epochs=epochs, seed=seed):
            progress(f"learning from {source.name} ({len(source.examples):,} examples): {view.name}")
            accuracies += _accuracies(source, view, others, printed or {})
        if shown:
            associated[source.name] = associations(
                source.texts(-1), source.labels, source.task.words, smoothing=smoothing, shown=shown
            )
        lengths += _lengths(source)
    return Audit(accuracies, associated, lengths)


def _lengths(source: PairSet) -> Iterator[Lengths]:
    """Yield the median lengths of the texts of each class that occurs."""
    counts_of_texts = []
    for position in range(len(source.task.columns)):
        counts_of_texts.append([len(words(text)) for text in source.texts(position)])
    for label in source.task.words:
        rows = [row for row, own in enumerate(source.labels) if own == label]
        if rows:
            medians = []
            for counts in counts_of_texts:
                medians.append(float(median(counts[row] for row in rows)))
            second = medians[1] if len(medians) > 1 else None
            yield Lengths(source.name, label, len(rows), medians[0], second)


def _check(train: Sequence[PairSet], tests: Sequence[PairSet]) -> None:
    problems = []
    for source in train:
        counts = Counter(source.labels).most_common(2)
        if len(counts) < 2:
            problems.append(f"{source.name}: has one label only, so there is nothing to learn")
        elif counts[1][1] < FOLDS:
            given = " and ".join(f"{count} of {label}" for label, count in counts)
            problems.append(f"{source.name}: has {given}; expected {FOLDS} or more examples of two labels")
        if all(test.name == source.name for test in tests):
            problems.append(
                f"{source.name}: there is nothing to test on but the pairs that it is learned from"
            )
        for test in tests:
            if len(test.task.columns) != len(source.task.columns):
                texts = ", ".join(test.task.columns)
                expected = ", ".join(source.task.columns)
                problems.append(f"{test.name}: has the texts {texts}; {source.name} teaches {expected}")
            strange = sorted(set(test.labels) - set(source.task.words))
            if strange:
                known = ", ".join(source.task.words)
                problems.append(
                    f"{test.name}: has the label {', '.join(strange)}; {source.name} teaches {known}"
                )
    refuse(problems)


def _accuracies(
    source: PairSet, view: Shortcut, tests: Sequence[PairSet], printed: Mapping[tuple[str, str], float]
) -> Iterator[ShortcutAccuracy]:
    """Fit the classifier once, and yield its accuracy on each test set."""
    answers_to_tests = view.answers(source.task, source.examples, (test.examples for test in tests))
    chance = 1 / len(source.task.words)
    for test, answers in zip(tests, answers_to_tests, strict=True):
        [(majority_label, majority)] = Counter(test.labels).most_common(1)
        accuracy, interval, lead = accuracy_beside(majority_label, answers, test.examples)
        printed_accuracy = None
        if view.name == source.task.columns[-1]:  # the paper's classifier sees the hypothesis alone
            printed_accuracy = printed.get((source.name, test.task.name))
        yield ShortcutAccuracy(
            train=source.name,
            sees=view.name,
            test=test.name,
            examples=len(test.examples),
            accuracy=accuracy,
            low=interval.low,
            high=interval.high,
            chance=chance,
            majority=majority / len(test.examples),
            p=lead.p,
            printed=printed_accuracy,
            verdict=verdict(interval, chance=chance, lead=lead),
        )


def verdict(bar: OptionalInterval, *, chance: float, lead: Lead) -> str:
    """The verdict on an accuracy in words: by its lead over the majority label, then by its interval.

    The majority's share is an estimate from the same rows, so that an interval does not answer the first.
    """
    if bar.low is None or bar.high is None:
        return TOO_FEW
    if lead.share > 0 and lead.p <= ALPHA:
        return "above majority"
    if bar.low > chance:
        return "above chance, not above majority"
    return "below chance" if bar.high < chance else "not significantly above chance"


def merge_audits(audits: Iterable[Audit]) -> Audit:
    """One audit with the results of several."""
    merged = Audit([], {}, [])
    for each in audits:
        merged.measured.extend(each.measured)
        merged.associations.update(each.associations)
        merged.lengths.extend(each.lengths)
    return merged


def associations(
    texts: Sequence[str],
    labels: Sequence[str],
    classes: Sequence[str],
    *,
    smoothing: float = SMOOTHING,
    shown: int = SHOWN,
) -> list[Association]:
    """The words of highest PMI with each class; ties by frequency, then alphabetically.

    PMI(word, class) = log2 p(word, class) / (p(word) p(class)), where p(word, class) is the pair's share of
    all counts. A count is the number of the class's texts that contain the word, plus the smoothing. A word
    with a PMI below LEAST is not listed.
    """
    counts = {label: Counter[str]() for label in classes}
    sizes = Counter(labels)
    for text, label in zip(texts, labels, strict=True):
        counts[label].update(set(words(text)))
    table = pmi(counts, smoothing=smoothing)
    listed = []
    for label in classes:
        associated = [word for word in counts[label] if table[label][word] >= LEAST]
        ranked = sorted(associated, key=lambda word: (-table[label][word], -counts[label][word], word))
        for word in ranked[:shown]:
            number = counts[label][word]
            listed.append(Association(label, word, table[label][word], number / sizes[label], number))
    return listed


def pmi(counts: Mapping[str, Counter[str]], *, smoothing: float) -> dict[str, dict[str, float]]:
    """Map class to word to PMI in bits, from class to word to count, for every word of any class.

    Without smoothing, the PMI of a word that does not occur in a class is minus infinity.
    """
    everywhere = sum(counts.values(), Counter[str]())
    by_word = {word: count + smoothing * len(counts) for word, count in everywhere.items()}
    by_class = {label: own.total() + smoothing * len(everywhere) for label, own in counts.items()}
    total = sum(by_class.values())
    table: dict[str, dict[str, float]] = {}
    for label, own in counts.items():
        table[label] = {}
        for word in everywhere:
            joint = own[word] + smoothing
            table[label][word] = float("-inf")
            if joint:
                table[label][word] = log2(joint * total / (by_word[word] * by_class[label]))
    return table
