"""Templates: those of the package, of a file, of the manifest; and the examples shown with them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.prompts import SHIPPED, choices, draw_balanced, template_called, templates_of

GLUE = load_benchmark("glue")
ASKED = [task for task in GLUE.scored if task.predict_with is None]
SHOWN = Example(5, {"premise": "It rains.", "hypothesis": "It is dry."}, "not_entailment")
QUERY = Example(0, {"premise": "A {dog} ran.", "hypothesis": "A dog moved."}, None)


@pytest.mark.parametrize("task", ASKED, ids=lambda task: task.name)
def test_every_task_of_glue_has_several_templates_whose_answers_begin_differently(task):
    templates = templates_of(task)
    assert list(templates) == ["question", "instruction", "guidelines"]
    for template in templates.values():
        assert len({answer[0] for answer in choices(task, template)}) == max(
            len(task.words), 6 * (not task.words)
        )
        assert all(answer in template.prompt for answer in template.answers.values())


def test_the_file_names_no_task_that_glue_lacks():
    import tomllib

    assert set(tomllib.loads(SHIPPED.read_text("utf-8"))) == {task.name for task in ASKED}


def test_a_chat_shows_answers_before_it_asks_and_a_text_ends_with_the_cue():
    template = template_called(GLUE.task("RTE"), "instruction")
    chat = template.messages(QUERY, [SHOWN])
    assert [message["role"] for message in chat] == ["user", "assistant", "user"]
    assert chat[1]["content"] == "false"
    assert chat[2]["content"].endswith("Text: A {dog} ran.\nStatement: A dog moved.")
    first, second = template.text(QUERY, [SHOWN]).split("\n\n")
    assert first == chat[0]["content"] + "\nAnswer: false"
    assert second == chat[2]["content"] + "\nAnswer:"


def test_a_task_without_templates_is_asked_in_the_words_of_its_manifest():

    template = template_called(GLUE.task("RTE")._replace(name="mine"), None)
    system, question = template.messages(QUERY)
    assert "entailment (the premise entails the hypothesis)" in system["content"]
    assert question["content"] == "Premise: A {dog} ran.\nHypothesis: A dog moved."
    other = GLUE.task("STS-B")._replace(columns=("left", "right"))  # the package's do not fit
    assert "from 0 (lowest) to 5 (highest)" in template_called(other, None).system


def test_a_file_of_ones_own(tmp_path: Path):
    file = tmp_path / "mine.toml"
    file.write_text(
        "[RTE.mine]\n"
        'prompt = "{premise} So {hypothesis}?"\n'
        'answers = { not_entailment = "nay", entailment = "aye" }\n'
        'system = "Speak."\ncue = "You:"\n'
    )
    template = template_called(GLUE.task("RTE"), None, file)
    assert template.text(QUERY) == "Speak.\n\nA {dog} ran. So A dog moved.?\nYou:"
    assert choices(GLUE.task("RTE"), template) == ["nay", "aye"]
    with pytest.raises(ModelError, match=r"mine.toml: has no template for MNLI: \[MNLI.NAME\]"):
        template_called(GLUE.task("MNLI"), None, file)
    with pytest.raises(ModelError, match=r"RTE has no template 'other'; its templates: mine"):
        template_called(GLUE.task("RTE"), "other", file)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[RTE.a]\nprompt = 3", "expected a table"),
        ("[RTE]\na = 3", "expected a table"),
        ('[RTE.a]\nprompt = "{premise} {hypothesis} {x}"', r"has to contain \{premise\}, \{hypothesis\}"),
        ('[RTE.a]\nprompt = "{premise}"', r"has to contain \{premise\}, \{hypothesis\}"),
        ('[RTE.a]\nanswers = { entailment = "yes" }', "answers have to be for entailment, not_entailment"),
        ('[RTE.a]\nanswers = { entailment = "yes", not_entailment = "Yes" }', "same answer for two"),
        ('[RTE.a]\nanswer = "x"', "no field 'answer'; expected prompt, answers, system, cue"),
        ("[RTE.a", "no file of templates"),
    ],
)
def test_what_is_wrong_with_a_file_is_an_error_with_its_place(tmp_path: Path, text: str, fault: str):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ModelError, match=fault):
        templates_of(GLUE.task("RTE"), tmp_path / "mine.toml")


def labeled(label: str | float, index: int) -> Example:
    return Example(index, {}, label)


def test_examples_shown_are_balanced_and_drawn_by_the_seed():
    task = GLUE.task("MNLI")
    train = [labeled(task.words[0] if row % 20 else task.words[row // 20 % 2 + 1], row) for row in range(200)]
    shown = draw_balanced(task, train, 7, seed=1)
    assert sorted(Counter(example.label for example in shown).values()) == [2, 2, 3]
    assert shown == draw_balanced(task, train, 7, seed=1) != draw_balanced(task, train, 7, seed=2)
    assert len(draw_balanced(task, train[:4], 7, seed=1)) == 4
    assert draw_balanced(task, train, 0, seed=1) == []


def test_examples_with_scores_come_from_all_parts_of_the_range():
    task = GLUE.task("STS-B")
    train = [labeled(5.0 if row < 90 else row % 10 / 2, row) for row in range(100)]
    train += [labeled(row % 10 / 2, row) for row in range(100, 190)]
    shown = draw_balanced(task, train, 4, seed=0)
    assert len({example.index for example in shown}) == 4
    assert min(example.label for example in shown) < 2.5
    assert max(example.label for example in shown) == 5.0
    assert draw_balanced(task, train, 0, seed=0) == []


def test_the_example_of_the_reference_page_is_valid(tmp_path: Path):
    page = Path(__file__).resolve().parents[3] / "docs" / "reference" / "templates.md"
    (tmp_path / "page.toml").write_text(page.read_text("utf-8").split("```toml\n")[1].split("```")[0])
    template = template_called(GLUE.task("RTE"), "formal", tmp_path / "page.toml")
    assert template.text(QUERY).startswith("You are a careful reader.\n\nText: A {dog} ran.")
    assert template_called(GLUE.task("STS-B"), None, tmp_path / "page.toml").cue == "Score:"
