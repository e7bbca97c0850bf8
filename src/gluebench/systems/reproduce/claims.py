"""The paper's claims about its results, each as a test of a table; its docstring states the test.

The table is the paper's own, or one of a rerun. Only which number is above which is tested, with no regard to
intervals: a claim that holds by a tenth of a point holds.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Literal, NamedTuple, get_args

from gluebench.data.errors import parsing
from gluebench.systems.reproduce.row import AVERAGE, TableName, rows

Verdict = Literal["holds", "does not hold", "cannot be told"]
Evidence = tuple[bool, str]
"""Whether a claim holds of some results, and the numbers that decide."""


class UndecidedError(Exception):
    """The results cannot decide a claim; the message gives the reason."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """One table of results; looking up what it does not have raises UndecidedError."""

    values: Mapping[str, Mapping[str, Sequence[float]]]
    """Row to column (a task or a phenomenon) to its numbers, times 100."""
    benchmark: str = "glue"
    table: TableName = "table4"

    def get(self, row: str, column: str = AVERAGE) -> float:
        """The number of a column, of two metrics their mean."""
        numbers = self.values.get(row, {}).get(column)
        if not numbers:
            raise UndecidedError(f"no {column} of {row}")
        return sum(numbers) / len(numbers)

    def gain(self, better: str, worse: str, column: str = AVERAGE) -> float:
        """By how much the first row is above the second; tenths as printed, without what halves leave."""
        return round(self.get(better, column) - self.get(worse, column), 6)


Test = Callable[[Numbers], Evidence]


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """One claim."""

    name: str
    section: str
    claim: str
    """The claim in our words."""
    test: Test
    tables: tuple[TableName, ...]
    """The tables it can be tested on: test and dev scores, or the diagnostic set."""

    @property
    def reading(self) -> str:
        """The test of the claim in words."""
        return (self.test.__doc__ or "").strip()


VARIANTS = ("", "-elmo", "-cove", "-attn", "-attn-elmo", "-attn-cove")
SINGLE = tuple(f"single-bilstm{variant}" for variant in VARIANTS)
MULTI = tuple(f"multi-bilstm{variant}" for variant in VARIANTS)
TRAINED = SINGLE + MULTI
ENCODERS = ("cbow", "skip-thought", "infersent", "dissent", "gensen")
ROWS = TRAINED + ENCODERS
BASES = ("single-bilstm", "single-bilstm-attn", "multi-bilstm", "multi-bilstm-attn")
"""Rows with GloVe alone; each has a variant with ELMo and one with CoVe."""
WORDS = {"GloVe": "", "ELMo": "-elmo", "CoVe": "-cove"}

NEGLIGIBLE = 0.5
"""Points of the average that count as no effect."""
CLOSE = 1.0
"""Points of the average within which a system is as good as another."""
SINGLE_SENTENCE = ("CoLA", "SST-2")
PAIRS = ("MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE")
"""Tasks of two sentences except WNLI, where Table 4 has the majority class in every row."""
WNLI_MAJORITY = 100 * 40 / 71
"""Accuracy of the majority class on GLUE's dev split."""
ANNOTATORS = 80.0
"""Mean R3 of six people (section 4)."""
COARSE = ("Lexical Semantics", "Predicate-Argument Structure", "Logic", "Knowledge")
MOST = 0.6
"""Share of the rows that counts as most."""
ALMOST_ALL = 0.8

FINDINGS: list[PaperClaim] = []
"""All claims, in the order of the paper's sections."""


def _claim(section: str, claim: str, *, tables: tuple[TableName, ...]) -> Callable[[Test], Test]:
    """Add the decorated test of a claim to `FINDINGS`."""

    def add(test: Test) -> Test:
        FINDINGS.append(PaperClaim(test.__name__.replace("_", "-"), section, claim, test, tables))
        return test

    return add


_of_scores = partial(_claim, tables=("table4", "table6"))
_of_diagnostic = partial(_claim, tables=("table5",))


def format_gains(values: Mapping[str, float]) -> str:
    """Format each value with its sign: "+ELMo +1.3, +Attn -0.1"."""
    return ", ".join(f"{name} {value:+.1f}" for name, value in values.items())


def format_values(values: Mapping[str, float]) -> str:
    """Format each value after its name."""
    return ", ".join(f"{name} {value:.1f}" for name, value in values.items())


@_of_scores("abstract, 8", "Training on all tasks together is better than a model for each.")
def multi_task_better(numbers: Numbers) -> Evidence:
    """Mean average of the multi-task rows above that of the single-task rows."""
    multi = fmean(map(numbers.get, MULTI))
    single = fmean(map(numbers.get, SINGLE))
    return multi > single, f"mean of six {multi:.1f} against {single:.1f}"


