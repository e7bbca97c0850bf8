"""Metrics of texts, sets of labels, probabilities and distributions, as sums over the examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, count
from typing import Any, NamedTuple

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.counts import Classes, ClassScore, ScoreClasses, ratio
from gluebench.scoring.metrics.labels import Average, ClassMean, class_weights
from gluebench.scoring.metrics.sums import SumMetric, mean_of, means, negated_mean, pooled_f1
from gluebench.scoring.metrics.texts import (
    exact_match,
    numeric_exact_match,
    plain_exact_match,
    run_f1,
    token_f1,
    tokens_of,
)
from gluebench.scoring.numeric import Floats, Ints, NDArray, np
from gluebench.scoring.pairs import Pairs

Cells = Sequence[tuple[Any, Any]]
Match = Callable[..., float]
"""The score of one example from its gold and predicted cells, and for texts the language if there is one."""
BINS = 15
"""Bins of the expected calibration error."""
FEWEST_CALIBRATED = 500
"""Minimum number of examples for its interval: with fewer, chance in the bins adds too much to it."""
FEWEST_OF_CLASS = 3
"""Minimum number of examples with each class in gold, for an interval of a mean over the classes."""


def once(table: Callable[[Cells, Metric], Floats]) -> Callable[[Pairs, Metric], Floats]:
    """The rows of a metric, shape (n, k), from a function that gives those of (gold, predicted) cells.

    That function sees different cells only, once for all systems that share them.
    """

    def rows(pairs: Pairs, metric: Metric) -> Floats:
        different, places = pairs.different
        key = table, metric.positive, metric.labels, metric.language, metric.scheme
        of_cells: Floats = different.table(key, lambda cells: table(cells, metric))[places]
        return of_cells

    return rows


def mean_metric(name: str, match: Match, class_scores: ScoreClasses | None = None) -> SumMetric:
    """The mean over the examples of a score up to 1."""

    def table(cells: Cells, metric: Metric) -> Floats:
        if metric.language:
            return means([match(gold, predicted, metric.language) for gold, predicted in cells])
        return means([match(gold, predicted) for gold, predicted in cells])

    return SumMetric(name, once(table), mean_of, class_scores=class_scores)


def set_accuracy(gold: Iterable[str], predicted: Iterable[str]) -> float:
    """1.0 if the sets are equal."""
    return float(set(gold) == set(predicted))


def jaccard(gold: Iterable[str], predicted: Iterable[str]) -> float:
    """Size of the intersection over that of the union; 1.0 for two empty sets."""
    gold_set = set(gold)
    predicted_set = set(predicted)
    union = gold_set | predicted_set
    if not union:
        return 1.0
    return len(gold_set & predicted_set) / len(union)


def set_f1(gold: Iterable[str], predicted: Iterable[str]) -> float:
    """2 x the size of the intersection over the sum of the sizes; 1.0 for two empty sets."""
    gold_set = set(gold)
    predicted_set = set(predicted)
    sizes = len(gold_set) + len(predicted_set)
    if not sizes:
        return 1.0
    return 2 * len(gold_set & predicted_set) / sizes


Counts = tuple[Collection[str], Collection[str], Collection[str]]
"""For one example the classes of what gold and prediction share, of what gold has and the prediction has."""


class ClassRows(NamedTuple):
    """The counts of each example by class."""

    names: Sequence[str]
    """The classes of the task, then all others by name; a single one if all count as one."""
    counts: Floats
    """Shape (n, 3, classes): what gold and prediction share, what gold has, what the prediction has."""


def class_rows(
    sides: Sequence[tuple[Ints, Ints]], names: Mapping[str, int], labels: Iterable[str] | None, *, size: int
) -> ClassRows:
    """Counts of each class from the row and the class of each thing to count, on each side.

    Classes are numbered as in `names`. In the result they are `labels`, then all others by name; if `labels`
    is None, all are one.
    """
    ordered_names = list(dict.fromkeys(chain(labels or (), sorted(names))))
    if labels is None:
        classes = 1
        column_of_code = np.zeros(len(names), np.intp)
    else:
        classes = len(ordered_names)
        columns = {name: column for column, name in enumerate(ordered_names)}
        column_of_code = np.array([columns[name] for name in names], np.intp)
    counts = []
    for rows, codes in sides:
        cells = rows * classes + column_of_code[codes]
        counts.append(np.bincount(cells, minlength=size * classes).reshape(size, classes))
    return ClassRows(ordered_names[:classes], np.stack(counts, axis=1, dtype=np.float64))


CellCounts = Callable[[Cells, Iterable[str] | None, Metric], ClassRows]
"""The `class_rows` of cells, from them, the classes (None: all are one) and the metric."""


def class_metric(
    name: str,
    count_classes: CellCounts,
    average: Average | None,
    nothing: str,
    classes: Callable[[Metric], Iterable[str]] = lambda metric: metric.labels,
) -> SumMetric:
    """F1 from the counts of each example: pooled, or a mean over the classes.

    `nothing` names what examples without counts lack; `classes` gives the classes of a task.
    """

    @once
    def of_cells(cells: Cells, metric: Metric) -> Floats:
        labels = classes(metric) if average else None
        return count_classes(cells, labels, metric).counts

    def rows(pairs: Pairs, metric: Metric) -> Floats:
        counts = of_cells(pairs, metric)
        known = len(set(classes(metric))) if average else 1
        if counts.shape[2] > known:  # of the others only those of this system, not of the ones it shares with
            is_known = np.arange(counts.shape[2]) < known
            counts = counts[..., counts.any(axis=(0, 1)) | is_known]
        return counts.reshape(len(counts), -1)

    def undefined(sums: Any) -> str | None:
        if sums.any():
            return None
        return f"neither gold nor predictions have {nothing}"

    by_class = class_scorer(count_classes, classes)
    if average is None:
        return SumMetric(name, rows, pooled_f1, undefined, class_scores=by_class)

    def mean_f1(sums: Any) -> Any:
        both, gold, predicted = sums.reshape(3, -1, *sums.shape[1:])
        return ClassMean(average).of_counts(both, gold, predicted)

    def classes_of_pairs(pairs: Pairs, metric: Metric) -> Classes:
        kept = pairs.compute_once((rows, metric), lambda: rows(pairs, metric))  # as `SumMetric.rows_of`
        counts = kept.reshape(len(pairs), 3, -1)
        both, gold, predicted = counts.sum(axis=0)
        has_weight = class_weights(gold, predicted, average, 0) > 0
        uniform = (both == 0) | ((both == gold) & (both == predicted))
        # A class that only the predictions have is not too rare, but one of the task's may be absent.
        of_task = np.arange(len(gold)) < len(set(classes(metric)))
        needed = of_task | (gold > 0) | (average in ("all", "all_one"))
        units_in_gold = pairs.units_with(counts[:, 1])
        units_in_either = pairs.units_with(counts[:, 1] + counts[:, 2])
        return Classes(units_in_gold[needed], units_in_either[has_weight & uniform])

    return SumMetric(
        name,
        rows,
        mean_f1,
        undefined,
        classes=None if average == "weighted" else classes_of_pairs,
        fewest_of_class=FEWEST_OF_CLASS,
        class_scores=by_class,
    )


def class_scorer(
    count_classes: CellCounts, classes: Callable[[Metric], Iterable[str]] = lambda metric: metric.labels
) -> ScoreClasses:
    """A function for the scores of each class of the task, and of each other that occurs in gold."""

    def class_scores(pairs: Pairs, metric: Metric) -> Mapping[str, ClassScore]:
        different, places = pairs.different
        of_task = set(classes(metric))
        names, rows = count_classes(different.cells, classes(metric), metric)
        times = np.bincount(places, minlength=len(rows))
        sums = np.tensordot(times, rows, 1).astype(int).T.tolist()
        scores = {}
        for name, (both, gold, predicted) in zip(names, sums, strict=True):
            # Names from predictions alone would let a submission write them into reports.
            if name in of_task or gold:
                scores[name] = ClassScore.of(both, gold, predicted)
        return scores

    return class_scores


def of_pairs(counts: Callable[[Any, Any], Counts]) -> CellCounts:
    """The `class_rows` of cells from the classes that count in each pair of them."""

    def rows(cells: Cells, labels: Iterable[str] | None, _: Metric) -> ClassRows:
        codes_by_name = defaultdict[str, int](count().__next__)
        sides = []
        counts_of_cells = [counts(gold, predicted) for gold, predicted in cells]
        for side in zip(*counts_of_cells, strict=True):  # both, gold, predicted
            sizes = np.fromiter(map(len, side), np.intp, len(cells))
            examples = np.repeat(np.arange(len(cells)), sizes)
            codes = np.fromiter(map(codes_by_name.__getitem__, chain.from_iterable(side)), np.intp)
            sides.append((examples, codes))
        return class_rows(sides, codes_by_name, labels, size=len(cells))

    return rows


def _set_counts(gold: Iterable[str], predicted: Iterable[str]) -> Counts:
    gold_set = set(gold)
    predicted_set = set(predicted)
    return gold_set & predicted_set, gold_set, predicted_set


_SET_ROWS = of_pairs(_set_counts)
_SET_SCORES = class_scorer(_SET_ROWS)


def _sets_f1(name: str, average: Average | None) -> SumMetric:
    return class_metric(name, _SET_ROWS, average, "any label")


def probabilities(pairs: Pairs) -> tuple[Floats, NDArray[np.intp]]:
    """Predictions, shape (n, labels), and gold codes, shape (n,)."""
    return pairs.shares, pairs.gold_codes.astype(np.intp)


def _log_loss_rows(pairs: Pairs, _: Metric) -> Floats:
    given, gold = probabilities(pairs)
    of_gold = given[np.arange(len(gold)), gold]
    return means(-np.log(_clip(of_gold)))


def _clip(probabilities: Any) -> Any:
    """At least the machine epsilon away from 0 and 1, as in scikit-learn, so that logarithms are finite."""
    epsilon = np.finfo(np.float64).eps
    return np.clip(probabilities, epsilon, 1 - epsilon)


def _brier_rows(pairs: Pairs, _: Metric) -> Floats:
    given, gold = probabilities(pairs)
    losses = ((given - np.eye(given.shape[1])[gold]) ** 2).sum(axis=1)
    if given.shape[1] == 2:  # as in scikit-learn, which counts one of two labels
        losses = losses / 2
    return means(losses)


def _highest_rows(pairs: Pairs, _: Metric) -> Floats:
    given, gold = probabilities(pairs)
    return means(given.argmax(axis=1) == gold)


def _others_rows(pairs: Pairs, metric: Metric) -> Floats:
    """Of all labels but one: whether the most probable is gold's, the gold, and the most probable."""
    given, gold = probabilities(pairs)
    predicted = given.argmax(axis=1)
    left_out = pairs.code(metric.positive)
    right = (gold == predicted) & (gold != left_out)
    rows: Floats = np.stack([right, gold != left_out, predicted != left_out], axis=1).astype(np.float64)
    return rows


