"""Challenge sets: what the grammar makes, what the rules leave alone, and the way from failures to a file."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from gluebench.analysis.challenge.item import Item, keep_failures, read_items, score, write_items
from gluebench.analysis.challenge.rules import (
    CASES,
    EDITS,
    MOST,
    SHORTCUTS,
    change_names,
    perturb,
    sentence_pairs,
    shortcuts,
)
from gluebench.benchmark import UnknownNameError, load_benchmark
from gluebench.data import DataError, Example
from gluebench.data.lint_diagnostic import lint, read_diagnostic
from gluebench.data.tokens import words

SAMPLE = load_benchmark("sample")
MNLI, RTE, AX, SST = (SAMPLE.task(name) for name in ("MNLI", "RTE", "AX", "SST-2"))
BY_NAME = {edit.name: edit.change for edit in EDITS}


def runs(words_of: list[str], size: int) -> list[list[str]]:
    return [words_of[at : at + size] for at in range(len(words_of) - size + 1)]


def test_every_shortcut_leads_to_yes_whatever_the_label():
    for item in shortcuts(MNLI, per_case=5, seed=3):
        premise, hypothesis = map(words, item.inputs)
        assert not Counter(hypothesis) - Counter(premise), item
        if not item.case.startswith(SHORTCUTS[0]):
            assert hypothesis in runs(premise, len(hypothesis)), item


def test_shortcuts_are_drawn_by_seed_and_premises_do_not_come_twice_in_a_case():
    items = shortcuts(MNLI, per_case=MOST)
    assert len(items) == MOST * len(CASES)
    assert len({(item.case, item.inputs[0]) for item in items}) == len(items)
    assert (
        shortcuts(MNLI, per_case=4, seed=1)
        == shortcuts(MNLI, per_case=4, seed=1)
        != shortcuts(MNLI, per_case=4)
    )
    with pytest.raises(ValueError, match="301"):
        shortcuts(MNLI, per_case=301)


def test_words_do_not_tell_the_label_of_a_shortcut():
    """Whatever word stands in an entailed hypothesis stands in others that are not."""
    items = shortcuts(MNLI, per_case=20)
    yes, no = (
        Counter(
            word for item in items if (item.label == "entailment") is label for word in words(item.inputs[1])
        )
        for label in (True, False)
    )
    assert set(yes) - set(no) == set()


def test_a_task_of_two_labels_has_not_entailment_for_both_others():
    labels = {(item.label, item.accepted) for item in shortcuts(RTE, per_case=1)}
    assert labels == {("entailment", ("entailment",)), ("not_entailment", ("not_entailment",))}
    with pytest.raises(DataError, match="SST-2: expected an inference task"):
        shortcuts(SST)


def test_a_rule_changes_what_it_can_and_leaves_the_rest():
    cases = [
        ("negation added", "The ferry is late.", "The ferry is not late."),
        ("negation added", "They can swim.", "They cannot swim."),
        ("negation added", "The miller greeted the potter.", "The miller did not greet the potter."),
        ("negation added", "A ferry is late.", None),
        ("negation added", "The ferry is always late.", None),
        ("negation added", "The ferry is late and the tram is full.", None),
        ("negation added", "Is the ferry late?", None),
        ("negation added", "All ferries are late.", None),
        ("negation removed", "The ferry isn't late.", "The ferry is late."),
        ("negation removed", "They can't swim.", "They can swim."),
        ("negation removed", "He did not pass the test.", "He passed the test."),
        ("negation removed", "Not all ferries are late.", None),
        ("negation removed", "The ferry is not often late.", None),
        ("active to passive", "Anna rescued the old miller.", "The old miller was rescued by Anna."),
        ("active to passive", "The miller greeted the potters.", None),
        ("active to passive", "The miller greeted the potter yesterday.", None),
        ("active to passive", "The miller greeted the women.", None),
        ("passive to active", "The old miller was rescued by Anna.", "Anna rescued the old miller."),
        ("framed as true", "The ferry is late.", "It is true that the ferry is late."),
        ("framed as true", "Ferries are late.", None),
        ("framed as true", "The kind of ferry that is never late.", None),
        ("truism added", "A long, slow ferry.", None),
        ("truism added", "The ferry is late.", "The ferry is late, and a week has seven days."),
        ("truism added", "Is it late?", None),
    ]
    assert [(rule, old, BY_NAME[rule](old)) for rule, old, _ in cases] == cases


def test_names_change_alike_in_both_texts_and_keep_their_gender():
    new = change_names(("Anna met Carl's aunt.", "Carl's aunt met Anna."), Random(1))
    assert new is not None
    one, two = new
    assert two == " ".join([*one.split()[2:4], "met", one.split()[0] + "."]).replace("aunt.", "aunt")
    assert not {"Anna", "Carl"} & set(words(one + two))
    assert change_names(("Nobody came.",), Random(1)) is None


def test_labels_follow_what_a_rule_says():
    examples = [
        Example(
            7, {"premise": "The ferry is two hours late.", "hypothesis": "The ferry is late."}, "entailment"
        ),
        Example(8, {"premise": "Anna came by tram.", "hypothesis": "The tram was full."}, "neutral"),
    ]
    items = perturb(MNLI, examples)
    labels = {(item.case, item.set): (item.label, item.backward) for item in items}
    assert labels["original", "MNLI-7"] == ("entailment", "")
    assert labels["negation added", "MNLI-7"] == ("contradiction", "contradiction")
    assert labels["negation added", "MNLI-8"][0] == "neutral"
    assert labels["framed as true", "MNLI-7"] == ("entailment", "")
    assert labels["names changed", "MNLI-8"][0] == "neutral"
    assert all(item.source is None or items[item.source].set == item.set for item in items)


def test_the_other_direction_is_known_where_the_examples_have_it():
    one, two = "The ferry is two hours late.", "The ferry is late."
    examples = [
        Example(0, {"premise": one, "hypothesis": two}, "entailment"),
        Example(1, {"premise": two, "hypothesis": one}, "neutral"),
    ]
    items = perturb(AX, examples, rules=["framed as true"])
    assert [(item.task, item.label, item.backward) for item in items if item.source is not None] == [
        ("MNLI", "entailment", "neutral"),
        ("MNLI", "neutral", "entailment"),
    ]


def test_tasks_other_than_inference_keep_to_what_changes_no_label():
    one = Example(0, {"sentence": "Anna says the film is dull."}, "0")
    assert {item.case for item in perturb(SST, [one])} == {"original", "names changed"}
    pair = {"sentence1": "Anna rescued the miller.", "sentence2": "Anna rescued the miller."}
    made = perturb(SAMPLE.task("MRPC"), [Example(0, pair, "1")])
    assert {item.case for item in made} == {"original", "active to passive", "names changed"}
    with pytest.raises(DataError, match="STS-B"):
        perturb(SAMPLE.task("STS-B"), [Example(0, pair, 3.5)])
    with pytest.raises(UnknownNameError, match="negation added"):
        perturb(SST, [one], rules=["negation"])


def test_a_set_is_read_back_and_every_wrong_row_is_named(tmp_path):
    items = shortcuts(MNLI, per_case=2)
    path = tmp_path / "set.tsv"
    write_items(path, items, MNLI)
    assert read_items(path, SAMPLE) == items
    lines = path.read_text().splitlines()
    lines[1] = lines[1].replace("\tneutral\t", "\tmaybe\t", 1)
    lines[3] = lines[3] + "\tmore"
    lines[4] = "9" + lines[4][1:]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError) as raised:
        read_items(path, SAMPLE)
    problems = raised.value.problems
    assert {int(problem.split(":")[1]) for problem in problems} == {2, 4, 5}
    with pytest.raises(DataError, match="tab"):
        write_items(path, [Item("MNLI", "x", ("a\tb", "c"), "neutral", ("neutral",))], MNLI)


def test_scores_by_case_and_what_broke():
    sides = ("The ferry is late.", "It is late.")
    plain = Item("MNLI", "original", sides, "neutral", ("neutral",))
    items = [
        plain,
        Item("MNLI", "a: x", sides, "neutral", ("neutral", "contradiction"), source=0),
        Item("MNLI", "a: y", sides, "entailment", ("entailment",), source=0),
    ]
    found = score(items, ["neutral", "contradiction", "neutral"])
    assert [(each.case, each.n, each.right, each.broken, each.sound) for each in found.cases] == [
        ("original", 1, 1, 0, 0),
        ("a: x", 1, 1, 0, 1),
        ("a: y", 1, 0, 1, 1),
    ]
    assert [(each.case, each.n, each.right) for each in found.groups] == [("a", 2, 1)]
    assert found.failed == found.broken == (2,)
    assert score(items, ["entailment", "entailment", "neutral"]).broken == ()


@pytest.mark.parametrize("made", ["shortcuts", "pairs"])
def test_what_is_kept_is_a_diagnostic_set_without_an_error(tmp_path, made):
    texts = ["The ferry is late.", "The old miller was rescued by Anna.", "He did not pass the test."]
    examples = [Example(n, {"sentence": text}, None) for n, text in enumerate(texts)]
    items = (
        shortcuts(MNLI, per_case=12) if made == "shortcuts" else sentence_pairs(MNLI, examples, name="review")
    )
    path = tmp_path / "diagnostic.tsv"
    kept = keep_failures(path, items, range(len(items)))
    assert kept.pairs == len({frozenset(item.inputs) for item in items})
    assert kept.unlabeled == 0
    pairs = read_diagnostic(path, AX)
    assert len(pairs) == kept.pairs
    errors = [
        each for each in lint(pairs, AX, symmetric="contradiction").findings if each.severity == "error"
    ]
    assert errors == []
    with pytest.raises(DataError, match="nothing failed"):
        keep_failures(path, items, [])
