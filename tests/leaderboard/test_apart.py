"""Entries with other labels or rows than their board: apart on every page and export, and for `verify`."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone
from leaderboard.material import GOLD, MANIFEST, write_gold, zip_bytes
from leaderboard.phased import BOARD, Clock, Make, of_quality

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.ledger.verify import Verification
from gluebench.leaderboard.apps.results.pack import pack
from gluebench.leaderboard.apps.submissions import grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.freeze import freeze
from gluebench.scoring.gold import KEY_BYTES, KEY_FILE

pytestmark = pytest.mark.django_db  # a fixture that is asked for by its name comes too late to say so
Graded = Callable[..., Submission]
SPLIT = bytes([1]) * KEY_BYTES
"""Divides the rows so that the better file has the higher score, on either share."""
LABELS, ROWS = "other labels: not ranked", "other rows: not ranked"


def grade_all() -> None:
    for row in Submission.objects.filter(status=Status.QUEUED).order_by("pk"):
        grading.grade(row.pk)
    caches["pages"].clear()


def add_other_labels(folder: Path) -> None:
    gold = write_gold(folder / "other-gold")
    text = (gold / "Para.tsv").read_text()
    (gold / "Para.tsv").write_text(text.replace("0\t1", "0\t0", 1))
    add_benchmark(str(MANIFEST), gold)
    caches["pages"].clear()


def findings() -> list[str]:
    caches["pages"].clear()
    result = Verification()
    integrity.verify(result)
    # Where the clock was moved, files of earlier tests look old enough to be orphans.
    return [text for text in result.findings if not text.startswith("orphan files")]


@pytest.fixture
def relabeled(tiny: Any, graded: Graded, person: Any, tmp_path: Path) -> Submission:
    """The highest score is of other labels: its author's account is deleted. Returns its submission."""
    gone = person("gone@example.org")
    best = graded(of_quality(6), name="Of a deleted account", owner=gone, parameters=10)
    graded(of_quality(3), name="Stays", parameters=20)
    graded(of_quality(2), name="Later", parameters=30)
    delete_account(gone)
    add_other_labels(tmp_path)
    grade_all()
    best.refresh_from_db()
    return best


@pytest.fixture
def revealed(tiny: Any, phase: Make, clock: Clock, graded: Graded, person: Any) -> Submission:
    """The highest score is of the public share of a phase that is scored on the other rows."""
    (tiny.gold_path / KEY_FILE).write_bytes(SPLIT)
    phase("Test", "2027-05-01 00:00", "2027-05-03 00:00", rows="both", share=0.5, counting="best")
    clock.move("2027-05-02 10:00")
    gone = person("gone@example.org")
    best = graded(of_quality(6), name="Of a deleted account", owner=gone)
    graded(of_quality(3), name="Stays", owner=person("grace@example.org"))
    delete_account(gone)
    clock.move("2027-05-03 00:30")
    grading.phases_due()
    grade_all()
    best.refresh_from_db()
    return best


@pytest.mark.parametrize("case", ["relabeled", "revealed"])
def test_an_honest_site_and_its_copy_verify(
    case: str, request: pytest.FixtureRequest, client: Client, tmp_path: Path
) -> None:
    request.getfixturevalue(case)
    rows = client.get(f"{BOARD}.json").json()["rows"]
    assert rows[-1]["rank"] is None
    assert rows[-1]["score"]["value"] > rows[0]["score"]["value"]
    assert findings() == []
    freeze(tmp_path / "copy", ["tiny"])
    result = commands.verify(str(tmp_path / "copy"), None, None, None, recompute=True)
    assert result.findings == []
    assert any("1 more are not" in line for line in result.checked)


def test_a_site_verifies_while_its_submissions_wait_to_be_graded_again(
    tiny: Any, graded: Graded, tmp_path: Path
) -> None:
    graded(of_quality(6))
    graded(of_quality(3))
    add_other_labels(tmp_path)
    assert Submission.objects.filter(status=Status.QUEUED, apart="labels").count() == 2
    assert findings() == []
    freeze(tmp_path / "copy", ["tiny"])
    result = commands.verify(str(tmp_path / "copy"), None, None, None, recompute=True)
    assert result.findings == []


FORGED_ROWS: list[tuple[int, dict[str, Any], str]] = [
    (0, {"withheld": ROWS}, "is not “other"),
    (0, {"withheld": ROWS, "rank": None, "rank_low": None}, "is not “other rows"),
    (0, {"withheld": "other tasks: not ranked", "rank": None}, "is not “other tasks"),
    (0, {"withheld": "other reasons: not ranked", "rank": None}, "the ranks do not follow the scores"),
    (-1, {"withheld": None}, "the ranks do not follow the scores"),
    (-1, {"rank": 3}, "is not “other"),
    (-1, {"rank": None, "rank_low": 1, "rank_high": 2}, "a rank is outside its rank set"),
]
"""The number of a row, what is forged of it, and what `verify` finds."""


def test_a_row_that_is_forged_to_stand_apart_is_found(relabeled: Submission, tmp_path: Path) -> None:
    freeze(tmp_path / "copy", ["tiny"])
    path = tmp_path / "copy" / "benchmarks" / "tiny.json"
    honest = path.read_bytes()
    for row, changes, finding in FORGED_ROWS:
        values = json.loads(honest)
        values["rows"][row] |= changes
        path.write_text(json.dumps(values))
        found = commands.verify(str(tmp_path / "copy"), None, None, None).findings
        assert any(finding in text and "tiny.json" in text for text in found), (changes, found)
        assert "TypeError" not in " ".join(found)