def _rows_of_answers(pairs: Pairs, metric: Metric) -> Floats:
    """True and false positives and negatives, and no answer, which is two equal highest probabilities."""
    given, gold = probabilities(pairs)
    highest = given == given.max(axis=1, keepdims=True)
    answered = highest.sum(axis=1) == 1
    code = pairs.code(metric.positive)
    positive = gold == code
    predicted_positive = highest[:, code]
    right = given.argmax(axis=1) == gold
    both_others = ~positive & ~predicted_positive
    cases = [
        positive & predicted_positive & answered,
        ~positive & predicted_positive & answered,
        positive & ~predicted_positive & answered,
        both_others & right & answered,
        both_others & ~right & answered,
        ~answered,
    ]
    return np.stack(cases, axis=1).astype(np.float64)


def _c_at_1(sums: Any) -> Any:
    right = sums[0] + sums[3]
    n = sums.sum(axis=0)
    return ratio(right + sums[5] * ratio(right, n), n)


def _f05_u(sums: Any) -> Any:
    weighted = 1.25 * sums[0]
    return ratio(weighted, weighted + 0.25 * (sums[2] + sums[5]) + sums[1])


def _f1_answered(sums: Any) -> Any:
    return ratio(2 * sums[0], 2 * sums[0] + sums[1] + sums[2])