@_of_scores("6", "Multi-task training is better among models with attention or ELMo.")
def multi_task_better_with(numbers: Numbers) -> Evidence:
    """Each multi-task row with attention or ELMo above its single-task twin."""
    gains = {}
    for name in VARIANTS:
        if "attn" in name or "elmo" in name:
            gains[name[1:]] = numbers.gain(f"multi-bilstm{name}", f"single-bilstm{name}")
    return min(gains.values()) > 0, format_gains(gains)


@_of_scores("6", "Attention does little or harm in single-task training.")
def attention_alone(numbers: Numbers) -> Evidence:
    """No single-task average is raised by attention by more than half a point."""
    gains = _attention_on_average(numbers, "single-bilstm")
    return max(gains.values()) <= NEGLIGIBLE, format_gains(gains)


@_of_scores("6", "Attention helps in multi-task training.")
def attention_together(numbers: Numbers) -> Evidence:
    """Every multi-task average is raised by attention."""
    gains = _attention_on_average(numbers, "multi-bilstm")
    return min(gains.values()) > 0, format_gains(gains)


@_of_scores("6", "ELMo in place of GloVe or CoVe helps throughout.")
def elmo_better(numbers: Numbers) -> Evidence:
    """The average with ELMo is above those with GloVe and with CoVe in all four settings."""
    gains = {}
    for base in BASES:
        gains[f"{base} over GloVe"] = numbers.gain(f"{base}-elmo", base)
        gains[f"{base} over CoVe"] = numbers.gain(f"{base}-elmo", f"{base}-cove")
    return min(gains.values()) > 0, format_gains(gains)


@_of_scores("6", "ELMo helps most on single sentences.")
def elmo_single_sentence(numbers: Numbers) -> Evidence:
    """The mean gain of ELMo over GloVe is larger on single sentences than on pairs in all four settings."""
    gaps = {}
    for base in BASES:
        elmo = f"{base}-elmo"
        alone = fmean(numbers.gain(elmo, base, task) for task in SINGLE_SENTENCE)
        pairs = fmean(numbers.gain(elmo, base, task) for task in PAIRS)
        gaps[base] = alone - pairs
    return min(gaps.values()) > 0, f"by how much larger: {format_gains(gaps)}"


@_of_scores("6", "CoVe beside GloVe helps some settings and hurts others.")
def cove_mixed(numbers: Numbers) -> Evidence:
    """CoVe raises some averages of GloVe and lowers others."""
    gains = _beside_glove(numbers, "cove")
    return min(gains.values()) < 0 < max(gains.values()), format_gains(gains)


@_of_scores("6", "Encoders get better from CBoW to Skip-Thought to InferSent and GenSen.")
def encoders_in_order(numbers: Numbers) -> Evidence:
    """Averages rise from CBoW to Skip-Thought to InferSent to GenSen."""
    averages = {name: numbers.get(name) for name in ENCODERS if name != "dissent"}
    return all(one < two for one, two in pairwise(averages.values())), format_values(averages)


@_of_scores("6", "InferSent keeps up with models trained on GLUE.")
def infersent_competitive(numbers: Numbers) -> Evidence:
    """InferSent's average is at most a point below the median of the rows trained on GLUE."""
    middle = median(map(numbers.get, TRAINED))
    own = numbers.get("infersent")
    return own >= middle - CLOSE, f"{own:.1f} against a median of {middle:.1f}"


@_of_scores("6", "GenSen is better than all but the two best models trained on GLUE.")
def gensen_third(numbers: Numbers) -> Evidence:
    """At most two of the rows trained on GLUE have an average above GenSen's."""
    own = numbers.get("gensen")
    averages = {name: numbers.get(name) for name in TRAINED}
    above = {name: average for name, average in averages.items() if average > own}
    return len(above) <= 2, f"GenSen {own:.1f}; above it {format_values(above) or 'none'}"


@_of_scores("6", "Frozen encoders are far worse on CoLA than models trained on it.")
def encoders_fail_cola(numbers: Numbers) -> Evidence:
    """The best frozen encoder is below the worst row trained on CoLA."""
    best = max(numbers.get(name, "CoLA") for name in ENCODERS)
    worst = min(numbers.get(name, "CoLA") for name in TRAINED)
    return best < worst, f"best encoder {best:.1f}, worst trained row {worst:.1f}"


@_of_scores("6", "On STS-B models trained on it lag behind the best encoder.")
def trained_lag_stsb(numbers: Numbers) -> Evidence:
    """The best frozen encoder is more than a point above the best row trained on STS-B."""
    best = max(numbers.get(name, "STS-B") for name in ENCODERS)
    own = max(numbers.get(name, "STS-B") for name in TRAINED)
    return best > own + CLOSE, f"best encoder {best:.1f}, best trained row {own:.1f}"


