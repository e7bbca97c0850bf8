"""Reading question answering in SQuAD's shape, right and wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gluebench.data import DataError
from gluebench.data.recipes.qa_pairs import read_squad

CONTEXT = "The mill stood on the Ouse. It burnt down in 1801."


def question(text: str = "1801", start: int | None = 45, **more: Any) -> dict[str, Any]:
    return {
        "id": "q1",
        "question": "When did it burn?",
        "answers": [{"text": text, "answer_start": start}],
        **more,
    }


def written(folder: Path, *questions: Any) -> Path:
    paragraphs = [{"context": CONTEXT, "qas": list(questions)}]
    path = folder / "mills.json"
    path.write_text(json.dumps({"version": "1.1", "data": [{"title": "Mills", "paragraphs": paragraphs}]}))
    return path


def problem(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_squad(path)
    assert all(str(path) in each for each in caught.value.problems)
    return str(caught.value).replace(str(path), "FILE")


def test_articles_paragraphs_questions_and_answers_are_read(tmp_path: Path) -> None:
    (found,) = read_squad(written(tmp_path, question()))
    assert (found.article, found.context) == ("Mills", CONTEXT)
    assert found.questions == (("q1", "When did it burn?", ("1801",)),)


def test_questions_of_squad_2_without_an_answer_have_none(tmp_path: Path) -> None:
    path = written(tmp_path, question(is_impossible=True), {"id": 7, "question": "Who?", "answers": []})
    (found,) = read_squad(path)
    assert [(each.id, each.answers) for each in found.questions] == [("q1", ()), ("7", ())]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (
            question("1802"),
            'Mills\', paragraph 1, question q1: the answer "1802" does not stand in the paragraph',
        ),
        (
            question("1801", 44),
            'question q1: answer_start 44 is " 180", expected "1801", which first stands at 45',
        ),
        (question("1801", -5), 'question q1: answer_start -5 is "", expected "1801"'),
        (
            question("1801", None),
            "question q1: an answer is {'text': '1801', 'answer_start': None}; expected",
        ),
        (question(""), "question q1: an answer is {'text': ''"),
        ({"id": "q1", "answers": []}, "question q1: not of SQuAD's shape; expected"),
        ({"question": "Who?", "answers": "1801"}, "question 1: not of SQuAD's shape"),
        ("Who?", "question 1: not of SQuAD's shape"),
    ],
)
def test_a_wrong_question_is_named_with_its_article(tmp_path: Path, wrong: Any, told: str) -> None:
    assert told in problem(written(tmp_path, wrong))


def test_all_wrong_questions_are_told_together(tmp_path: Path) -> None:
    path = written(tmp_path, question("none", id="a"), question(id="b"), question("1801", 3, id="c"))
    assert [line.split(": ")[1][-1] for line in problem(path).splitlines()] == ["a", "c"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<html>Not found</html>", "FILE:1: not JSON (Expecting value, column 1)"),
        ('{"data": [\n{"title": "Mills"', "FILE:2: not JSON"),
        ("[]", 'FILE: no list "data" at the top'),
        ('{"data": {}}', 'FILE: no list "data" at the top'),
        ('{"data": [{"title": "Mills"}, 3]}', "FILE: article 'Mills': no list \"paragraphs\""),
        ('{"data": [{"paragraphs": [{"context": "x"}]}]}', 'FILE: article 1, paragraph 1: no text "context"'),
        ('{"data": []}', "FILE: holds no questions"),
        ("[" * 100_000, "FILE: nested too deeply"),
    ],
)
def test_what_is_not_of_squads_shape_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mills.json"
    path.write_text(text)
    assert told in problem(path)


def test_a_missing_file_and_one_of_other_bytes_are_told_in_a_line(tmp_path: Path) -> None:
    assert "No such file" in problem(tmp_path / "none.json")
    (tmp_path / "latin.json").write_bytes(b'{"data": "caf\xe9"}')
    assert ":1: not UTF-8 text (byte 0xe9)" in problem(tmp_path / "latin.json")
