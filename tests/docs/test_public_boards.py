"""Results of public boards are read from a clone: what is missing is left out, what is wrong is wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from docs.tools.public_boards import BOARDS, Finding, Repository, paragraph, read_zero_eval, table_of
from gluebench import rank


@pytest.fixture
def clone(tmp_path: Path) -> Repository:
    """A repository with three models on forty problems; the third answered half of them."""
    folder = tmp_path / "clone"
    (folder / "result_dirs" / "gsm").mkdir(parents=True)
    for model, right, total in (("good", 36, 40), ("poor", 4, 40), ("half", 20, 20)):
        rows = []
        for at in range(total):
            answer = f"${at},000" if at < right else "none"
            output = f'Let me see. {{"reasoning": "...", "answer": "{answer}"}}'
            rows.append({"id": at, "output": [output], "answer": f"# {at}000"})
        (folder / "result_dirs" / "gsm" / f"{model}.json").write_text(json.dumps(rows))
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "results"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return Repository(folder)


def test_answers_are_read_from_the_json_of_a_model(clone: Repository) -> None:
    scores = read_zero_eval(clone, "gsm")
    assert {model: sum(of.values()) for model, of in scores.items()} == {"good": 36, "poor": 4, "half": 20}


def test_a_system_without_most_items_is_left_out_and_named(clone: Repository) -> None:
    [board] = [board for board in BOARDS if board.key == "gsm"]
    table, left_out = table_of(board, read_zero_eval(clone, "gsm"))
    assert (table.systems, left_out) == (("good", "poor"), ["half"])
    text = paragraph(Finding(board, clone.commit, 40, rank(["good", "poor"], table), left_out))
    assert "good is the best. Of 1 pairs 1 are significantly different" in " ".join(text.split())
    assert clone.commit in text