@pytest.mark.parametrize("case", ["relabeled", "revealed"])
def test_charts_and_head_room_compare_only_scores_with_the_key_of_the_board(
    case: str, request: pytest.FixtureRequest, client: Client
) -> None:
    best = request.getfixturevalue(case)
    rows = client.get(f"{BOARD}.json").json()["rows"]
    ranked = {row["key"] for row in rows if row["rank"]}
    assert best.key not in ranked
    progress = client.get(f"{BOARD}/progress.json").json()["rows"]
    assert {row["key"] for row in progress} == ranked
    assert progress[0]["led"]
    for address in (f"{BOARD}/progress", f"{BOARD}/progress.csv", f"{BOARD}/efficiency.json"):
        assert best.key not in client.get(address).content.decode()
    highest = max(row["score"]["value"] for row in rows if row["rank"])
    room = client.get(f"{BOARD}/health.json").json()["headroom"]
    assert (room[0]["best"], room[0]["to_highest"]) == (highest, pytest.approx(1 - highest))
    para = max(row["tasks"]["Para"]["score"]["value"] for row in rows if row["rank"])
    assert next(line for line in room if line["task"] == "Para")["best"] == para
    benchmark = Benchmark.objects.get()
    files = unpacked(pack(benchmark, timezone.now(), labels=False).data)
    assert best.key not in files["progress.csv"]


def test_charts_say_that_scores_wait_to_be_graded_again(
    tiny: Any, graded: Graded, client: Client, tmp_path: Path
) -> None:
    graded(of_quality(6))
    add_other_labels(tmp_path)
    assert "can be compared" in client.get(f"{BOARD}/progress").content.decode()


def unpacked(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


def line_of(text: str, name: str) -> str:
    return next(line for line in text.replace("\\:", ":").splitlines() if name in line)


@pytest.mark.parametrize(("case", "reason"), [("relabeled", LABELS), ("revealed", ROWS)])
def test_every_form_of_a_board_gives_the_reason(
    case: str, reason: str, request: pytest.FixtureRequest, client: Client
) -> None:
    best = request.getfixturevalue(case)
    badge = client.get(f"/submissions/{best.key}/badge.svg").content.decode()
    assert reason in badge
    assert "incomplete" not in badge
    for ending in ("md", "tex"):
        line = line_of(client.get(f"{BOARD}.{ending}").content.decode(), "Anonymous")
        assert reason in line
        assert "**" not in line, "bold is for the best of those compared"
        assert "textbf" not in line
    assert reason in client.get(f"{BOARD}/embed").content.decode()
    api = client.get("/api/v1/benchmarks/tiny/board").json()["rows"]
    assert [row["withheld"] for row in api if row["key"] == best.key] == [reason]
    files = unpacked(pack(Benchmark.objects.get(), timezone.now(), labels=False).data)
    assert f"## Anonymous ({reason})" in files["systems.md"]
    for path in ("table", "tasks/Para"):
        assert reason in line_of(files[f"{path}.md"], "Anonymous")
        assert reason in line_of(files[f"{path}.tex"], "Anonymous")
        lines = list(csv.DictReader(io.StringIO(files[f"{path}.csv"])))
        assert [line["withheld"] for line in lines if line["key"] == best.key] == [reason]


@pytest.mark.parametrize(("case", "reason"), [("relabeled", LABELS), ("revealed", ROWS)])
def test_the_board_of_a_task_keeps_the_entry_unranked(
    case: str, reason: str, request: pytest.FixtureRequest, client: Client
) -> None:
    best = request.getfixturevalue(case)
    for task in ("Para", "Infer"):
        rows = client.get(f"{BOARD}/tasks/{task}.json").json()["rows"]
        own = rows[-1]
        assert (own["key"], own["rank"], own["withheld"]) == (best.key, None, reason)
        assert all(row["rank"] for row in rows[:-1])
        ranks = own.get("metric_ranks", {}).values()
        assert not [place for place in ranks if place["rank"]]
        page = client.get(f"{BOARD}/tasks/{task}").content.decode()
        assert f"/submissions/{best.key}" in page
        assert reason in page


def test_the_board_of_a_task_leaves_out_an_entry_apart_that_lacks_the_task(
    tiny: Any, graded: Graded, person: Any, client: Client, tmp_path: Path
) -> None:
    gone = person("gone@example.org")
    part = graded(zip_bytes({"Sim": GOLD["Sim"]}), owner=gone)
    delete_account(gone)
    add_other_labels(tmp_path)
    part.refresh_from_db()
    assert part.apart == "labels"
    assert client.get(f"{BOARD}/tasks/Para.json").json()["rows"] == []
    assert [row["withheld"] for row in client.get(f"{BOARD}/tasks/Sim.json").json()["rows"]] == [LABELS]


def test_a_diagnostic_set_ranks_no_score_of_other_labels(relabeled: Submission, client: Client) -> None:
    task = Benchmark.objects.get().record.diagnostics[0].name
    address = f"{BOARD}/diagnostics/{task}"
    for row in client.get(f"{address}.json").json()["rows"]:
        is_apart = row["key"] == relabeled.key
        assert (row["rank"] is None) == is_apart
        assert (row["withheld"] == LABELS) == is_apart
    for page in (address, f"{address}?view=map", f"{address}/negation"):
        assert LABELS in client.get(page).content.decode()


def test_an_incomplete_system_has_its_own_reason(tiny: Any, graded: Graded, client: Client) -> None:
    graded(zip_bytes({"Sim": GOLD["Sim"]}))
    rows = client.get(f"{BOARD}.json").json()["rows"]
    assert [(row["rank"], row["withheld"]) for row in rows] == [(None, "incomplete")]
