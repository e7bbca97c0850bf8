"""What the paper says of the diagnostic set (sections 4 and 7), each claim as a test of Table 5."""

from __future__ import annotations

import statistics

from gluebench.systems.reproduce.numbers import (
    BASES,
    ENCODERS,
    MULTI,
    SINGLE,
    TRAINED,
    WORDS,
    Evidence,
    Numbers,
    differences,
    listed,
    mean,
    with_attention,
)

ANNOTATORS = 80.0
"""Mean R3 of six people (section 4)."""
COARSE = ("Lexical Semantics", "Predicate-Argument Structure", "Logic", "Knowledge")
EVERY = (*TRAINED, *ENCODERS)
MOST = 0.6
"""Share of the rows that counts as most."""
ALMOST_ALL = 0.8


def far_below_people(numbers: Numbers) -> Evidence:
    """The best row is at less than half of the annotators' mean."""
    best = max(numbers.get(name, "All") for name in EVERY)
    return Evidence(best < ANNOTATORS / 2, f"best {best:.0f}, people {ANNOTATORS:.0f}")


def structure_above_logic(numbers: Numbers) -> Evidence:
    """Over all rows, predicate-argument structure has the highest mean of the four and logic the lowest."""
    means = {column: mean(numbers.get(name, column) for name in EVERY) for column in COARSE}
    high, low = max(means, key=means.__getitem__), min(means, key=means.__getitem__)
    return Evidence((high, low) == (COARSE[1], COARSE[2]), listed(means))


def single_above_multi(numbers: Numbers) -> Evidence:
    """At least four fifths of the multi-task rows are below their single-task twins."""
    below = [one for one, two in zip(SINGLE, MULTI, strict=True) if numbers.gain(one, two, "All") > 0]
    return Evidence(len(below) >= ALMOST_ALL * len(SINGLE), f"{len(below)} of {len(SINGLE)} twins")


def trained_above_encoders(numbers: Numbers) -> Evidence:
    """The median of rows trained on GLUE is above each encoder but GenSen, which is not below all of them."""
    trained = sorted(numbers.get(name, "All") for name in TRAINED)
    middle = statistics.median(trained)
    others = {name: numbers.get(name, "All") for name in ENCODERS}
    gensen = others.pop("gensen")
    holds = middle > max(others.values()) and gensen >= trained[0]
    return Evidence(holds, f"median {middle:.1f}; {listed(others)}; gensen {gensen:.1f}")


def attention_matters_most(numbers: Numbers) -> Evidence:
    """The mean size of attention's effect is above those of ELMo's and CoVe's."""
    effects = {
        "attention": mean(abs(gain) for gain in _attention(numbers, "All").values()),
        "ELMo": mean(abs(numbers.gain(f"{base}-elmo", base, "All")) for base in BASES),
        "CoVe": mean(abs(numbers.gain(f"{base}-cove", base, "All")) for base in BASES),
    }
    return Evidence(effects["attention"] > max(effects["ELMo"], effects["CoVe"]), listed(effects))


def attention_mixed(numbers: Numbers) -> Evidence:
    """Attention raises some rows and lowers others."""
    gains = _attention(numbers, "All")
    return Evidence(min(gains.values()) < 0 < max(gains.values()), differences(gains))


def universal_easy(numbers: Numbers) -> Evidence:
    """Most rows do better on universal quantification than on the whole."""
    return _share_above(numbers, "Universal")


def morphological_negation_easy(numbers: Numbers) -> Evidence:
    """Most rows do better on morphological negation than on the whole."""
    return _share_above(numbers, "Morphological Negation")


def double_negation_hard(numbers: Numbers) -> Evidence:
    """Rows over GloVe alone are worse on double negation than on the whole."""
    gaps = {base: numbers.get(base, "Double Negation") - numbers.get(base, "All") for base in BASES}
    return Evidence(max(gaps.values()) < 0, f"below the whole by {differences(gaps)}")


def elmo_helps_double_negation(numbers: Numbers) -> Evidence:
    """ELMo raises double negation over GloVe in all four settings."""
    gains = {base: numbers.gain(f"{base}-elmo", base, "Double Negation") for base in BASES}
    return Evidence(min(gains.values()) > 0, differences(gains))


def cove_helps_double_negation(numbers: Numbers) -> Evidence:
    """CoVe raises double negation over GloVe in the mean of the four settings, by less than ELMo."""
    cove, elmo = (
        {base: numbers.gain(f"{base}{words}", base, "Double Negation") for base in BASES}
        for words in ("-cove", "-elmo")
    )
    mean_gain = mean(cove.values())
    return Evidence(0 < mean_gain < mean(elmo.values()), f"mean {mean_gain:+.1f}: {differences(cove)}")


def attention_fails_downward(numbers: Numbers) -> Evidence:
    """Attention lowers downward monotonicity in the mean of its six rows."""
    gains = _attention(numbers, "Downward Monotone")
    mean_gain = mean(gains.values())
    return Evidence(mean_gain < 0, f"mean {mean_gain:+.1f}: {differences(gains)}")


def restrictivity_hard(numbers: Numbers) -> Evidence:
    """Almost all rows are at 0 or below on restrictivity: no better than uninformed."""
    hard = [name for name in EVERY if numbers.get(name, "Restrictivity") <= 0]
    return Evidence(len(hard) >= ALMOST_ALL * len(EVERY), f"{len(hard)} of {len(EVERY)} rows at 0 or below")


def _attention(numbers: Numbers, column: str) -> dict[str, float]:
    """By how much attention raises a column, in its six rows."""
    pairs = [with_attention(base, words) for base in ("single-bilstm", "multi-bilstm") for words in WORDS]
    return {twin: numbers.gain(row, twin, column) for row, twin in pairs}


def _share_above(numbers: Numbers, column: str) -> Evidence:
    above = [name for name in EVERY if numbers.get(name, column) > numbers.get(name, "All")]
    return Evidence(len(above) >= MOST * len(EVERY), f"{len(above)} of {len(EVERY)} rows")
