"""The paper's directional claims, each stated in a sentence and tested on any results in its tables' shape.

Only which number is above which is tested, with no regard to intervals: a claim that holds by a tenth of a
point holds. What a claim is taken to mean is the docstring of its test.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from gluebench.data import DataError
from gluebench.systems.reproduce import claims_diagnostic as diagnostic
from gluebench.systems.reproduce import claims_scores as scores
from gluebench.systems.reproduce.numbers import CannotTellError, Evidence, Numbers, printed
from gluebench.systems.reproduce.row import TableName

Verdict = Literal["holds", "does not hold", "cannot be told"]
Test = Callable[[Numbers], Evidence]


@dataclass(frozen=True, slots=True)
class Finding:
    """One claim."""

    name: str
    section: str
    claim: str
    """In our words."""
    test: Test

    @property
    def tables(self) -> tuple[TableName, ...]:
        """The tables it can be tested on: test and dev scores, or the diagnostic set."""
        return ("table5",) if self.test.__module__ == diagnostic.__name__ else ("table4", "table6")

    @property
    def reading(self) -> str:
        """What it is taken to mean."""
        return (self.test.__doc__ or "").strip()


class Outcome(NamedTuple):
    """What some results say of a claim."""

    verdict: Verdict
    detail: str
    """The numbers that decide, or what is lacking."""


def _finding(section: str, claim: str, test: Test) -> Finding:
    return Finding(test.__name__.replace("_", "-"), section, claim, test)


FINDINGS: tuple[Finding, ...] = (
    _finding(
        "abstract, 8",
        "Training on all tasks together is better than a model for each.",
        scores.multi_task_better,
    ),
    _finding(
        "6",
        "Multi-task training is better among models with attention or ELMo.",
        scores.multi_task_better_with,
    ),
    _finding("6", "Attention does little or harm in single-task training.", scores.attention_alone),
    _finding("6", "Attention helps in multi-task training.", scores.attention_together),
    _finding("6", "ELMo in place of GloVe or CoVe helps throughout.", scores.elmo_better),
    _finding("6", "ELMo helps most on single sentences.", scores.elmo_single_sentence),
    _finding("6", "CoVe beside GloVe helps here and harms there.", scores.cove_mixed),
    _finding(
        "6",
        "Encoders get better from CBoW to Skip-Thought to InferSent and GenSen.",
        scores.encoders_in_order,
    ),
    _finding("6", "InferSent keeps up with models trained on GLUE.", scores.infersent_competitive),
    _finding("6", "GenSen is better than all but the two best models trained on GLUE.", scores.gensen_third),
    _finding(
        "6", "Frozen encoders are far worse on CoLA than models trained on it.", scores.encoders_fail_cola
    ),
    _finding("6", "On STS-B models trained on it lag behind the best encoder.", scores.trained_lag_stsb),
    _finding("6", "On WNLI no model is better than its majority class.", scores.wnli_unsolved),
    _finding(
        "1, 8", "Attention and ELMo together, trained on all tasks, are best of all.", scores.best_has_both
    ),
    _finding(
        "4, 7",
        "All models are poor on the diagnostic set, and far below people.",
        diagnostic.far_below_people,
    ),
    _finding("7", "Structure tends to be easier than logic.", diagnostic.structure_above_logic),
    _finding(
        "7", "On the diagnostic set single-task models nearly always win.", diagnostic.single_above_multi
    ),
    _finding(
        "7",
        "There, models trained on GLUE are better than encoders other than GenSen.",
        diagnostic.trained_above_encoders,
    ),
    _finding("7", "There, attention matters more than ELMo or CoVe.", diagnostic.attention_matters_most),
    _finding("7", "There, attention helps some models and harms others.", diagnostic.attention_mixed),
    _finding("7", "Most models do well on universal quantification.", diagnostic.universal_easy),
    _finding("7", "Morphological negation often has a good signal.", diagnostic.morphological_negation_easy),
    _finding("7", "Double negation is hard for models over GloVe alone.", diagnostic.double_negation_hard),
    _finding("7", "ELMo mends double negation.", diagnostic.elmo_helps_double_negation),
    _finding("7", "CoVe mends double negation to a degree.", diagnostic.cove_helps_double_negation),
    _finding(
        "7", "Models with attention struggle with downward monotonicity.", diagnostic.attention_fails_downward
    ),
    _finding("7", "Restrictivity is hard for almost all models.", diagnostic.restrictivity_hard),
)
"""In the order of the sections."""


def judged(finding: Finding, numbers: Numbers) -> Outcome:
    """What a table of results says of a claim."""
    try:
        evidence = finding.test(numbers)
    except CannotTellError as error:
        return Outcome("cannot be told", str(error))
    return Outcome("holds" if evidence.holds else "does not hold", evidence.detail)


def paper_outcome(finding: Finding, table: TableName) -> Outcome:
    """What the paper's own table says of its claim."""
    return judged(finding, printed(table))


def read_results(path: Path) -> Mapping[TableName, Numbers]:
    """Results as `gluebench reproduce` writes them, by table. Raises DataError for another file."""
    expected = 'expected {"benchmark": …, "tables": {"table6": {"cbow": {"CoLA": [4.6], "Avg": [61.4]}}}}'
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        benchmark, tables = values["benchmark"], values["tables"]
        results: dict[TableName, Numbers] = {
            name: Numbers(_checked(tables[name]), benchmark, name)
            for name in ("table4", "table5", "table6")
            if name in tables
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"
        raise DataError([f"{path}: no results of rows ({what}); {expected}"]) from None
    return results


def _checked(rows: Mapping[str, Mapping[str, list[float]]]) -> dict[str, dict[str, tuple[float, ...]]]:
    return {
        row: {column: tuple(map(float, numbers)) for column, numbers in columns.items()}
        for row, columns in rows.items()
    }