@_of_scores("6", "On WNLI no model is better than its majority class.")
def wnli_unsolved(numbers: Numbers) -> Evidence:
    """No row is above the majority class."""
    if numbers.table == "table4":
        raise UndecidedError("Table 4 has the majority class in every row")
    if numbers.benchmark != "glue":
        raise UndecidedError("the majority class of another benchmark's WNLI is not known here")
    accuracies = {name: numbers.get(name, "WNLI") for name in ROWS}
    above = {name: accuracy for name, accuracy in accuracies.items() if accuracy > WNLI_MAJORITY + 0.1}
    return not above, f"majority {WNLI_MAJORITY:.1f}; above it {format_values(above) or 'none'}"


@_of_scores("1, 8", "Attention and ELMo together, trained on all tasks, are best of all.")
def best_has_both(numbers: Numbers) -> Evidence:
    """The multi-task row with attention and ELMo has the highest average of all, encoders among them."""
    averages = {name: numbers.get(name) for name in ROWS}
    best = max(averages, key=averages.__getitem__)
    return best == "multi-bilstm-attn-elmo", f"best: {best} {averages[best]:.1f}"


@_of_diagnostic("4, 7", "All models are poor on the diagnostic set, and far below people.")
def far_below_people(numbers: Numbers) -> Evidence:
    """The best row is at less than half of the annotators' mean."""
    best = max(numbers.get(name, "All") for name in ROWS)
    return best < ANNOTATORS / 2, f"best {best:.0f}, people {ANNOTATORS:.0f}"


@_of_diagnostic("7", "Structure tends to be easier than logic.")
def structure_above_logic(numbers: Numbers) -> Evidence:
    """Over all rows, predicate-argument structure has the highest mean of the four and logic the lowest."""
    means = {}
    for column in COARSE:
        means[column] = fmean(numbers.get(name, column) for name in ROWS)
    high = max(means, key=means.__getitem__)
    low = min(means, key=means.__getitem__)
    return (high, low) == (COARSE[1], COARSE[2]), format_values(means)


@_of_diagnostic("7", "On the diagnostic set single-task models nearly always win.")
def single_above_multi(numbers: Numbers) -> Evidence:
    """At least four fifths of the multi-task rows are below their single-task twins."""
    below = [one for one, two in zip(SINGLE, MULTI, strict=True) if numbers.gain(one, two, "All") > 0]
    return len(below) >= ALMOST_ALL * len(SINGLE), f"{len(below)} of {len(SINGLE)} twins"


@_of_diagnostic("7", "There, models trained on GLUE are better than encoders other than GenSen.")
def trained_above_encoders(numbers: Numbers) -> Evidence:
    """The median of rows trained on GLUE is above each encoder but GenSen, which is not below all of them."""
    trained = [numbers.get(name, "All") for name in TRAINED]
    others = {name: numbers.get(name, "All") for name in ENCODERS}
    middle = median(trained)
    gensen = others.pop("gensen")
    holds = middle > max(others.values()) and gensen >= min(trained)
    return holds, f"median {middle:.1f}; {format_values(others)}; gensen {gensen:.1f}"


@_of_diagnostic("7", "There, attention matters more than ELMo or CoVe.")
def attention_matters_most(numbers: Numbers) -> Evidence:
    """The mean size of attention's effect is above those of ELMo's and CoVe's."""
    effects = {
        "attention": fmean(map(abs, _attention(numbers, "All").values())),
        "ELMo": fmean(map(abs, _beside_glove(numbers, "elmo", "All").values())),
        "CoVe": fmean(map(abs, _beside_glove(numbers, "cove", "All").values())),
    }
    return effects["attention"] > max(effects["ELMo"], effects["CoVe"]), format_values(effects)


@_of_diagnostic("7", "There, attention helps some models and harms others.")
def attention_mixed(numbers: Numbers) -> Evidence:
    """Attention raises some rows and lowers others."""
    gains = _attention(numbers, "All")
    return min(gains.values()) < 0 < max(gains.values()), format_gains(gains)


@_of_diagnostic("7", "Most models do well on universal quantification.")
def universal_easy(numbers: Numbers) -> Evidence:
    """Most rows do better on universal quantification than on the whole."""
    return _share_above(numbers, "Universal")


@_of_diagnostic("7", "Morphological negation often has a good signal.")
def morphological_negation_easy(numbers: Numbers) -> Evidence:
    """Most rows do better on morphological negation than on the whole."""
    return _share_above(numbers, "Morphological Negation")


@_of_diagnostic("7", "Double negation is hard for models over GloVe alone.")
def double_negation_hard(numbers: Numbers) -> Evidence:
    """Rows over GloVe alone are worse on double negation than on the whole."""
    gaps = {base: numbers.get(base, "Double Negation") - numbers.get(base, "All") for base in BASES}
    return max(gaps.values()) < 0, f"below the whole by {format_gains(gaps)}"


