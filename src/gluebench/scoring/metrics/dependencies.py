"""Metrics of dependency trees; the label of a word is its head and its relation, as 2:nsubj."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gluebench.benchmark import Metric
from gluebench.scoring.metrics.cells import Cells, ClassRows, class_metric
from gluebench.scoring.metrics.sequences import class_rows_of_tokens, right_tokens
from gluebench.scoring.metrics.sums import SumMetric, mean_of

WRONG_HEAD = "wrong head"
"""The class of a relation that is predicted with a wrong head, which no gold relation has."""


def head_of(label: str) -> str:
    """The number of the head."""
    return label.partition(":")[0]


def _head_rows(cells: Cells, labels: Iterable[str] | None, _: Metric) -> ClassRows:
    return class_rows_of_tokens(cells, labels, class_of=head_of)


def _relation_rows(cells: Cells, labels: Iterable[str] | None, metric: Metric) -> ClassRows:
    return class_rows_of_tokens(_relations(cells, metric), labels)


def _relations(cells: Cells, metric: Metric) -> Cells:
    """Gold and predicted relations of each sentence; one with a parent is that parent."""
    parents = dict(metric.parents)

    def relation(label: str) -> str:
        own = label.partition(":")[2]
        return parents.get(own, own)

    relations = []
    for gold, predicted in cells:
        predicted_relations = []
        for gold_label, predicted_label in zip(gold, predicted, strict=False):
            if head_of(gold_label) == head_of(predicted_label):
                predicted_relations.append(relation(predicted_label))
            else:
                predicted_relations.append(WRONG_HEAD)
        relations.append(([relation(label) for label in gold], predicted_relations))
    return relations


_UAS_MACRO_F1 = class_metric("uas_macro_f1", _head_rows, "present", "any word", lambda metric: ())
DEPENDENCY_METRICS = (
    SumMetric("uas", right_tokens(head_of), mean_of),
    SumMetric("las", right_tokens(), mean_of),
    replace(_UAS_MACRO_F1, class_scores=None),  # a head is the number of a word, not a class
    class_metric("las_macro_f1", _relation_rows, "present", "any word"),
)
"""Metrics of dependency trees."""
