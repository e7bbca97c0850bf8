"""The dry run of an organizer: what comes out, what it costs, and that no label leaves the grader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import every_form
import pytest
from django.apps import apps
from django.conf import settings
from django.test import Client
from leaderboard.material import CANARIES

from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.organizing.dry_runs import grade_dry_run
from gluebench.leaderboard.apps.organizing.models import DryRun
from gluebench.leaderboard.apps.submissions.models import Submission


@pytest.fixture
def organizer(tiny: Benchmark, ada: Any) -> Client:
    tiny.organizers.add(ada)
    client = Client()
    client.force_login(ada)
    return client


def start(client: Client, name: str = "tiny") -> DryRun:
    client.post(f"/benchmarks/{name}/organize/dry-run", {"act": "start"})
    run = DryRun.objects.get(benchmark__name=name)
    assert "waits for the worker" in client.get(f"/benchmarks/{name}/organize/setup").content.decode()
    grade_dry_run.call(run.pk)
    run.refresh_from_db()
    assert run.failure == ""
    return run


def test_it_shows_what_is_expected_beside_what_came_out(organizer: Client, own_grader: None) -> None:
    run = start(organizer)
    assert run.results["perfect"]["score"]["value"] == 1.0
    assert {row["value"] for row in run.results["perfect"]["tasks"].values()} == {1.0}
    assert 0 < run.results["majority"]["score"]["value"] < 1
    assert run.results["broken"]["score"] is None
    page = organizer.get("/benchmarks/tiny/organize/setup").content.decode()
    assert page.count(">as expected<") == 3
    assert "Para.tsv:2" in page
    assert "no such label" in page


def test_it_is_no_submission_and_costs_nothing(organizer: Client, tiny: Benchmark) -> None:
    before = tiny.version
    start(organizer)
    assert not Submission.objects.exists()
    limits = organizer.get("/api/v1/benchmarks/tiny/quota").json()["limits"]
    assert {limit["used"] for limit in limits} == {0}
    assert Benchmark.objects.get().version == before
    assert Client().get("/api/v1/benchmarks/tiny").json()["systems"] == 0


def test_nothing_of_the_labels_leaves_the_grader(organizer: Client) -> None:
    start(organizer)
    page = organizer.get("/benchmarks/tiny/organize/setup").content.decode()
    rows = [repr(list(model._default_manager.values_list())) for model in apps.get_models()]
    assert not [canary for canary in CANARIES for text in (page, *rows) if canary in text]
    assert not [*settings.FOLDER.uploads.glob("dry-run-*")]


def test_one_click_deletes_it(organizer: Client) -> None:
    start(organizer)
    organizer.post("/benchmarks/tiny/organize/dry-run", {"act": "delete"})
    assert not DryRun.objects.exists()
    assert "Start a dry run" in organizer.get("/benchmarks/tiny/organize/setup").content.decode()


@pytest.mark.parametrize("name", ["forms", "losses"])
def test_tasks_of_every_form_have_a_perfect_and_a_broken_submission(
    organizer: Client, ada: Any, tmp_path: Path, name: str
) -> None:
    manifest = every_form.write(tmp_path / name, name)
    add_benchmark(str(manifest), tmp_path / name / "gold")
    Benchmark.objects.get(name=name).organizers.add(ada)
    organizer.force_login(ada)
    results = start(organizer, name).results
    assert {kind: result["expected"] for kind, result in results.items()} == dict.fromkeys(results, True)
