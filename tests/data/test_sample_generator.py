"""The sample's generator: the same from the same seed, labels from every state, blocks that look alike."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.resources import files
from itertools import product
from pathlib import Path
from random import Random

import pytest

from gluebench.benchmark import Benchmark
from gluebench.data.sample import ARCHIVE, SEED
from sample.amounts import _groups
from sample.archive import pack, tables, task_files
from sample.families import FAMILIES
from sample.frame import Dealer, Row, Shelf, even, normalized, shape
from sample.logic import Draft, Judge, crossed, singles
from sample.style import Style
from sample.tasks import generate
from sample.world import CATEGORIES, DEEDS, DEEDS_ON, OPPOSITES, a, verb

QUICK = ("WNLI", "SST-2")


@pytest.mark.parametrize("name", QUICK)
def test_a_task_is_shipped_as_the_generator_makes_it(
    sample: Benchmark, sample_folder: Path, name: str
) -> None:
    task = sample.task(name)
    for path, text in task_files(task, generate(task, SEED)).items():
        assert (sample_folder / path).read_text("utf-8") == text, path


@pytest.mark.slow
def test_the_shipped_file_is_made_again_from_its_seed() -> None:
    assert pack(tables(SEED)) == files("gluebench.data.sample").joinpath(ARCHIVE).read_bytes()


def test_hashing_does_not_change_what_is_made_and_another_seed_does(sample: Benchmark) -> None:
    code = (
        "from gluebench.benchmark import load_benchmark\n"
        "from sample.tasks import generate\n"
        "print(generate(load_benchmark('sample').task('WNLI'), 1))"
    )
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join([root, *sys.path])}
    made = subprocess.run(
        [sys.executable, "-c", code], check=True, env=environment, capture_output=True, text=True
    )
    task = sample.task("WNLI")
    assert made.stdout == f"{generate(task, 1)}\n"
    assert generate(task, 1) != generate(task, 2)


def test_an_archive_does_not_depend_on_the_order_of_its_files() -> None:
    assert pack({"b": "2", "a": "1"}) == pack({"a": "1", "b": "2"}) != pack({"a": "1", "b": "3"})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_label_is_what_the_hypothesis_is_in_every_state_of_the_premise(family: object) -> None:
    """Worked out again state by state; where readings disagree, there is no label."""
    rng = Random(5)
    for _ in range(12):
        draft = family(rng, Style(False), 3)  # type: ignore[operator]
        places = rng.sample(range(len(draft.fillers)), len(draft.fillers))
        assert Judge(draft).label(places) == by_hand(draft, places)


def by_hand(draft: Draft, places: list[int]) -> str | None:
    labels = set()
    asked = set(draft.hypothesis.at)
    placed = [(clause.said, [places[at] for at in clause.at]) for clause in draft.clauses]
    placed = [(said, ids) for said, ids in placed if not draft.apart or asked & set(ids)]
    for facts in product(*(said.readings for said, _ in placed)):
        left = [
            state
            for state in draft.states
            if all(fact(state, *ids) for fact, (_, ids) in zip(facts, placed, strict=True))
        ]
        for claim in draft.hypothesis.said.readings:
            truths = [claim(state, *draft.hypothesis.at) for state in left]
            if not truths:
                return None
            labels.add("entailment" if all(truths) else "neutral" if any(truths) else "contradiction")
    return labels.pop() if len(labels) == 1 else None


@pytest.mark.parametrize("family", FAMILIES)
def test_premises_of_a_block_have_the_same_shape_and_one_label_each(family: object) -> None:
    rng = Random(3)
    blocks = (crossed(rng, family(rng, Style(False), 4)) for _ in range(2000))  # type: ignore[operator]
    rows = next(filter(None, blocks))
    assert [row.label for row in rows] == ["entailment", "neutral", "contradiction"]
    assert len({row.inputs[1] for row in rows}) == 1
    assert even(rows)
    short = (singles(rng, family(rng, Style(False), 6)) for _ in range(2000))  # type: ignore[operator]
    rows = next(filter(None, short))
    assert {row.label for row in rows} == {"entailment", "neutral", "contradiction"}


def test_shapes_by_hand() -> None:
    first, second = "No cat saw the old dog.", "The old dog saw no cat, or none."
    # lengths, longest run ("the old dog"), words, pairs, triples, negations
    assert shape(first, second) == (6, 8, 3, 6, 3, 1, 1, 2)
    assert shape(first, first) == (6, 6, 6, 6, 5, 4, 1, 1)
    assert shape(first, second, close=True)[8:11] == (3, 0, 3)
    assert even([Row((first, second), "0"), Row((first, second), "1")])
    assert not even([Row((first, second), "0"), Row((first, first), "1")])


def test_case_and_punctuation_do_not_make_a_new_example() -> None:
    assert normalized(["A cat, sat."]) == normalized(["a CAT sat"]) != normalized(["a cat sits"])
    shelf = Shelf(Random(0))
    rows = iter([[Row(("One.",), "1")], [Row(("one",), "0")], [Row(("Two.",), "0")]])
    assert [row.inputs for row in shelf.draw(lambda: next(rows), 2)] == [("One.",), ("Two.",)]


def test_a_block_that_does_not_fit_or_repeats_itself_is_refused() -> None:
    rows = [Row(("one",), "1"), Row(("two",), "0")]
    with pytest.raises(ValueError, match="do not divide 1"):
        Shelf(Random(0)).fill(lambda: rows, 1)
    with pytest.raises(ValueError, match="only 2 of 4"):
        Shelf(Random(0)).fill(lambda: rows, 4)


def test_a_long_list_is_dealt_once_before_a_word_comes_again() -> None:
    words = [str(number) for number in range(40)]
    rng = Dealer("seed")
    assert sorted(rng.choice(words) for _ in words) == sorted(words)
    dealt = [word for _ in range(10) for word in rng.sample(words, 4)]
    assert sorted(dealt) == sorted(words)
    assert Dealer("seed").choice(words) == Dealer("seed").choice(words)
    assert [rng.sample(words, 0) for _ in words] == [[] for _ in words]


@pytest.mark.parametrize("fresh", [False, True])
def test_no_statement_gives_a_thing_two_qualities_that_exclude_each_other(fresh: bool) -> None:
    rng = Dealer("qualities")
    for _ in range(400):
        groups, predicate = _groups(rng, Style(fresh), 3)
        assert not any(frozenset((mark, predicate)) in OPPOSITES for mark in groups[0].part.split()[:1])


def test_every_word_has_its_forms_and_every_thing_something_to_do_with_it() -> None:
    assert verb("stop") == ("stop", "stops", "stopped", "stopped", "stopping")
    assert verb("carry") == ("carry", "carries", "carried", "carried", "carrying")
    assert verb("write/wrote/written") == ("write", "writes", "wrote", "written", "writing")
    assert [a(word) for word in ("owl", "union", "honest man", "violin", "ukulele")] == [
        *("an owl", "a union", "an honest man", "a violin", "a ukulele")
    ]
    groups = {group for category in CATEGORIES.values() for group in category.groups}
    assert all(set(deed.groups) <= groups for deed in DEEDS)
    assert all(len(deeds) >= 3 for deeds in DEEDS_ON.values())
    names = [kind.name for category in CATEGORIES.values() for kind in category.kinds]
    assert len(set(names)) == len(names)
