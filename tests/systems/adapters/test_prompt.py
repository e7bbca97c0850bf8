"""Answers of a chat model, understood by word, gloss and synonym, by probability, or not at all."""

from __future__ import annotations

import math

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.label_words import mapped, meant
from gluebench.systems.adapters.openai import messages, understood

GLUE = load_benchmark("glue")


@pytest.mark.parametrize(
    ("task", "text", "word"),
    [
        ("RTE", "entailment", "entailment"),
        ("RTE", "Not_Entailment.", "not_entailment"),
        ("RTE", "not entailment", "not_entailment"),
        ("RTE", "The answer is: not_entailment", "not_entailment"),
        ("RTE", "The", None),
        ("RTE", "the premise entails the hypothesis", "entailment"),
        ("RTE", "entailment or not_entailment", None),
        ("RTE", "I cannot say", None),
        ("RTE", "", None),
        ("MNLI", "**neutral**", "neutral"),
        ("MNLI", "either neutral or contradiction", None),
        ("SST-2", "positive", "1"),
        ("SST-2", "Negative!", "0"),
        ("SST-2", "1", "1"),
        ("CoLA", "unacceptable", "0"),
        ("CoLA", "10", None),
        ("WNLI", "entailment", "1"),
    ],
)
def test_text_is_read_by_word_gloss_or_synonym(task: str, text: str, word: str | None):
    assert understood(GLUE.task(task), text, {}) == word


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("3.5", 3.5),
        ("Score: 4", 4.0),
        ("0", 0.0),
        ("5.0 of 5", 5.0),
        ("7", None),
        ("-1", None),
        ("high", None),
    ],
)
def test_scores_are_numbers_of_the_range(text: str, score: float | None):
    assert understood(GLUE.task("STS-B"), text, {}) == score


def logs(**shares: float) -> dict[str, float]:
    return {token: math.log(share) for token, share in shares.items()}


def test_the_likeliest_label_counts_where_labels_have_most_of_the_probability():
    task = GLUE.task("MNLI")
    assert understood(task, "contr", logs(contr=0.3, ne=0.25, neutral=0.2, the=0.1)) == "neutral"
    assert understood(GLUE.task("RTE"), "not", logs(not_=0.0001, ent=0.45, n=0.5)) == "not_entailment"


def test_where_other_tokens_are_likelier_the_text_counts_and_labels_decide_only_when_it_says_nothing():
    task = GLUE.task("RTE")
    likely = logs(The=0.9, ent=0.05, not_=0.01)
    assert understood(task, "The answer is not_entailment", likely) == "not_entailment"
    assert understood(task, "The", likely) == "entailment"
    assert understood(task, "The", logs(The=0.9)) is None


def test_the_prompt_says_what_the_manifest_says_and_shows_answers_before_it_asks():
    task = GLUE.task("RTE")
    shown = Example(5, {"premise": "It rains.", "hypothesis": "It is dry."}, "not_entailment")
    asked = Example(0, {"premise": "A dog ran.", "hypothesis": "A dog moved."}, None)
    found = messages(task, asked, [shown])
    assert [each["role"] for each in found] == ["system", "user", "assistant", "user"]
    assert "entailment (the premise entails the hypothesis)" in found[0]["content"]
    assert found[2]["content"] == "not_entailment"
    assert found[3]["content"] == "Premise: A dog ran.\nHypothesis: A dog moved."
    assert "from 0 (lowest) to 5 (highest)" in messages(GLUE.task("STS-B"), asked)[0]["content"]


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
    assert list(mapped(GLUE.task(task), names, {}, model="m").values()) == words


def test_labels_without_a_meaning_are_asked_for_and_what_the_user_says_counts():
    task, names = GLUE.task("RTE"), ["LABEL_0", "LABEL_1"]
    with pytest.raises(ModelError, match=r"--label LABEL_0=entailment --label LABEL_1=not_entailment"):
        mapped(task, names, {}, model="m")
    given = {"LABEL_0": "not_entailment", "RTE:LABEL_1": "entailment"}
    assert mapped(task, names, given, model="m") == {"LABEL_0": "not_entailment", "LABEL_1": "entailment"}


def test_a_head_that_lacks_a_label_of_the_task_cannot_answer_it():
    with pytest.raises(ModelError, match=r"MNLI: m answers entailment, not_entailment; .*nothing is"):
        mapped(GLUE.task("MNLI"), ["entailment", "not_entailment"], {}, model="m")
    assert meant(GLUE.task("MNLI"), "not_entailment") is None
