"""Replies of a language model, read by answer word, gloss and synonym, by probability, or not at all."""

from __future__ import annotations

import math

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.systems.adapters.answers import likeliest, read, vote, without_reasoning
from gluebench.systems.adapters.endpoint import Reply
from gluebench.systems.adapters.prompts import template_called, templates_of

GLUE = load_benchmark("glue")


def manifest(task: str):
    """The template in the words of the manifest, whose answers are the label words."""
    (template,) = templates_of(GLUE.task(task)._replace(name="other")).values()
    return template


def value(task: str, text: str, likely: dict[str, float] | None = None, **more) -> str | float | None:
    return read(GLUE.task(task), manifest(task), Reply(text, likely or {}, 0, 0, **more))[0]


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
    assert value(task, text) == word


YES, NO = "entailment", "not_entailment"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("yes", YES),
        ("<think>It says no. But no.</think>\n\nyes", YES),
        ("It says no, so</think>yes", YES),
        ("<think>It says yes, so", None),
        ("[THINK]no[/THINK]yes", YES),
        ("<thinking>no</thinking> <think>no, no", None),
        ("```\nyes\n```", YES),
        ('```json\n{"answer": "no"}\n```', NO),
        ('{"answer": "maybe"}', None),
        ("No doubt about it.\nAnswer: yes", YES),
        ("yes would mean that all of it is so, and it is not.\n\n**Answer:** No.", NO),
        ("Both yes and no can be defended.\nFinal answer: **no**", NO),
        ("Neither yes nor no.\n\nno", NO),
        ("So \\boxed{\\text{yes}} and not no", YES),
        ("Answer yes or no? Hard to say", None),
        ("maybe", None),
        ("I think it is yes", YES),
        ("yesterday", None),
        ("I have no idea", None),
        ("No, it leaves that open.", NO),
    ],
)
def test_reasoning_fences_and_what_stands_before_the_answer_do_not_count(text: str, word: str | None):
    task = GLUE.task("RTE")
    template = template_called(task, "question")
    assert read(task, template, Reply(text, {}, 0, 0)) == (word, "" if word else "not understood")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply("<think>yes, since", {}, 0, 0, "length"), (None, "cut off")),
        (Reply("The text says yes, but", {}, 0, 0, "length"), (None, "cut off")),
        (Reply("Answer: yes\n\nThe text", {}, 0, 0, "length"), (YES, "")),
        (Reply("no", {}, 0, 0, "length"), (NO, "")),
        (Reply("", {}, 0, 0, "content_filter"), (None, "filtered")),
        (Reply("", {}, 0, 0, "refusal"), (None, "refused")),
        (Reply("", {"yes": -0.01}, 0, 0, "length", reasoned=True), (None, "cut off")),
        (Reply("<think>", {"yes": -0.01}, 0, 0), (None, "not understood")),
        (Reply("no", {"yes": -0.01}, 0, 0, reasoned=True), (NO, "")),
    ],
)
def test_an_answer_that_is_not_one_says_why(reply: Reply, answer: tuple[str | None, str]):
    task = GLUE.task("RTE")
    assert read(task, template_called(task, None), reply) == answer


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
        ("**2.5/5**", 2.5),
        ("On a scale from 0 to 5 I say: 3.", None),
        ("From 0 to 5?\nAnswer: 3.", 3.0),
        ("They share 2 of 3 facts.\n\n3.8", 3.8),
        ('{"answer": 1.2}', 1.2),
        ("<think>4 or 3</think>2", 2.0),
    ],
)
def test_scores_are_numbers_of_the_range(text: str, score: float | None):
    assert value("STS-B", text) == score


def test_a_score_that_was_cut_off_counts_only_if_it_stands_alone():
    assert value("STS-B", "The score is 3", finish="length") is None
    assert value("STS-B", "3.5", finish="length") == 3.5


def logs(**shares: float) -> dict[str, float]:
    return {token: math.log(share) for token, share in shares.items()}


def test_the_likeliest_label_counts_where_labels_have_most_of_the_probability():
    assert value("MNLI", "contr", logs(contr=0.3, ne=0.25, neutral=0.2, the=0.1)) == "neutral"
    assert value("RTE", "not", logs(not_=0.0001, ent=0.45, n=0.5)) == "not_entailment"


def test_where_other_tokens_are_likelier_the_text_counts_and_labels_decide_only_when_it_says_nothing():
    likely = logs(The=0.9, ent=0.05, not_=0.01)
    assert value("RTE", "The answer is not_entailment", likely) == "not_entailment"
    assert value("RTE", "The", likely) == "entailment"
    assert value("RTE", "The", logs(The=0.9)) is None


def test_the_likeliest_answer_is_its_label_and_of_ties_the_first_of_the_template():
    task = GLUE.task("RTE")
    template = template_called(task, "question")
    assert likeliest(task, template, {"yes": -2.0, "no": -1.0}) == NO
    assert likeliest(task, template, {"no": -1.0, "yes": -1.0}) == YES


def test_a_score_by_likelihood_is_the_mean_of_the_numbers_weighted_by_probability():
    task = GLUE.task("STS-B")
    shares = dict(zip("012345", (0.0001, 0.0001, 0.1, 0.4, 0.3, 0.1), strict=True))
    expected = sum(int(number) * share for number, share in shares.items()) / sum(shares.values())
    likely = {number: math.log(share) - 700 for number, share in shares.items()}
    assert likeliest(task, template_called(task, None), likely) == pytest.approx(expected)


def test_the_most_frequent_sample_wins_and_the_first_of_equals():
    task = GLUE.task("RTE")
    assert vote(task, [NO, None, YES, YES]) == YES
    assert vote(task, [NO, YES]) == NO
    assert vote(task, [None, None]) is None
    assert vote(GLUE.task("STS-B"), [1.0, None, 4.0]) == 2.5


def test_a_word_in_brackets_is_not_reasoning():
    assert without_reasoning("a [thought] experiment: <b>yes</b>") == "a [thought] experiment: <b>yes</b>"
