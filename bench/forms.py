"""Worlds of made-up answers of every form, for the metrics that are not GLUE's; and the cost of each form.

    python bench/forms.py [--examples 1000] [--systems 100] [--rounds 3]

Prints ratios of CPU times to those of a column of four labels, taken in turn in the same run: of checking a
file for each form, of ranking many systems and of grading one with intervals for each metric. `--checks`
leaves out grading and ranking.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from material import interleaved, ratio
from worlds import WHOLE, Drawn, Floats, Rng, Truth

from gluebench.analysis.rank import rank
from gluebench.benchmark import Benchmark, Metric, load_benchmark
from gluebench.benchmark.metrics import FORMS, Form, names_of, needs, takes
from gluebench.scoring import Gold, grade
from gluebench.scoring.metrics import point
from gluebench.scoring.metrics.plain import pairs_of
from gluebench.scoring.pairs import Pairs
from gluebench.submission import Column, Submission, check
from gluebench.submission.write import write_submission

SIZE = 10_000
"""Units of a population, from which test sets are drawn with replacement."""
KINDS = ("PER", "LOC", "ORG", "MISC")
"""Types of entities."""


@dataclass(frozen=True)
class Population:
    """Units of one size, each with the answers of the systems."""

    metrics: Sequence[Metric]
    systems: Sequence[Pairs]
    n: int
    """Units of a test set."""
    each: int = 1
    """Examples of a unit."""

    def draw(self, rng: Rng) -> Drawn:
        """Units drawn one by one."""
        units = rng.integers(0, len(self.systems[0]) // self.each, self.n)
        at = (units[:, np.newaxis] * self.each + np.arange(self.each)).ravel().tolist()
        groups = tuple(np.repeat(np.arange(self.n), self.each).tolist()) if self.each > 1 else None
        return {WHOLE: [replace(pairs.subset(at), groups=groups) for pairs in self.systems]}

    def truth(self) -> Truth:
        """The scores of the population."""
        number = len(self.systems[0]) // self.each
        groups = tuple(np.repeat(np.arange(number), self.each).tolist()) if self.each > 1 else None
        whole = [replace(pairs, groups=groups) for pairs in self.systems]
        return {WHOLE: np.array([[point(metric, pairs).value for pairs in whole] for metric in self.metrics])}

    def of_one(self) -> Population:
        """The first system alone."""
        return replace(self, systems=self.systems[:1])

    def alike(self) -> Population:
        """Each unit twice, the second time with the two systems in each other's place."""
        gold, a, b = self.systems[0].gold, self.systems[0].predicted, self.systems[1].predicted
        return replace(
            self,
            systems=[Pairs(_joined(gold, gold), _joined(*answers)) for answers in ((a, b), (b, a))],
        )


def _joined(first: Column, second: Column) -> Column:
    return Column(first.labels, first.values + second.values)  # type: ignore[operator]


NUMBERS = {"f1_from": "3.0", **dict.fromkeys(names_of("ranking"), "5")}
"""What `positive` is for metrics that take a number."""


def metric(name: str, labels: tuple[str, ...] = ()) -> Metric:
    """The metric as a manifest names it."""
    positive = NUMBERS.get(name, *labels[:1]) if needs(name, "positive") else None
    scheme = "IOB2" if takes(name, "scheme") else ""
    return Metric(name, name, name, "F", positive, labels, scheme=scheme)


def words(number: int) -> tuple[str, ...]:
    """So many label words."""
    return tuple(f"l{at:02}" for at in range(number))


def of_labels(shares: Sequence[float], n: int, names: Sequence[str], *, each: int = 1) -> Population:
    """Two systems, .7 and .6 of whose answers are right and others near in the order, or anything."""
    rng, known = np.random.default_rng(0), words(len(shares))
    gold = rng.choice(len(shares), SIZE * each, p=np.array(shares) / sum(shares))

    def answers(right: float) -> bytes:
        anything = rng.choice(len(shares), SIZE * each, p=np.array(shares) / sum(shares))
        return bytes(np.where(rng.random(SIZE * each) < right, gold, anything).astype(np.uint8))

    column = Column(known, bytes(gold.astype(np.uint8)))
    systems = [Pairs(column, Column(known, answers(right))) for right in (0.7, 0.6)]
    return Population([metric(name, known) for name in names], systems, n, each)


