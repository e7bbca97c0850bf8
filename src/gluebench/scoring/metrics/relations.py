"""Metrics of relations, which are spans that tags mark in a sentence, in a copy of it for each relation.

Gold and predicted relations are matched so that their F1 is highest; predicted ones beyond the number of gold
relations do not count. Spans are compared as by FairEval (Ortmann 2022), which counts each error once: two
spans that overlap, with other ends or another label, are half a missed and half an extra span. Tags of the
same letters, as ARG0 and ARG1, are compared with each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import groupby, permutations
from operator import itemgetter
from typing import Any

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells, once
from gluebench.scoring.metrics.counts import ratio
from gluebench.scoring.metrics.sequences import Span
from gluebench.scoring.metrics.sums import SumMetric, f1_from
from gluebench.scoring.numeric import Floats, Ints, np
from gluebench.submission.relations import TAG, Relations

Tag = tuple[int, str, str, bool]
"""Word, letters, label, and whether it closes a span."""
RIGHT, NEAR, MISSED, EXTRA = range(4)
"""A span of both sides; two that overlap; one of gold and one of the predictions without such another."""
Counted = tuple[str, int]
"""A label, and that it is RIGHT, NEAR, MISSED or EXTRA."""
ARGUMENT = "ARG"
"""Letters of the tags that CASE's scorer does not see closed in the word in which they open."""
REMEMBERED = 1 << 16
"""Sentences and pairs of cells of which the results are kept: metrics and systems have many in common."""


@lru_cache(maxsize=REMEMBERED)
def spans_of(sentence: str, labels: Sequence[str], *, case: bool = False) -> Mapping[str, Sequence[Span]]:
    """The spans of a sentence by the letters of their tags; each ends at the next tag of these letters.

    With `case`, only those tags count that CASE's scorer sees where a word has several.
    """
    spans, opened = defaultdict[str, list[Span]](list), dict[str, tuple[int, str]]()
    words = sentence.split(" ")
    tags = _tags(words, labels)
    for at, letters, label, closing in _seen(tags) if case else tags:
        if letters in opened:
            start, before = opened.pop(letters)
            end = at + (closing and label == before)
            spans[letters] += [(start, end, before)] * (start < end)
        if not closing:
            opened[letters] = at, label
    for letters, (start, label) in opened.items():
        spans[letters].append((start, len(words), label))
    return spans


def _tags(words: Sequence[str], labels: Sequence[str]) -> Iterator[Tag]:
    for at, word in enumerate(words):
        for closing, letters, digits in TAG.findall(word) if "<" in word else ():
            of_any_number = letters in labels and letters + digits not in labels
            yield at, letters, letters if of_any_number else letters + digits, bool(closing)


def _seen(tags: Iterable[Tag]) -> Iterator[Tag]:
    """The first tag of the arguments in each word, and the first two of others."""
    for (_, letters), of_word in groupby(sorted({*tags}), itemgetter(0, 1)):
        yield from [*of_word][: 1 if letters == ARGUMENT else 2]


class _Part:
    """A span that the other side does not have, with a bit for each word by which it is not yet matched."""

    __slots__ = ("label", "length", "words")

    def __init__(self, span: Span) -> None:
        start, end, self.label = span
        self.length, self.words = end - start, (1 << end) - (1 << start)

    def nearest(self, others: Sequence[_Part], *, same: bool) -> _Part | None:
        """The one with most words in common, of the same label or of others; None if none has any."""
        near = [other for other in others if other.words & self.words and (other.label == self.label) is same]
        return min(near, key=self._distance, default=None)

    def _distance(self, other: _Part) -> tuple[int, int, int]:
        return -(other.words & self.words).bit_count(), other.words.bit_count(), other.length