def _calibration_rows(pairs: Pairs, _: Metric) -> Floats:
    """Accuracy minus confidence at the bin of the confidence, then a 1, shape (n, BINS + 1)."""
    given, gold = probabilities(pairs)
    confidence = given.max(axis=1)
    rows = np.zeros((len(gold), BINS + 1))
    bins = np.clip(np.ceil(confidence * BINS).astype(np.intp) - 1, 0, BINS - 1)
    rows[np.arange(len(gold)), bins] = (given.argmax(axis=1) == gold) - confidence
    rows[:, -1] = 1.0
    return rows


def _neg_ece(sums: Any) -> Any:
    return 0.0 - ratio(abs(sums[:-1]).sum(axis=0), sums[-1])


def _distributions(pairs: Pairs) -> tuple[Floats, Floats]:
    """Gold and predictions, each of shape (n, labels)."""
    return np.array(pairs.gold.cells, np.float64), np.array(pairs.predicted.cells, np.float64)


def _cross_entropy_rows(pairs: Pairs, _: Metric) -> Floats:
    gold, given = _distributions(pairs)
    return means(-(gold * np.log(_clip(given))).sum(axis=1))


def _unit_distributions(pairs: Pairs) -> tuple[Floats, Floats]:
    """Gold and predictions, each of shape (n, labels), rescaled to the sum 1."""
    gold, given = _distributions(pairs)
    gold = ratio(gold, gold.sum(axis=1, keepdims=True))
    given = ratio(given, given.sum(axis=1, keepdims=True))
    return gold, given


