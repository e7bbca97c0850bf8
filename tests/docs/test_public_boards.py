"""Results of public boards are read from a clone: what is missing is left out, what is wrong is wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from docs.tools import public_boards
from docs.tools.public_boards import (
    BOARDS,
    COMMITS,
    PAGE,
    Finding,
    Repository,
    paragraph,
    read_eq_bench,
    read_terminal_bench,
    read_zero_eval,
    table_of,
)
from gluebench import rank


def commit(folder: Path, files: dict[str, object]) -> str:
    """Write files as JSON into a repository and commit them; returns the commit."""
    for path, content in files.items():
        Path(folder, path).parent.mkdir(parents=True, exist_ok=True)
        Path(folder, path).write_text(json.dumps(content))
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "results"]):
        subprocess.run(["git", *words], cwd=folder, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return head.stdout.strip()


def answers(right: int, total: int) -> list[dict[str, object]]:
    """A model's answers to problems, of which the first are right."""
    rows: list[dict[str, object]] = []
    for at in range(total):
        answer = f"${at},000" if at < right else "none"
        output = f'Let me see. {{"reasoning": "...", "answer": "{answer}"}}'
        rows.append({"id": at, "output": [output], "answer": f"# {at}000"})
    return rows


@pytest.fixture
def clone(tmp_path: Path) -> Repository:
    """A repository with three models on forty problems; the third answered half of them."""
    folder = tmp_path / "WildEval" / "ZeroEval"
    folder.mkdir(parents=True)
    models = {"good": answers(36, 40), "poor": answers(4, 40), "half": answers(20, 20)}
    files: dict[str, object] = {f"result_dirs/gsm/{model}.json": rows for model, rows in models.items()}
    return Repository(folder, commit(folder, files))


def test_answers_are_read_from_the_json_of_a_model(clone: Repository) -> None:
    scores = read_zero_eval(clone, "gsm")
    assert {model: sum(of.values()) for model, of in scores.items()} == {"good": 36, "poor": 4, "half": 20}


def test_a_system_without_most_items_is_left_out_and_named(clone: Repository) -> None:
    [board] = [board for board in BOARDS if board.key == "gsm"]
    table, left_out = table_of(board, read_zero_eval(clone, "gsm"))
    assert (table.systems, left_out) == (("good", "poor"), ["half"])
    text = paragraph(Finding(board, clone.commit, 40, rank(["good", "poor"], table), left_out, 3))
    assert "good is the best. Of 1 pairs 1 are significantly different" in " ".join(text.split())
    assert "Not read, in files of 4 MiB or more: 3." in " ".join(text.split())
    assert clone.commit in text


def test_later_commits_do_not_change_the_page(clone: Repository) -> None:
    commit(clone.folder, {"result_dirs/gsm/new.json": answers(40, 40)})
    assert set(read_zero_eval(clone, "gsm")) == {"good", "poor", "half"}


def test_large_files_are_left_out_whether_or_not_the_clone_has_them(
    clone: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = sorted(path.stat().st_size for path in clone.folder.glob("result_dirs/gsm/*.json"))
    monkeypatch.setattr(public_boards, "SIZE_LIMIT", sizes[1])  # of the smaller of the two long files
    monkeypatch.setattr(public_boards, "GITHUB", f"file://{tmp_path}")
    for option in ("uploadpack.allowFilter", "uploadpack.allowAnySHA1InWant"):
        subprocess.run(["git", "-C", str(clone.folder), "config", option, "true"], check=True)
    public_boards.fetch("WildEval/ZeroEval", clone.commit, tmp_path)
    fetched = Repository(tmp_path / "WildEval+ZeroEval", clone.commit)
    for repository in (clone, fetched):
        assert set(read_zero_eval(repository, "gsm")) == {"half"}
        assert repository.unread == 2


def test_all_attempts_of_terminal_bench_count_once(tmp_path: Path) -> None:
    def run(*solved: bool) -> dict[str, object]:
        return {"results": [{"task_id": "sort", "is_resolved": one} for one in solved]}

    folder = "results/terminal-bench-core@0.1.1"
    files: dict[str, object] = {
        f"{folder}/20250101_one-file/results.json": run(True, True, True, False),
        f"{folder}/20250101_one-file/sort/sort.1-of-4/results.json": {"is_resolved": True},
        f"{folder}/20250102_two-runs/first/results.json": run(True),
        f"{folder}/20250102_two-runs/second/results.json": run(False),
        f"{folder}/20250102_two-runs/second/first/results.json": run(True),
    }
    scores = read_terminal_bench(Repository(tmp_path, commit(tmp_path, files)))
    assert scores == {"one-file": {"sort": 0.75}, "two-runs": {"sort": 0.5}}


def test_eq_bench_scores_are_those_of_its_second_version(tmp_path: Path) -> None:
    emotions = ("joy", "fear", "anger", "pride")
    reference: dict[str, object] = {}
    for at, emotion in enumerate(emotions, 1):
        reference[f"emotion{at}"] = emotion
        reference[f"emotion{at}_score"] = 0
    ratings = {"right": "0", "near": "4", "far": "10"}
    given: dict[str, object] = {"unread": {"first_pass": {"joy": "3"}, "revised": {}}}
    for item, rating in ratings.items():
        given[item] = {"first_pass": dict.fromkeys(emotions, rating), "revised": {}}
    question = {"reference_answer_fullscale": reference}
    other_version = {item: {"first_pass_score": 1} for item in given}
    run = {"respondent_answers": given, "individual_scores": other_version}
    files: dict[str, object] = {
        "data/eq_bench_v2_questions_171.json": dict.fromkeys(given, question),
        "results/eq-bench/a__b_eqbench_v2_results.json": {"raw_results": {"1": run}},
    }
    scores = read_eq_bench(Repository(tmp_path, commit(tmp_path, files)))
    # A distance of 4 is the middle of the curve, 3.25; one of 10 counts as it is: 1 - 0.7477 * 4 = -1.9908.
    assert scores["a/b"] == pytest.approx({"right": 1.0, "near": 1 - 0.07477 * 13, "far": -1.9908})


def test_the_page_links_the_commits_that_it_is_made_from() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for repository, identifier in COMMITS.items():
        assert f"https://github.com/{repository}/tree/{identifier}" in text
