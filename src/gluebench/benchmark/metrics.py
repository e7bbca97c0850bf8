"""The built-in metrics that a manifest may name; `gluebench.scoring.metrics` has their formulas."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Literal, NamedTuple, get_args

Form = Literal[
    "labels", "numbers", "sets", "probabilities", "distributions", "text", "tokens", "spans", "ranking"
]
"""What one example is answered with (docs/reference/forms.md)."""
FORMS: tuple[Form, ...] = get_args(Form)


class BuiltIn(NamedTuple):
    """What a manifest has to know of a metric. Higher is better; a loss is negated and its name says so."""

    name: str
    title: str
    """Short heading in tables, which a new manifest gets."""
    form: Form
    """What it compares."""
    lowest: float
    """0 for a share, -1 for a correlation, minus infinity for a negated loss without a bound."""
    positive: bool = False
    """Whether the manifest names a label, or for `f1_from` and `precision_at` a number, under `positive`."""
    highest: float = 1.0
    """The best value: 0 for a negated loss."""


BUILT_IN: Mapping[str, BuiltIn] = {
    metric.name: metric
    for metric in (
        BuiltIn("accuracy", "acc.", "labels", 0.0),
        BuiltIn("f1", "F1", "labels", 0.0, positive=True),
        BuiltIn("matthews_correlation", "MCC", "labels", -1.0),
        BuiltIn("r_k", "R_K", "labels", -1.0),
        BuiltIn("macro_f1", "macro F1", "labels", 0.0),
        BuiltIn("macro_f1_gold", "macro F1", "labels", 0.0),
        BuiltIn("macro_f1_all", "macro F1", "labels", 0.0),
        BuiltIn("macro_f1_all_one", "macro F1", "labels", 0.0),
        BuiltIn("weighted_f1", "weighted F1", "labels", 0.0),
        BuiltIn("micro_f1_without", "micro F1", "labels", 0.0, positive=True),
        BuiltIn("precision", "precision", "labels", 0.0, positive=True),
        BuiltIn("recall", "recall", "labels", 0.0, positive=True),
        BuiltIn("macro_precision", "macro prec.", "labels", 0.0),
        BuiltIn("macro_recall", "macro rec.", "labels", 0.0),
        BuiltIn("balanced_accuracy", "bal. acc.", "labels", 0.0),
        BuiltIn("kappa", "kappa", "labels", -1.0),
        BuiltIn("linear_kappa", "lin. kappa", "labels", -1.0),
        BuiltIn("quadratic_kappa", "quad. kappa", "labels", -1.0),
        BuiltIn("group_exact_match", "EM", "labels", 0.0),
        BuiltIn("group_agreement", "parity", "labels", 0.0),
        BuiltIn("icm", "ICM", "labels", -inf, highest=inf),
        BuiltIn("icm_norm", "ICM-norm", "labels", 0.0),
        BuiltIn("pearson", "Pearson", "numbers", -1.0),
        BuiltIn("spearman", "Spearman", "numbers", -1.0),
        BuiltIn("kendall", "Kendall", "numbers", -1.0),
        BuiltIn("concordance", "CCC", "numbers", -1.0),
        BuiltIn("r2", "R²", "numbers", -inf),
        BuiltIn("neg_mae", "−MAE", "numbers", -inf, highest=0.0),
        BuiltIn("neg_mse", "−MSE", "numbers", -inf, highest=0.0),
        BuiltIn("neg_rmse", "−RMSE", "numbers", -inf, highest=0.0),
        BuiltIn("neg_wmae", "−wMAE", "numbers", -inf, highest=0.0),
        BuiltIn("f1_from", "F1", "numbers", 0.0, positive=True),
        BuiltIn("exact_match", "EM", "text", 0.0),
        BuiltIn("token_f1", "F1", "text", 0.0),
        BuiltIn("token_f1_v2", "F1", "text", 0.0),
        BuiltIn("sets_accuracy", "acc.", "sets", 0.0),
        BuiltIn("sets_jaccard", "Jaccard", "sets", 0.0),
        BuiltIn("sets_sample_f1", "sample F1", "sets", 0.0),
        BuiltIn("sets_micro_f1", "micro F1", "sets", 0.0),
        BuiltIn("sets_macro_f1", "macro F1", "sets", 0.0),
        BuiltIn("sets_macro_f1_gold", "macro F1", "sets", 0.0),
        BuiltIn("sets_weighted_f1", "weighted F1", "sets", 0.0),
        BuiltIn("sets_icm", "ICM", "sets", -inf, highest=inf),
        BuiltIn("sets_icm_norm", "ICM-norm", "sets", 0.0),
        BuiltIn("probability_accuracy", "acc.", "probabilities", 0.0),
        BuiltIn("roc_auc", "AUC", "probabilities", 0.0, positive=True),
        BuiltIn("c_at_1", "c@1", "probabilities", 0.0),
        BuiltIn("f05_u", "F0.5u", "probabilities", 0.0, positive=True),
        BuiltIn("f1_answered", "F1", "probabilities", 0.0, positive=True),
        BuiltIn("neg_log_loss", "−log loss", "probabilities", -inf, highest=0.0),
        BuiltIn("neg_brier", "−Brier", "probabilities", -2.0, highest=0.0),
        BuiltIn("neg_ece", "−ECE", "probabilities", -1.0, highest=0.0),
        BuiltIn("neg_cross_entropy", "−CE", "distributions", -inf, highest=0.0),
        BuiltIn("neg_jensen_shannon", "−JS", "distributions", -1.0, highest=0.0),
        BuiltIn("icm_soft", "ICM-Soft", "distributions", -inf, highest=inf),
        BuiltIn("icm_soft_norm", "ICM-Soft-norm", "distributions", 0.0),
        BuiltIn("token_accuracy", "acc.", "tokens", 0.0),
        BuiltIn("entity_f1", "F1", "tokens", 0.0),
        BuiltIn("entity_f1_lenient", "F1", "tokens", 0.0),
        BuiltIn("entity_macro_f1", "macro F1", "tokens", 0.0),
        BuiltIn("token_macro_f1", "token F1", "tokens", 0.0),
        BuiltIn("span_f1", "F1", "spans", 0.0),
        BuiltIn("span_overlap_f1", "overlap F1", "spans", 0.0),
        BuiltIn("span_iou", "IoU", "spans", 0.0),
        BuiltIn("span_partial_f1", "partial F1", "spans", 0.0),
        BuiltIn("span_spearman", "Spearman", "spans", -1.0),
        BuiltIn("map", "MAP", "ranking", 0.0),
        BuiltIn("mrr", "MRR", "ranking", 0.0),
        BuiltIn("ndcg", "NDCG", "ranking", 0.0),
        BuiltIn("precision_at", "P@k", "ranking", 0.0, positive=True),
    )
}


UNSCALED = ("pearson", "spearman", "kendall")
"""Metrics that a manifest cannot put on another scale."""


ARTICLES = {
    "en": "a|an|the",
    "es": "un|una|unos|unas|el|la|los|las",
    "vi": "của|là|cái|chiếc|những",
    "de": "ein|eine|einen|einem|eines|einer|der|die|das|den|dem|des",
    "ar": "",
    "hi": "",
    "zh": "",
}
"""Languages in which texts are compared as in MLQA, and the words that do not count."""


def names_of(form: Form) -> tuple[str, ...]:
    """The names of the built-in metrics of a form."""
    return tuple(metric.name for metric in BUILT_IN.values() if metric.form == form)


def takes_positive(function: str) -> bool:
    """Whether it is a built-in metric of one label, or number."""
    return function in BUILT_IN and BUILT_IN[function].positive
