"""What the paper says of its main results (abstract, sections 6 and 8), each claim as a test of a table."""

from __future__ import annotations

import statistics
from itertools import pairwise

from gluebench.systems.reproduce.numbers import (
    BASES,
    ENCODERS,
    MULTI,
    SINGLE,
    TRAINED,
    VARIANTS,
    WORDS,
    CannotTellError,
    Evidence,
    Numbers,
    differences,
    listed,
    mean,
    with_attention,
)

NEGLIGIBLE = 0.5
"""Points of the average that count as no effect."""
CLOSE = 1.0
"""Points of the average within which a system is as good as another."""
SINGLE_SENTENCE = ("CoLA", "SST-2")
PAIRS = ("MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE")
"""Tasks of two sentences, but for WNLI, which Table 4 does not have of the systems."""
WNLI_MAJORITY = 100 * 40 / 71
"""Of GLUE's dev split."""


def multi_task_better(numbers: Numbers) -> Evidence:
    """Mean average of the multi-task rows above that of the single-task rows."""
    multi, single = (mean(map(numbers.average, names)) for names in (MULTI, SINGLE))
    return Evidence(multi > single, f"mean of six {multi:.1f} against {single:.1f}")


def multi_task_better_with(numbers: Numbers) -> Evidence:
    """Each multi-task row with attention or ELMo above its single-task twin."""
    chosen = [variant for variant in VARIANTS if "attn" in variant or "elmo" in variant]
    gains = {name: numbers.gain(f"multi-bilstm{name}", f"single-bilstm{name}") for name in chosen}
    return Evidence(min(gains.values()) > 0, differences(_titled(gains)))


def attention_alone(numbers: Numbers) -> Evidence:
    """No single-task average is raised by attention by more than half a point."""
    gains = _attention(numbers, "single-bilstm")
    return Evidence(max(gains.values()) <= NEGLIGIBLE, differences(gains))


def attention_together(numbers: Numbers) -> Evidence:
    """Every multi-task average is raised by attention."""
    gains = _attention(numbers, "multi-bilstm")
    return Evidence(min(gains.values()) > 0, differences(gains))


def elmo_better(numbers: Numbers) -> Evidence:
    """The average with ELMo is above those with GloVe and with CoVe in all four settings."""
    gains = {}
    for base in BASES:
        gains[f"{base} over GloVe"] = numbers.gain(f"{base}-elmo", base)
        gains[f"{base} over CoVe"] = numbers.gain(f"{base}-elmo", f"{base}-cove")
    return Evidence(min(gains.values()) > 0, differences(gains))


def elmo_single_sentence(numbers: Numbers) -> Evidence:
    """The mean gain of ELMo over GloVe is larger on single sentences than on pairs in all four settings."""
    gaps = {}
    for base in BASES:
        alone, pairs = (
            mean(numbers.gain(f"{base}-elmo", base, task) for task in tasks)
            for tasks in (SINGLE_SENTENCE, PAIRS)
        )
        gaps[base] = alone - pairs
    return Evidence(min(gaps.values()) > 0, f"by how much larger: {differences(gaps)}")


def cove_mixed(numbers: Numbers) -> Evidence:
    """CoVe raises some averages of GloVe and lowers others."""
    gains = {base: numbers.gain(f"{base}-cove", base) for base in BASES}
    return Evidence(min(gains.values()) < 0 < max(gains.values()), differences(gains))


def encoders_in_order(numbers: Numbers) -> Evidence:
    """Averages rise from CBoW to Skip-Thought to InferSent to GenSen."""
    averages = {name: numbers.average(name) for name in ENCODERS if name != "dissent"}
    order = list(averages.values())
    rising = all(one < two for one, two in pairwise(order))
    return Evidence(rising, listed(averages))


def infersent_competitive(numbers: Numbers) -> Evidence:
    """InferSent's average is at most a point below the median of the rows trained on GLUE."""
    middle = statistics.median(map(numbers.average, TRAINED))
    own = numbers.average("infersent")
    return Evidence(own >= middle - CLOSE, f"{own:.1f} against a median of {middle:.1f}")


def gensen_third(numbers: Numbers) -> Evidence:
    """At most two of the rows trained on GLUE have an average above GenSen's."""
    own = numbers.average("gensen")
    above = {name: value for name in TRAINED if (value := numbers.average(name)) > own}
    return Evidence(len(above) <= 2, f"GenSen {own:.1f}; above it {listed(above) or 'none'}")


def encoders_fail_cola(numbers: Numbers) -> Evidence:
    """The best frozen encoder is below the worst row trained on CoLA."""
    best = max(numbers.get(name, "CoLA") for name in ENCODERS)
    worst = min(numbers.get(name, "CoLA") for name in TRAINED)
    return Evidence(best < worst, f"best encoder {best:.1f}, worst trained row {worst:.1f}")


def trained_lag_stsb(numbers: Numbers) -> Evidence:
    """The best frozen encoder is more than a point above the best row trained on STS-B."""
    best = max(numbers.get(name, "STS-B") for name in ENCODERS)
    own = max(numbers.get(name, "STS-B") for name in TRAINED)
    return Evidence(best > own + CLOSE, f"best encoder {best:.1f}, best trained row {own:.1f}")


def wnli_unsolved(numbers: Numbers) -> Evidence:
    """No row is above the majority class."""
    if numbers.table == "table4":
        raise CannotTellError("Table 4 has the majority class in every row")
    if numbers.benchmark != "glue":
        raise CannotTellError("the majority class of another benchmark's WNLI is not known here")
    above = {
        name: value
        for name in (*TRAINED, *ENCODERS)
        if (value := numbers.get(name, "WNLI")) > WNLI_MAJORITY + 0.1
    }
    return Evidence(not above, f"majority {WNLI_MAJORITY:.1f}; above it {listed(above) or 'none'}")


def best_has_both(numbers: Numbers) -> Evidence:
    """The multi-task row with attention and ELMo has the highest average of all, encoders among them."""
    averages = {name: numbers.average(name) for name in (*TRAINED, *ENCODERS)}
    best = max(averages, key=averages.__getitem__)
    return Evidence(best == "multi-bilstm-attn-elmo", f"best: {best} {averages[best]:.1f}")


def _attention(numbers: Numbers, base: str) -> dict[str, float]:
    """By how much attention raises the average, over each kind of word vectors."""
    kinds = dict(zip(WORDS, ("GloVe", "ELMo", "CoVe"), strict=True))
    return {kinds[words]: numbers.gain(*with_attention(base, words)) for words in WORDS}


def _titled(gains: dict[str, float]) -> dict[str, float]:
    return {name.removeprefix("-"): value for name, value in gains.items()}
