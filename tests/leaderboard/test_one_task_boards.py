"""Pages of a benchmark with one task, and of a phase whose scores are hidden: words that fit them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from leaderboard.material import tsv, zip_bytes
from leaderboard.phased import BOARD, Clock, Make, of_quality

MANIFEST = """
[benchmark]
name = "tone"
title = "Tone"

[tasks.tone]
title = "tone"
columns = ["review"]
labels = { bad = "unhappy", good = "happy" }
metrics = [METRICS]
splits = { test = { size = 4 } }
"""
ACCURACY = '{ name = "accuracy" }'
LABELS = ["good", "bad", "good", "good"]


def text_of(page: Any) -> str:
    """What a reader of a page reads, without the spaces of its source."""
    html = page.content.decode().partition("<main")[2].replace("&nbsp;", " ")
    without_inline = re.sub(r"</?(b|code|a|span)\b[^>]*>", "", html)
    return " ".join(re.sub(r"<[^>]*>", " ", without_inline).split())


@pytest.fixture
def add(db: None, tmp_path: Path) -> Callable[[str], Any]:
    """Add a benchmark whose one task has these metrics."""
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    def added(metrics: str = ACCURACY) -> Benchmark:
        caches["pages"].clear()
        gold, manifest = tmp_path / "gold", tmp_path / "tone.toml"
        gold.mkdir()
        (gold / "tone.tsv").write_text(tsv(LABELS, "label"))
        manifest.write_text(MANIFEST.replace("METRICS", metrics))
        return Benchmark.objects.get(name=add_benchmark(str(manifest), gold))

    return added


@pytest.fixture
def listed(add: Callable[[str], Any], send: Callable[..., Any]) -> Any:
    """A public system of the benchmark with one task and one metric."""
    from gluebench.leaderboard.apps.submissions.grading import grade

    one = send(zip_bytes({"tone": LABELS}), benchmark=add(ACCURACY), name="Rules")
    grade(one.pk)
    return one


def test_the_score_of_an_only_task_is_said_once(listed: Any, client: Client) -> None:
    page = client.get("/benchmarks/tone")
    html, text = page.content.decode(), text_of(page)
    heads = re.findall(r'<th scope="col"[^>]*data-sort="([^"]*)"', html)
    assert heads[:2] == ["name", ""]
    assert "tone" not in heads, "a column would repeat the score"
    assert "Rules" in text
    assert not re.search(r"1 of 1|1 task|each task|tone tone|task by task|Other rules|Rank by", text)
    assert "A system predicts the test set; its score is accuracy, times 100." in text
    task = text_of(client.get("/benchmarks/tone/tasks/tone"))
    assert not re.search(r"tone tone|other tasks|Ranked by this task alone", task)
    assert "tone tone" not in text_of(client.get("/benchmarks/tone/data"))
    assert "tone tone" not in text_of(client.get(listed.get_absolute_url()))


def test_exports_keep_the_column_of_an_only_task(listed: Any, client: Client) -> None:
    board = client.get("/benchmarks/tone.json").json()
    assert [column["file"] for column in board["columns"]] == ["tone"]


def test_an_address_that_sorts_by_the_only_task_sorts_by_its_score(listed: Any, client: Client) -> None:
    assert "Rules" in text_of(client.get("/benchmarks/tone?sort=tone&columns=tone"))


def test_an_only_task_with_two_metrics_keeps_its_column(add: Callable[[str], Any], client: Client) -> None:
    from gluebench.leaderboard.apps.boards.columns import page_scheme_of

    benchmark = add(f'{ACCURACY}, {{ name = "f1", positive = "good" }}')
    text = text_of(client.get("/benchmarks/tone"))
    assert re.search(r"its score is the mean of accuracy and f1, times 100\.", text, re.IGNORECASE)
    assert page_scheme_of(benchmark.record).column_names == ("tone",)


def test_an_empty_board_says_how_to_take_part_in_words_of_one_task(
    add: Callable[[str], Any], client: Client
) -> None:
    benchmark = add(ACCURACY)
    text = text_of(client.get("/benchmarks/tone"))
    assert "Run your model on the test file. Write your answers as a .tsv, with the header" in text
    assert "You see the full report as soon as it is graded." in text
    benchmark.open = False
    benchmark.save()
    caches["pages"].clear()
    text = text_of(client.get("/benchmarks/tone"))
    assert ("No system yet" in text, "yours can be the first" in text) == (True, False)
    assert "How to take part" not in text


def test_a_hidden_board_says_who_takes_part_and_when_scores_come(
    tiny: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    settings = {"feedback": "with-board"}
    phase("Final", "2027-05-02 00:00", "2027-05-03 00:00", shown="closed", settings=settings)
    clock.move("2027-05-02 10:00")
    for number, name in enumerate(("Second", "First")):
        graded(of_quality(number), name=name)
    text = text_of(client.get(BOARD))
    assert "Final: the scores are hidden Scores come on 3 May 2027, 00:11 UTC, or later," in text
    assert "2 systems take part: First, Second." in text
    assert text.count("First, Second") == 1
    assert "You see a report once the board shows the scores." in text
    assert not re.search(r"yours can be the first|within seconds|Systems 0", text)


def test_a_board_that_shows_scores_on_a_date_says_the_date_and_no_names(
    tiny: Any, phase: Make, clock: Clock, graded: Callable[..., Any], client: Client
) -> None:
    from leaderboard.phased import at

    phase("Final", "2027-05-02 00:00", "2027-05-03 00:00", shown="date", shown_from=at("2027-05-09 12:00"))
    clock.move("2027-05-02 10:00")
    graded(of_quality(1), name="Secret entrant")
    text = text_of(client.get(BOARD))
    assert "Final: the scores are hidden Scores come on 9 May 2027, 12:00 UTC." in text
    assert "Secret entrant" not in text
    assert "take part:" not in text