def of_numbers(n: int, names: Sequence[str], *, heavy: bool) -> Population:
    """Ratings of 1 to 5, answered with normal errors or with errors of Student's t of 4 degrees."""
    rng = np.random.default_rng(1)
    gold = rng.choice([1.0, 2, 3, 4, 5], SIZE, p=[0.1, 0.1, 0.2, 0.35, 0.25])
    errors = [rng.standard_t(4, SIZE) if heavy else rng.normal(size=SIZE) for _ in range(2)]
    return _population("numbers", n, names, gold, *(gold + 0.8 * each for each in errors))


def of_sets(n: int) -> Population:
    """Eight labels, each of which half as many examples have as the one before."""
    rng, known = np.random.default_rng(2), words(8)
    table = rng.random((SIZE, 8)) < 0.6 * 0.7 ** np.arange(8)
    wrong = [rng.random((SIZE, 8)) < 0.1 for _ in range(2)]
    columns = [
        [[word for word, there in zip(known, row, strict=True) if there] for row in each]
        for each in (table, *(table ^ each for each in wrong))
    ]
    return _population("sets", n, names_of("sets"), *columns, labels=known)


def of_probabilities(n: int, form: Form) -> Population:
    """Three labels with probabilities that are true up to noise."""
    rng, known = np.random.default_rng(3), words(3)
    logits = rng.normal(0, 2, (SIZE, 3))
    noisy = [_softmax(logits + rng.normal(0, 1, (SIZE, 3))) for _ in range(2)]
    gold: Any = _softmax(logits)
    if form == "probabilities":
        gold = [known[rng.choice(3, p=row)] for row in gold]
    return _population(form, n, names_of(form), gold, *noisy, labels=known)


def _softmax(logits: Floats) -> Floats:
    shares: Floats = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return shares


def of_texts(n: int) -> Population:
    """Answers of one to four words, some of which are others."""
    rng, known = np.random.default_rng(4), words(30)
    gold = [list(rng.choice(known, rng.integers(1, 5))) for _ in range(SIZE)]

    def answers() -> list[str]:
        hard = rng.random(SIZE) < 0.5
        return [
            " ".join(rng.choice(known) if often and rng.random() < 0.5 else word for word in row)
            for row, often in zip(gold, hard, strict=True)
        ]

    return _population("text", n, names_of("text"), [" ".join(row) for row in gold], answers(), answers())


def of_tokens(n: int) -> Population:
    """Sentences of 5 to 25 tokens with entities of four types, two of them rare."""
    rng = np.random.default_rng(5)
    gold = [list(_sentence(rng)) for _ in range(SIZE)]

    def answers() -> list[list[str]]:
        return [["O" if rng.random() < 0.07 else tag for tag in row] if rng.random() < 0.7 else
                [str(rng.choice(["B-PER", "O", tag])) for tag in row] for row in gold]  # fmt: skip

    return _population("tokens", n, names_of("tokens"), gold, answers(), answers())


def _sentence(rng: Rng) -> Iterator[str]:
    for _ in range(rng.integers(3, 9)):
        kind = str(rng.choice(["O", *KINDS], p=[0.6, 0.2, 0.14, 0.04, 0.02]))
        yield from ("O", "O") if kind == "O" else (f"B-{kind}", *[f"I-{kind}"] * int(rng.integers(0, 3)))


def of_trees(n: int) -> Population:
    """Sentences of 5 to 20 words with eight relations, and answers with other heads and relations."""
    rng, known = np.random.default_rng(9), words(8)
    shares = 0.6 ** np.arange(8) / sum(0.6 ** np.arange(8))

    def label(size: int) -> str:
        return f"{rng.integers(0, size + 1)}:{rng.choice(known, p=shares)}"

    gold = [[label(size) for _ in range(size)] for size in rng.integers(5, 21, SIZE)]

    def answers() -> list[list[str]]:
        return [[label(len(row)) if rng.random() < 0.2 else own for own in row] for row in gold]

    return _population("dependencies", n, names_of("dependencies"), gold, answers(), answers(), labels=known)


