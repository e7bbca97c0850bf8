"""The sample's generator: the same from the same seed, labels from every state of affairs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from random import Random

import pytest

from gluebench.benchmark import Benchmark
from gluebench.data.sample import ARCHIVE, SEED
from sample.archive import pack, tables, task_files
from sample.frame import Dealer, Row, Shelf, normalized
from sample.logic import Draft, block, label
from sample.scenes import Claim, Deed, Scene
from sample.scenes import label as label_of_scene
from sample.statements import FAMILIES, Writer
from sample.tasks import generate
from sample.world import CATEGORIES, DEEDS, DEEDS_ON, a, verb

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
@pytest.mark.parametrize("fresh", [False, True])
def test_a_premise_of_each_label_is_found_and_no_statement_is_its_own_premise(
    family: Callable[[Writer], Draft], fresh: bool
) -> None:
    rng = Random(3)
    blocks = (block(rng, family(Writer(rng, fresh))) for _ in range(2000))
    rows = next(filter(None, blocks))
    assert [row.label for row in rows] == ["entailment", "neutral", "contradiction"]
    assert len({row.inputs[1] for row in rows}) == 1
    assert all(row.inputs[0] != row.inputs[1] for row in rows)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_statement_entails_what_is_true_in_every_state_in_which_it_is(
    family: Callable[[Writer], Draft],
) -> None:
    """Worked out again state by state."""
    rng = Random(5)
    found = set()
    for _ in range(30):
        draft = family(Writer(rng, False))
        for clause in draft.clauses:
            made = label(draft, clause)
            if made is None:
                continue
            truths = [
                draft.hypothesis.said.fact(state, *draft.hypothesis.at)
                for state in draft.states
                if clause.said.fact(state, *clause.at)
            ]
            assert made == ("entailment" if all(truths) else "neutral" if any(truths) else "contradiction")
            found.add(made)
    assert len(found) == 3


SCENE = Scene("shopping", "Anna", "she", Deed("coat", "red", "", "on Monday"), {0: True, 1: False})


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        (Claim(None, {0: True}), "entailment"),
        (Claim(None, {0: True, 1: False}), "entailment"),
        (Claim(None, {1: True}), "contradiction"),
        (Claim(None, {0: True, 5: True}), "neutral"),
        (Claim(None, {0: False, 5: True}), "contradiction"),
        (Claim(Deed("coat", "", "", ""), {}), "entailment"),
        (Claim(Deed("garment", "", "", "on Monday"), {}), "entailment"),
        (Claim(Deed("coat", "", "", "on Monday"), {}, denied=True), "contradiction"),
        (Claim(Deed("coat", "", "at the mall", ""), {}), "neutral"),
        (Claim(Deed("coat", "", "at the mall", ""), {}, denied=True), "neutral"),
        (Claim(Deed("coat", "", "", "on Friday"), {}, same=True), "contradiction"),
        # there may have been another coat
        (Claim(Deed("coat", "", "", "on Friday"), {}), None),
        (Claim(Deed("hat", "", "", ""), {}), None),
    ],
)
def test_what_a_scene_says_of_a_claim_by_hand(claim: Claim, expected: str | None) -> None:
    assert label_of_scene(SCENE, claim) == expected


def test_an_instrument_may_be_a_violin_or_not() -> None:
    vague = SCENE._replace(deed=Deed("garment", "", "", ""))
    assert label_of_scene(vague, Claim(Deed("coat", "", "", ""), {})) == "neutral"


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