def _manhattan_rows(pairs: Pairs, _: Metric) -> Floats:
    gold, given = _distributions(pairs)
    return means(np.abs(gold - given).sum(axis=1))


def _wasserstein_rows(pairs: Pairs, _: Metric) -> Floats:
    """The distance on a line where neighboring labels, in the manifest's order, are 1 apart."""
    gold, given = _unit_distributions(pairs)
    return means(np.abs(np.cumsum(gold - given, axis=1)[:, :-1]).sum(axis=1))


def _jensen_shannon_rows(pairs: Pairs, _: Metric) -> Floats:
    """The root of the divergence in bits."""
    gold, given = _unit_distributions(pairs)
    middle = (gold + given) / 2

    def divergence(part: Floats) -> Floats:
        logarithms = np.log2(np.where(part > 0, part, 1.0)) - np.log2(np.where(part > 0, middle, 1.0))
        divergence: Floats = (part * logarithms).sum(axis=1)
        return divergence

    return means(np.sqrt(np.maximum(divergence(gold) + divergence(given), 0.0) / 2))


CELL_METRICS = (
    mean_metric("exact_match", exact_match),
    mean_metric("plain_exact_match", plain_exact_match),
    mean_metric("numeric_exact_match", numeric_exact_match),
    mean_metric("token_f1", token_f1),
    mean_metric("token_f1_v2", partial(token_f1, empty=1.0)),
    mean_metric("substring_f1", run_f1),
    mean_metric("token_run_f1", partial(run_f1, parts=tokens_of)),
    mean_metric("sets_accuracy", set_accuracy, _SET_SCORES),
    mean_metric("sets_jaccard", jaccard, _SET_SCORES),
    mean_metric("sets_sample_f1", set_f1, _SET_SCORES),
    _sets_f1("sets_micro_f1", None),
    _sets_f1("sets_macro_f1", "all"),
    _sets_f1("sets_macro_f1_gold", "gold"),
    _sets_f1("sets_weighted_f1", "weighted"),
    SumMetric("neg_log_loss", _log_loss_rows, negated_mean),
    SumMetric("neg_brier", _brier_rows, negated_mean),
    SumMetric("neg_ece", _calibration_rows, _neg_ece, fewest=FEWEST_CALIBRATED),
    SumMetric("probability_accuracy", _highest_rows, mean_of),
    SumMetric("probability_micro_f1_without", _others_rows, pooled_f1),
    SumMetric("c_at_1", _rows_of_answers, _c_at_1),
    SumMetric("f05_u", _rows_of_answers, _f05_u),
    SumMetric("f1_answered", _rows_of_answers, _f1_answered),
    SumMetric("neg_cross_entropy", _cross_entropy_rows, negated_mean),
    SumMetric("neg_jensen_shannon", _jensen_shannon_rows, negated_mean),
    SumMetric("neg_manhattan", _manhattan_rows, negated_mean),
    SumMetric("neg_wasserstein", _wasserstein_rows, negated_mean),
)
"""Metrics of text, sets, probabilities and distributions."""