@_of_diagnostic("7", "ELMo fixes double negation.")
def elmo_helps_double_negation(numbers: Numbers) -> Evidence:
    """ELMo raises double negation over GloVe in all four settings."""
    gains = _beside_glove(numbers, "elmo", "Double Negation")
    return min(gains.values()) > 0, format_gains(gains)


@_of_diagnostic("7", "CoVe improves double negation to a degree.")
def cove_helps_double_negation(numbers: Numbers) -> Evidence:
    """CoVe raises double negation over GloVe in the mean of the four settings, by less than ELMo."""
    cove = _beside_glove(numbers, "cove", "Double Negation")
    elmo = _beside_glove(numbers, "elmo", "Double Negation")
    mean_gain = fmean(cove.values())
    return 0 < mean_gain < fmean(elmo.values()), f"mean {mean_gain:+.1f}: {format_gains(cove)}"


@_of_diagnostic("7", "Models with attention struggle with downward monotonicity.")
def attention_fails_downward(numbers: Numbers) -> Evidence:
    """Attention lowers downward monotonicity in the mean of its six rows."""
    gains = _attention(numbers, "Downward Monotone")
    mean_gain = fmean(gains.values())
    return mean_gain < 0, f"mean {mean_gain:+.1f}: {format_gains(gains)}"


@_of_diagnostic("7", "Restrictivity is hard for almost all models.")
def restrictivity_hard(numbers: Numbers) -> Evidence:
    """Almost all rows are at 0 or below on restrictivity: no better than uninformed."""
    hard = [name for name in ROWS if numbers.get(name, "Restrictivity") <= 0]
    return len(hard) >= ALMOST_ALL * len(ROWS), f"{len(hard)} of {len(ROWS)} rows at 0 or below"


def _beside_glove(numbers: Numbers, words: str, column: str = AVERAGE) -> dict[str, float]:
    """Return the gain from "elmo" or "cove" over GloVe alone in a column, for its four rows."""
    return {base: numbers.gain(f"{base}-{words}", base, column) for base in BASES}


def _attention_on_average(numbers: Numbers, base: str) -> dict[str, float]:
    """Return the gain of the average from attention, for each kind of word vectors."""
    return {kind: numbers.gain(f"{base}-attn{words}", f"{base}{words}") for kind, words in WORDS.items()}


def _attention(numbers: Numbers, column: str) -> dict[str, float]:
    """Return the gain from attention in a column of the diagnostic set, for its six rows."""
    gains = {}
    for base in ("single-bilstm", "multi-bilstm"):
        for words in WORDS.values():
            gains[f"{base}{words}"] = numbers.gain(f"{base}-attn{words}", f"{base}{words}", column)
    return gains


def _share_above(numbers: Numbers, column: str) -> Evidence:
    above = [name for name in ROWS if numbers.get(name, column) > numbers.get(name, "All")]
    return len(above) >= MOST * len(ROWS), f"{len(above)} of {len(ROWS)} rows"


class ClaimVerdict(NamedTuple):
    """The verdict of some results on a claim."""

    verdict: Verdict
    detail: str
    """The numbers that decide, or the reason why they are missing."""


def judge_finding(finding: PaperClaim, numbers: Numbers) -> ClaimVerdict:
    """Test a claim on a table of results."""
    try:
        holds, detail = finding.test(numbers)
    except UndecidedError as error:
        return ClaimVerdict("cannot be told", str(error))
    return ClaimVerdict("holds" if holds else "does not hold", detail)


def paper_numbers(table: TableName) -> Numbers:
    """The paper's own numbers."""
    return Numbers({row.name: row.printed[table].numbers() for row in rows()}, table=table)


def read_results(path: Path) -> Mapping[TableName, Numbers]:
    """Results as `gluebench reproduce` writes them, by table. Raises DataError for another file."""
    expected = 'expected {"benchmark": …, "tables": {"table6": {"cbow": {"CoLA": [4.6], "Avg": [61.4]}}}}'
    results: dict[TableName, Numbers] = {}
    with parsing(path, "the results of rows", expected):
        values = json.loads(path.read_text(encoding="utf-8"))
        benchmark = values["benchmark"]
        tables = values["tables"]
        for table in get_args(TableName):
            if table not in tables:
                continue
            numbers: dict[str, dict[str, tuple[float, ...]]] = {}
            for row, columns in tables[table].items():
                numbers[row] = {}
                for column, values_of_column in columns.items():
                    numbers[row][column] = tuple(map(float, values_of_column))
            results[table] = Numbers(numbers, benchmark, table)
    return results
