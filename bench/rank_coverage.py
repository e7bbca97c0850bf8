"""How often rank intervals hold a system's true rank, and how often equal systems are ranked apart.

    python bench/rank_coverage.py [--worlds N] [--resamples N] [--seed N] [--quick]

Five systems on the scored tasks of GLUE with labels (bench/worlds.py): the first two are alike, the third is
right in .01 fewer, and the last two, alike again, in .03 fewer. A system that is alike with another truly has
both their ranks, and an interval that holds one of them holds the truth. Goals: each rank interval in 93 % of
the worlds or more, all ranges that the tests leave together in 95 %, and at most 5.5 % of false alarms.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from calibration import ACCURACIES, Goal, Options, Row, Tally, main
from worlds import WHOLE, Rng, Systems

from gluebench.analysis.rank import rank
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.scoring import Gold
from gluebench.scoring.tags import Metadata
from gluebench.submission import Submission

SYSTEMS = {"a": (0.0, 1, 2), "b": (0.0, 1, 2), "c": (0.01, 3, 3), "d": (0.03, 4, 5), "e": (0.03, 4, 5)}
"""How much less often each is right, and its first and last true rank."""
ALIKE = (("a", "b"), ("d", "e"))


def draw(benchmark: Benchmark, accuracy: float, rng: Rng) -> tuple[Gold, dict[str, Submission]]:
    """Gold and submissions of one world."""
    accuracies = [accuracy - gap for gap, *_ in SYSTEMS.values()]
    sizes = {file.name: 45 if file.name == "WNLI" else file.size() for file in benchmark.files()}
    drawn = {name: Systems(name, n, accuracies).draw(rng)[WHOLE] for name, n in sizes.items()}
    gold = {name: pairs[0].gold for name, pairs in drawn.items()}
    groups = {name: Metadata(pairs[0].groups, {}) for name, pairs in drawn.items() if pairs[0].groups}
    answers = [{name: pairs[at].predicted for name, pairs in drawn.items()} for at in range(len(SYSTEMS))]
    return Gold(benchmark, "test", "", gold, {}, groups, partial=True), {
        name: Submission(benchmark, "test", "", "valid", (), columns)
        for name, columns in zip(SYSTEMS, answers, strict=True)
    }


def ranks(options: Options) -> Iterator[Row]:
    """Rank intervals and false alarms."""
    glue = load_benchmark("glue")
    glue = glue._replace(tasks=tuple(task for task in glue.scored if task.words))
    for accuracy in ACCURACIES:
        tallies = defaultdict(Tally)
        rng = np.random.default_rng([options.seed, round(1000 * accuracy)])
        for number in range(options.worlds):
            gold, submissions = draw(glue, accuracy, rng)
            ranking = rank(submissions, gold, resamples=options.resamples, seed=number)
            together = True
            for system in ranking.systems:
                _, first, last = SYSTEMS[system.name]
                tallies[f"rank of {system.name}"].interval(system.low - last, system.high - first, 0.0)
                together &= system.joint[0] <= last and system.joint[1] >= first
            tallies["all ranges"].interval(*((0, 0) if together else (1, 1)), 0.0)
            pairs = {frozenset((pair.a, pair.b)): pair for pair in ranking.pairs}
            alike = {names: pairs[frozenset(names)] for names in ALIKE}
            for names, pair in alike.items():
                tallies[f"{' and '.join(names)}"].worlds += 1
                tallies[f"{' and '.join(names)}"].significant += pair.p <= 0.05
            tallies["any such pair, after Holm"].worlds += 1
            tallies["any such pair, after Holm"].significant += any(
                each.adjusted <= 0.05 for each in alike.values()
            )
        for name, tally in tallies.items():
            goal = Goal((0.95, 1.0) if name == "all ranges" else (0.93, 1.0))
            yield f"{accuracy}, {name}", tally, goal if tally.given else Goal(None, (0.0, 0.055))


if __name__ == "__main__":
    sys.exit(main({"ranks": ranks}))
