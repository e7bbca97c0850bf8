"""How often rank intervals hold a system's true rank, and how often equal systems are ranked apart.

    python bench/rank_coverage.py [--worlds N] [--resamples N] [--seed N] [--quick]

Five systems on the scored tasks of GLUE, in the worlds of bench/differences.py: the first two are alike, the
third is right in .01 fewer, and the last two, alike again, in .03 fewer. A system that is alike with another
truly has both their ranks, and an interval that holds one of them holds the truth. Wanted: each interval of
`rank` in 93 % of the worlds or more; all ranges that the tests leave, together, in 95 %; and at most 5.5 % of
false alarms, before Holm for a pair that is alike, after it for any such pair of the board.
docs/design/differences.md says what was seen.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from intervals import ACCURACIES, made_up_diagnostic
from material import world_options
from together import Several

from gluebench.analysis import rank
from gluebench.benchmark import load_benchmark

GAPS = (0.0, 0.01, 0.03, 0.03)
RANKS = {"a": (1, 2), "b": (1, 2), "c": (3, 3), "d": (4, 5), "e": (4, 5)}
"""First and last of the true ranks of a system."""
ALIKE = (("a", "b"), ("d", "e"))
ALARM = 0.05
FALSE, HOLDS, TOGETHER = "equals apart", "holds", "all told ranges"


def simulate(several: Several, accuracy: float, *, worlds: int, resamples: int, seed: int) -> Counter[str]:
    """Counts over the worlds: intervals that hold, by system; told ranges that all hold; false alarms."""
    found: Counter[str] = Counter()
    rng = np.random.default_rng([seed, round(accuracy * 1000)])
    for number in range(worlds):
        gold, submissions = several.draw(accuracy, GAPS, rng)
        ranking = rank(dict(zip(RANKS, submissions, strict=True)), gold, resamples=resamples, seed=number)
        told = True
        for system in ranking.systems:
            first, last = RANKS[system.name]
            assert system.low is not None
            assert system.high is not None
            assert system.told is not None
            found[f"{HOLDS} {system.name}"] += system.low <= last and system.high >= first
            found["width"] += system.high - system.low + 1
            told &= system.told[0] <= last and system.told[1] >= first
        found[TOGETHER] += told
        pairs = {frozenset((pair.a, pair.b)): pair for pair in ranking.pairs}
        alike = {f"{a} {b}": pairs[frozenset((a, b))] for a, b in ALIKE}
        for names, pair in alike.items():
            found[f"{FALSE}, {names}"] += pair.p < ALARM
        found[f"{FALSE}, any, Holm"] += any(pair.adjusted < ALARM for pair in alike.values())
    return found


def missed(name: str, share: float) -> bool:
    """Whether a row of the table misses its goal."""
    if name.startswith(FALSE):
        return share > 0.055
    return share < (0.95 if name == TOGETHER else 0.93)


def main() -> int:
    options = world_options(__doc__, quick=50).parse_args()
    glue = load_benchmark("glue")
    rng = np.random.default_rng(options.seed)
    diagnostic = made_up_diagnostic(glue, rng)  # not drawn: it has no rank
    several = Several(glue._replace(tasks=glue.scored), diagnostic)
    start = time.process_time()
    tallies = {
        accuracy: simulate(
            several, accuracy, worlds=options.worlds, resamples=options.resamples, seed=options.seed
        )
        for accuracy in ACCURACIES
    }
    rows = [f"{HOLDS} {name}" for name in RANKS] + [TOGETHER]
    rows += [f"{FALSE}, {a} {b}" for a, b in ALIKE] + [f"{FALSE}, any, Holm"]
    print(f"{'':24}" + "".join(f"{accuracy:>10}" for accuracy in ACCURACIES))
    for row in rows:
        shares = [tally[row] / options.worlds for tally in tallies.values()]
        print(f"{row:24}" + "".join(f"{share:>9.1%}{'*' if missed(row, share) else ' '}" for share in shares))
    widths = (tally["width"] / options.worlds / len(RANKS) for tally in tallies.values())
    print(f"{'mean width, in ranks':24}" + "".join(f"{width:>9.2f} " for width in widths))
    spent = time.process_time() - start
    print(
        f"{options.worlds} worlds each, {options.resamples} resamples, {spent:.0f} s CPU; * misses its goal"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
