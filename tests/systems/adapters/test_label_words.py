"""A checkpoint's labels as a task's label words."""

from __future__ import annotations

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.answers import map_labels, word_meant

GLUE = load_benchmark("glue")


@pytest.mark.parametrize(
    ("task", "names", "words"),
    [
        ("MNLI", ["CONTRADICTION", "NEUTRAL", "ENTAILMENT"], ["contradiction", "neutral", "entailment"]),
        (
            "RTE",
            ["entailment", "neutral", "contradiction"],
            ["entailment", "not_entailment", "not_entailment"],
        ),
        ("SST-2", ["POSITIVE", "NEGATIVE"], ["1", "0"]),
        ("QQP", ["not_duplicate", "duplicate"], ["0", "1"]),
        ("WNLI", ["not_entailment", "entailment"], ["0", "1"]),
    ],
)
def test_labels_of_checkpoints_go_by_word_whatever_their_order(task: str, names: list[str], words: list[str]):
    assert list(map_labels(GLUE.task(task), names, {}, model="m").values()) == words


def test_labels_without_a_meaning_are_asked_for_and_what_the_user_says_counts():
    task, names = GLUE.task("RTE"), ["LABEL_0", "LABEL_1"]
    with pytest.raises(ModelError, match=r"--label LABEL_0=entailment --label LABEL_1=not_entailment"):
        map_labels(task, names, {}, model="m")
    given = {"LABEL_0": "not_entailment", "RTE:LABEL_1": "entailment"}
    assert map_labels(task, names, given, model="m") == {"LABEL_0": "not_entailment", "LABEL_1": "entailment"}


def test_a_head_that_lacks_a_label_of_the_task_cannot_answer_it():
    with pytest.raises(ModelError, match=r"MNLI: m answers entailment, not_entailment; .*nothing is"):
        map_labels(GLUE.task("MNLI"), ["entailment", "not_entailment"], {}, model="m")
    assert word_meant(GLUE.task("MNLI"), "not_entailment") is None