def of_spans(n: int) -> Population:
    """No to three spans of two labels in each text, with ends that are moved and spans that are missed."""
    rng = np.random.default_rng(6)

    def spans() -> list[tuple[int, int, str]]:
        starts = rng.integers(0, 200, rng.integers(0, 4))
        return [(int(at), int(at + rng.integers(5, 30)), str(rng.choice(["x", "y"]))) for at in starts]

    def moved(row: Sequence[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
        kept = [span for span in row if rng.random() < 0.8]
        spans = [
            (start, end + int(rng.integers(0, 12)) * int(rng.integers(0, 2)), label)
            for start, end, label in kept
        ]
        return [*dict.fromkeys(spans)]

    gold = [spans() for _ in range(SIZE)]
    names = [name for name in names_of("spans") if name != "span_spearman"]
    return _population("spans", n, names, gold, list(map(moved, gold)), list(map(moved, gold)))


def of_weights(n: int) -> Population:
    """The spans of `of_spans` with weights as labels, and gold with a span of weight 0 over the text."""
    rng, plain = np.random.default_rng(8), of_spans(n)

    def weighed(rows: Column, *, whole: bool) -> list[list[tuple[int, int, str]]]:
        text = [(0, 240, "0")] * whole
        return [
            text
            + [(*ends, f"{rng.integers(1, 11) / 10:g}") for ends in dict.fromkeys(span[:2] for span in row)]
            for row in rows.cells
        ]

    first, second = (pairs.predicted for pairs in plain.systems)
    gold = weighed(plain.systems[0].gold, whole=True)
    answers = [weighed(column, whole=False) for column in (first, second)]
    return _population("spans", n, ["span_spearman"], gold, *answers)


def of_rankings(n: int) -> Population:
    """Ten items in each query, one in four relevant, ranked by gain and noise."""
    rng, items = np.random.default_rng(7), words(10)
    gains = rng.choice([0.0, 1, 2], (SIZE, 10), p=[0.75, 0.15, 0.1])
    gold = [dict(zip(items, row, strict=True)) for row in gains]
    orders = [np.argsort(-gains + rng.normal(0, 1, gains.shape), axis=1) for _ in range(2)]
    ranked = [[[items[at] for at in row] for row in order] for order in orders]
    return _population("ranking", n, names_of("ranking"), gold, *ranked)


def of_relations(n: int) -> Population:
    """No to three relations in a sentence of 20 words, of which some are missed or moved."""
    rng, tags = np.random.default_rng(9), ("ARG0", "ARG1", "SIG")

    def places() -> list[int]:
        return sorted(map(int, rng.choice(20, 6, replace=False)))

    def moved(row: list[list[int]]) -> list[list[int]]:
        kept = [each for each in row if rng.random() < 0.9]
        return [places() if rng.random() < 0.2 else _nudged(each, rng) for each in kept]

    def sentence(places: Sequence[int]) -> str:
        marked = [f"w{at}" for at in range(20)]
        for tag, start, end in zip(tags, places[::2], places[1::2], strict=True):
            marked[start], marked[end] = f"<{tag}>w{start}", f"w{end}</{tag}>"
        return " ".join(marked)

    gold = [[places() for _ in range(rng.choice(4, p=[0.2, 0.5, 0.2, 0.1]))] for _ in range(SIZE)]
    columns = [
        [[*map(sentence, row)] for row in side] for side in (gold, *(map(moved, gold) for _ in range(2)))
    ]
    return _population("relations", n, names_of("relations"), *columns, labels=tags)


def _nudged(places: list[int], rng: Rng) -> list[int]:
    """Six places, of which the last may be one further on."""
    return [*places[:-1], min(places[-1] + int(rng.integers(0, 2)), 19)]


def _population(
    form: Form, n: int, names: Sequence[str], gold: Any, *answers: Any, labels: tuple[str, ...] = ()
) -> Population:
    systems = [pairs_of(form, gold, each, labels=labels) for each in answers]
    return Population([metric(name, labels) for name in names], systems, n)


ZIPF = tuple(1 / (at + 1) for at in range(15))
"""Shares of fifteen labels, the rarest 2 % of the examples."""
OF_LABELS = tuple(name for name in names_of("labels") if not name.startswith("group") and name != "accuracy")
OF_NUMBERS = tuple(name for name in names_of("numbers") if name not in ("pearson", "spearman"))
WORLDS: dict[str, Callable[[int], Population]] = {
    "3 labels": lambda n: of_labels((0.45, 0.3, 0.25), n, OF_LABELS),
    "15 labels": lambda n: of_labels(ZIPF, n, OF_LABELS),
    "groups of 5": lambda n: of_labels((0.6, 0.4), n, ("f1", "group_exact_match", "group_agreement"), each=5),
    "numbers": lambda n: of_numbers(n, OF_NUMBERS, heavy=False),
    "numbers, heavy tails": lambda n: of_numbers(n, OF_NUMBERS, heavy=True),
    "sets": of_sets,
    "probabilities": lambda n: of_probabilities(n, "probabilities"),
    "distributions": lambda n: of_probabilities(n, "distributions"),
    "text": of_texts,
    "tokens": of_tokens,
    "dependencies": of_trees,
    "spans": of_spans,
    "weighted spans": of_weights,
    "ranking": of_rankings,
    "relations": of_relations,
}
"""Name to a world of test sets of a size."""
SIZES = (50, 200, 1000)


def worlds_of_sizes() -> Iterator[tuple[str, Population]]:
    """Every world at every size."""
    return chain.from_iterable(((f"{name} {n}", make(n)) for n in SIZES) for name, make in WORLDS.items())


TIMED: dict[str, Callable[[int], Population]] = {
    "labels": lambda n: of_labels((0.4, 0.3, 0.2, 0.1), n, ["macro_f1"]),
    **{form: WORLDS[form] for form in FORMS if form in WORLDS},
    "weighted spans": of_weights,
}
"""Form to its world; the first is what the others are compared with."""
TAGS = ("O", *(f"{prefix}-{kind}" for kind in KINDS for prefix in "BI"))
Timed = tuple[str, Callable[[], object]]


def benchmark_of(name: str, named: Metric, size: int, folder: Path) -> Benchmark:
    """A benchmark of one task and one metric."""
    form = name.rpartition(" ")[2]
    labels = {"tokens": TAGS, "spans": ("x", "y")}.get(name, named.labels)
    known = f"labels = {json.dumps(labels)}" if labels else "score_range = [-9, 15]" * (form == "numbers")
    positive = f', positive = "{named.positive}"' if named.positive else ""
    path = folder / "benchmark.toml"
    path.write_text(
        f'[benchmark]\nname = "timed"\n[tasks.T]\nform = "{form}"\n{known}\n'
        f'metrics = [{{ name = "{named.name}"{positive} }}]\nsplits.test.size = {size}\n'
    )
    return load_benchmark(path)


def mixed(form: str, population: Population, rng: Rng) -> Column:
    """Answers of one of the two systems, of which one in ten is that of another example."""
    n = population.n
    moved = (rng.random(n) < 0.1) & (form not in ("tokens", "dependencies"))
    rows = np.where(moved, rng.permutation(n), np.arange(n))
    both = _joined(*(pairs.predicted for pairs in population.systems))
    return replace(both.take((rows + SIZE * rng.integers(0, 2, n)).tolist()), indices=None)


def timed(
    form: str, systems: int, population: Population, folder: Path, *, ranked: bool = True
) -> Iterator[Timed]:
    """What is timed of a form: checking a file, and grading and ranking by each metric."""
    rng, size = np.random.default_rng(0), population.n
    folder.mkdir()
    benchmark = benchmark_of(form, population.metrics[0], SIZE, folder)
    write_submission(folder / "all.zip", {"T": population.systems[0].predicted}, benchmark)
    with zipfile.ZipFile(folder / "all.zip") as archive:
        archive.extractall(folder / "all")
    yield f"check {form}", lambda: check(folder / "all", benchmark)
    if not ranked:
        return
    columns = {str(at): {"T": mixed(form, population, rng)} for at in range(systems)}
    labels = replace(population.systems[0].gold.take(range(size)), indices=None)
    for named in population.metrics:
        part = benchmark_of(form, named, size, folder)
        gold = Gold(part, "test", "made up", {"T": labels}, {}, {}, partial=False)
        read = {name: Submission(part, "test", name, "valid", (), each) for name, each in columns.items()}
        yield f"grade {named.name}", partial(grade, read["0"], gold)
        yield f"rank {named.name}", partial(rank, read, gold)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--systems", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--checks", action="store_true", help="time checking alone")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        firsts: dict[str, Callable[[], object]] = {}
        for form, make in TIMED.items():
            folder, ranked = Path(name, form), not options.checks
            for what, work in timed(form, options.systems, make(options.examples), folder, ranked=ranked):
                first = firsts.setdefault(what.split()[0], work)
                seconds = interleaved({"labels": first, "form": work}, options.rounds)
                times = ratio(seconds, "form", "labels")
                milliseconds = 1000 * statistics.median(seconds["form"])
                print(f"{what:28} {milliseconds:8.1f} ms CPU   times labels {times:6.2f}", flush=True)


if __name__ == "__main__":
    main()
