"""Coverage of averages over classes with rare classes, and the cost of areas and taus of many rows.

    python bench/rare.py [--worlds 200] [--rows 1000000]

Each line has the share of the worlds in which the interval holds the value of the population, of those that
have one. The goal is 92 % or more. Times are CPU times, beside a sort of as many numbers in the same run.
"""

from __future__ import annotations

import argparse
import time
from array import array
from collections.abc import Iterator

import numpy as np
from forms import metric, words

from gluebench.benchmark import Metric
from gluebench.scoring.inference import file_intervals
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.numeric import Floats
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column

SIZE = 8000
RAREST = (0.01, 0.02, 0.05)
SIZES = (50, 100, 200, 500, 1000)
World = tuple[list[Metric], Pairs]


def shares(classes: int, rarest: float) -> np.ndarray:
    """Shares that fall geometrically to the rarest."""
    low, high = rarest, 1.0
    for _ in range(60):  # the share of the first, so that all add up to 1
        first = (low + high) / 2
        if np.geomspace(first, rarest, classes).sum() < 1:
            low = first
        else:
            high = first
    falling = np.geomspace(low, rarest, classes)
    scaled: Floats = falling / falling.sum()
    return scaled


def of_labels(rarest: float, *, classes: int, right: float) -> World:
    """Labels of which a share is right and the others are drawn like gold."""
    rng, known = np.random.default_rng(0), words(classes)
    gold, anything = rng.choice(classes, (2, SIZE), p=shares(classes, rarest)).astype(np.uint8)
    answers = np.where(rng.random(SIZE) < right, gold, anything)
    names = ("macro_f1", "macro_f1_all", "macro_precision", "macro_recall")
    pairs = Pairs(Column(known, gold.tobytes()), Column(known, answers.tobytes()))
    return [metric(name, known) for name in names], pairs


def of_sets(rarest: float) -> World:
    """Sets of eight labels, whose answers have six of ten and some others."""
    rng, known = np.random.default_rng(1), words(8)
    often = np.geomspace(0.5, rarest, 8)
    gold = rng.random((SIZE, 8)) < often
    answers = np.where(gold, rng.random((SIZE, 8)) < 0.6, rng.random((SIZE, 8)) < 0.3 * often)
    columns = [[[known[at] for at in np.flatnonzero(row)] for row in side] for side in (gold, answers)]
    return [metric("sets_macro_f1", known)], pairs_of("sets", *columns, labels=known)


def of_entities(rarest: float, *, classes: int) -> World:
    """Sentences with one to three entities, seven of ten found, the others missed or of any type."""
    rng, types = np.random.default_rng(4), words(classes)
    often = shares(classes, rarest)
    gold, answers = list[list[str]](), list[list[str]]()
    for _ in range(SIZE):
        sentence, answer = list[str](), list[str]()
        for _ in range(rng.integers(1, 4)):
            own, other = (f"B-{types[at]}" for at in rng.choice(classes, 2, p=often))
            sentence += ["O", own]
            answer += ["O", rng.choice([own, "O", other], p=[0.7, 0.15, 0.15])]
        gold.append(sentence)
        answers.append(answer)
    tags = ("O", *(f"B-{word}" for word in types))
    names = ("entity_macro_f1", "token_macro_f1", "token_label_macro_f1")
    return [metric(name, tags) for name in names], pairs_of("tokens", gold, answers)


def of_ratings(rarest: float) -> World:
    """Ratings of 1 to 5, the lowest of which are rare and hard."""
    rng = np.random.default_rng(2)
    gold = rng.choice([5.0, 4, 3, 2, 1], SIZE, p=shares(5, rarest))
    answers = gold + 0.5 * rng.normal(size=SIZE) * (1 + (gold < 3))
    return [metric("neg_wmae")._replace(score_range=(1.0, 5.0))], pairs_of(
        "numbers", gold.tolist(), answers.tolist()
    )


def of_probabilities(rarest: float) -> World:
    """Three labels with probabilities that point to gold."""
    rng, known = np.random.default_rng(3), words(3)
    gold = rng.choice(3, SIZE, p=shares(3, rarest))
    logits = np.log(shares(3, rarest)) + 1.5 * np.eye(3)[gold] + rng.normal(size=(SIZE, 3))
    given = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    metrics = [metric(name, known) for name in ("macro_average_precision", "macro_pr_auc")]
    metrics.append(Metric("roc_auc", "roc_auc", "AUC", "F", known[-1], known))
    labels = [known[code] for code in gold]
    return metrics, pairs_of("probabilities", labels, given.tolist(), labels=known)


def worlds() -> Iterator[tuple[str, World]]:
    """All worlds by name."""
    for rarest in RAREST:
        for classes in (2, 3, 5, 15):
            for right in (0.7, 0.95):
                yield (
                    f"{classes} labels, {right} right, {rarest}",
                    of_labels(rarest, classes=classes, right=right),
                )
        for classes in (2, 4, 8):
            yield f"{classes} entity types, {rarest}", of_entities(rarest, classes=classes)
        yield f"sets, {rarest}", of_sets(rarest)
        yield f"ratings, {rarest}", of_ratings(rarest)
        yield f"probabilities, {rarest}", of_probabilities(rarest)


def coverage(world: World, n: int, number: int) -> Iterator[str]:
    """A line for each metric: coverage, and the share of the worlds with an interval."""
    metrics, population = world
    truth = [point(each, population).value for each in metrics]
    rng, held = np.random.default_rng(n), [list[bool]() for _ in metrics]
    for _ in range(number):
        drawn = population.subset(rng.integers(0, SIZE, n).tolist())
        bars = file_intervals(metrics, drawn, [point(each, drawn) for each in metrics])
        for own, value, bar in zip(held, truth, bars, strict=False):
            if bar.low is not None and bar.high is not None:
                own.append(bar.low <= value <= bar.high)
    for each, own in zip(metrics, held, strict=True):
        covered = f"{100 * np.mean(own):5.1f}" if own else "    -"
        yield f"{n:5} {each.name:24} {covered}  given {100 * len(own) / number:3.0f} %"


def timed(rows: int) -> None:
    """CPU time of value and interval of areas and taus, beside that of a sort."""
    rng = np.random.default_rng(0)
    gold, scores = rng.normal(size=rows), rng.normal(size=rows)
    start = time.process_time()
    np.argsort(scores)
    sort = time.process_time() - start
    answers = gold + scores
    numbers = Pairs(Column((), array("d", gold.tobytes())), Column((), array("d", answers.tobytes())))
    likely = 1 / (1 + np.exp(-(gold + scores)))
    codes = Column(("a", "b"), (gold > 0).astype(np.uint8).tobytes())
    shares_of = Pairs(codes, Column((), tuple((1 - share, share) for share in likely.tolist())))
    for name, pairs in (("kendall", numbers), ("roc_auc", shares_of), ("macro_pr_auc", shares_of)):
        each = Metric(name, name, name, "F", "b" if name == "roc_auc" else None, ("a", "b"))
        start = time.process_time()
        file_intervals([each], pairs, [point(each, pairs)])
        seconds = time.process_time() - start
        print(f"{name:14} {rows:,} rows: {seconds:5.1f} s CPU, {seconds / sort:5.1f} sorts   goal <= 10 s")


def main() -> None:
    """Print all lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    timed(options.rows)
    for name, world in worlds():
        for n in SIZES:
            for line in coverage(world, n, options.worlds):
                print(f"{name:30} {line}", flush=True)


if __name__ == "__main__":
    main()