def _compared(gold: Sequence[Span], predicted: Sequence[Span]) -> Iterator[Counted]:
    """The label, gold's if there is one, and the kind of everything that counts once."""
    if gold == predicted:
        yield from ((label, RIGHT) for *_, label in gold)
        return
    if len(gold) == len(predicted) == 1:  # the common case, in short
        (start, end, label), (other_start, other_end, other) = gold[0], predicted[0]
        near = max(start, other_start) < min(end, other_end)
        yield from [(label, NEAR)] if near else [(label, MISSED), (other, EXTRA)]
        return
    labels = {span[:2]: span[2] for span in predicted}
    places = labels.keys() & {span[:2] for span in gold}
    for span in gold:
        if span[:2] in places:
            yield span[2], RIGHT if labels[span[:2]] == span[2] else NEAR
    sides = [
        sorted((_Part(span) for span in side if span[:2] not in places), key=lambda part: part.length)
        for side in (gold, predicted)
    ]
    yield from ((label, NEAR) for label in _overlapping(sides))
    for side, kind in zip(sides, (MISSED, EXTRA), strict=True):
        yield from ((part.label, kind) for part in side)


def _overlapping(sides: Sequence[list[_Part]]) -> Iterator[str]:
    """The gold label of each two spans that overlap, first of those with one label; takes the spans.

    A span that is left may share one that is taken, by words that are not matched yet.
    """
    taken: Sequence[list[_Part]] = [], []
    for same in (True, False):
        for side, others in ((0, sides), (0, taken), (1, taken)):
            for part in [*sides[side]]:
                partner = part.nearest(others[1 - side], same=same)
                if partner is None:
                    continue
                for of, each in ((side, part), (1 - side, partner)):
                    if each in sides[of]:
                        sides[of].remove(each)
                        taken[of].append(each)
                common = part.words & partner.words
                part.words ^= common
                partner.words ^= common
                yield (part, partner)[side].label


@lru_cache(maxsize=REMEMBERED)
def _counts(gold: Relations, predicted: Relations, labels: Sequence[str], case: bool) -> Sequence[Counted]:
    """What counts of the relations of an example, matched in the first order that has the highest F1."""
    size, read = len(gold), partial(spans_of, labels=labels, case=case)
    given = [*map(read, predicted[:size]), *[{}] * (size - len(predicted))]
    table = [[_of_relations(spans, others) for others in given] for spans in map(read, gold)]
    if size == 1:
        return table[0][0]
    sums = np.array([[_kinds(counts) for counts in row] for row in table]).reshape(size, size, 4)
    of_orders = sums[_orders(size), range(size)].sum(axis=1)
    best = _orders(size)[_f1(of_orders.T).argmax()]
    return [each for column, row in enumerate(best) for each in table[row][column]]


def _of_relations(
    gold: Mapping[str, Sequence[Span]], predicted: Mapping[str, Sequence[Span]]
) -> Sequence[Counted]:
    letters = gold.keys() | predicted.keys()
    return [each for of in letters for each in _compared(gold.get(of, ()), predicted.get(of, ()))]


def _kinds(counts: Sequence[Counted], label: str | None = None) -> list[int]:
    """How often each kind is there, of a label or of all."""
    kinds = [0] * 4
    for of, kind in counts:
        kinds[kind] += label is None or of == label
    return kinds


@lru_cache
def _orders(size: int) -> Ints:
    """The gold relation for each predicted one in every order, shape (orders, size)."""
    return np.array([*permutations(range(size))], np.intp)


def _rows(cells: Cells, metric: Metric, *, case: bool) -> Floats:
    rows = [_kinds(_counts(*pair, metric.labels, case), metric.positive) for pair in cells]
    return np.array(rows, np.float64)


def _right_share(sums: Any, *, wrong: int) -> Any:
    return ratio(sums[RIGHT], sums[RIGHT] + sums[wrong] + sums[NEAR] / 2)


_precision = partial(_right_share, wrong=EXTRA)
_recall = partial(_right_share, wrong=MISSED)


def _f1(sums: Any) -> Any:
    return f1_from(_precision(sums), _recall(sums))


def _nothing(sums: Any) -> str | None:
    return None if sums.any() else "neither gold nor predictions have any span that counts"


RELATION_METRICS = tuple(
    SumMetric(f"relation_{name}{end}", rows, of, _nothing)
    for end, rows in (("", once(partial(_rows, case=False))), ("_case", once(partial(_rows, case=True))))
    for name, of in (("f1", _f1), ("precision", _precision), ("recall", _recall))
)
"""Metrics of relations."""
