"""A site with tasks of every form of answers, losses, and losses beside shares: every page of each, once."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from pathlib import Path
from typing import Any

import every_form
import pytest
from leaderboard.test_ranks import renewed

PAGES = (
    *("", ".json", ".csv", ".tex", ".md", "?intervals=1", "?by=median", "?view=training"),
    *("/data", "/data.json", "/croissant.json", "/submit", "/rules", "/rules.json", "/rules.csv"),
    *("/pairs", "/pairs.json", "/pairs.csv", "/efficiency", "/progress", "/progress.json", "/progress.csv"),
    *("/compare", "/organize", "/organize/alike", "/organize/limits", "/organize/people", "/organize/log"),
    *("/health", "/health.json", "/organize/health", "/organize/health.json"),
)
pytestmark = pytest.mark.django_db
OUT = os.environ.get("PAGES")


class Site:
    """Three benchmarks with three graded submissions each, and a browser of an admin who sent them."""

    def __init__(self, folder: Path) -> None:
        from django.test import Client

        from gluebench.leaderboard.apps.accounts.models import User

        self.admin = User.objects.create(email="root@example.org", is_staff=True, is_superuser=True)
        self.client = Client()
        self.client.force_login(self.admin)
        self.benchmarks: dict[str, Any] = {}
        self.runs: dict[str, list[Any]] = {}
        for name in ("forms", "losses", "mixed"):
            self.benchmarks[name] = self._added(folder, name)
            self.runs[name] = [self._sent(folder / name / "runs" / str(run), name) for run in range(3)]
        for benchmark in self.benchmarks.values():
            assert renewed(benchmark).failure == ""

    def _added(self, folder: Path, name: str) -> Any:
        from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
        from gluebench.leaderboard.apps.benchmarks.models import Benchmark

        manifest = every_form.write(folder / name, name)
        add_benchmark(str(manifest), folder / name / "gold", folder / name / "data")
        made = Benchmark.objects.get(name=name)
        made.settings = {"per_day": None, "at_once": None}
        made.save()
        return made

    def _sent(self, run: Path, benchmark: str) -> Any:
        from django.core.files.base import ContentFile

        from gluebench.leaderboard.apps.submissions.grading import grade
        from gluebench.leaderboard.apps.submissions.models import Submission
        from gluebench.leaderboard.apps.uploads.accept import accept

        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            for path in sorted(run.iterdir()):
                archive.write(path, path.name)
        details = {"name": f"Run {run.name}", "model": "BiLSTM", "public": True, "parameters": 10**6}
        row = Submission(owner=self.admin, benchmark=self.benchmarks[benchmark], **details)
        sent = accept(row, ContentFile(data.getvalue(), name="run.zip"))
        grade(sent.pk)
        sent.refresh_from_db()
        return sent

    def page(self, address: str) -> str:
        """What a browser shows, following redirects. Fails unless the page is there."""
        answer = self.client.get(address, follow=True)
        body = b"".join(answer) if answer.streaming else answer.content
        assert answer.status_code == 200, (address, answer.status_code, body[:300])
        if OUT:
            Path(OUT, re.sub(r"\W+", "-", address).strip("-") + ".html").write_bytes(body)
        return body.decode(errors="replace")


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from django.core.cache import caches
    from django.db import transaction
    from leaderboard.in_process import InProcess

    from gluebench.leaderboard.apps.submissions import process

    caches["pages"].clear()  # an earlier test's benchmark may have had the same number and version
    patched = pytest.MonkeyPatch()
    patched.setattr(process, "_start", InProcess)
    with django_db_blocker.unblock(), transaction.atomic():
        yield Site(tmp_path_factory.mktemp("site"))
        transaction.set_rollback(True)
    patched.undo()


def words(page: str) -> str:
    """The text of a page, one blank between words."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.replace("&nbsp;", " ")).split())


@pytest.mark.parametrize("name", ["forms", "losses", "mixed"])
def test_every_page_is_shown(site: Site, name: str) -> None:
    for page in PAGES:
        site.page(f"/benchmarks/{name}{page}")
    for task in site.benchmarks[name].record.diagnostics:
        for page in (
            "",
            ".json",
            ".csv",
            "?view=map",
            "?category=Syntax",
            "/negation",
            "/ironía",
            "/negation.json",
        ):
            site.page(f"/benchmarks/{name}/diagnostics/{task.name}{page}")
    for row in site.runs[name]:
        assert row.status == "graded", row.failure
        site.page(f"/submissions/{row.key}")
        site.page(f"/submissions/{row.key}.json")
        site.page(f"/submissions/{row.key}.bib")
        site.page(f"/submissions/{row.key}/detail")
    for task in site.benchmarks[name].record.scored:
        site.page(f"/benchmarks/{name}/tasks/{task.name}")
        for ending in ("json", "csv", "tex", "md"):
            site.page(f"/benchmarks/{name}/tasks/{task.name}.{ending}")
    for path in site.benchmarks[name].data_files.values_list("path", flat=True):
        site.page(f"/benchmarks/{name}/data/{path}")


def test_losses_are_sorted_and_announced_by_the_numbers_that_are_shown(site: Site) -> None:
    def order(query: str) -> tuple[list[float], str]:
        page = site.page(f"/benchmarks/losses?sort=Rating{query}")
        head = re.search(r'data-sort="Rating"[^>]*aria-sort="(\w+)"', page)
        assert head
        return [
            -rating_of(site, int(run)) for run in re.findall(r'class="name"><a[^>]*>Run (\d+)</a>', page)
        ], head[1]

    rising = [1.0, 1.0, 1.882]
    assert order("") == order("&order=asc") == (rising, "ascending")
    assert order("&order=desc") == (rising[::-1], "descending")


def rating_of(site: Site, run: int) -> float:
    value: float = site.runs["losses"][run].scores["tasks"]["Rating"]["score"]["value"]
    return value


def test_a_loss_is_written_as_it_is_with_an_arrow_down(site: Site) -> None:
    best = site.runs["losses"][2]
    loss = -best.scores["tasks"]["Rating"]["metrics"]["neg_rmse"]["value"]
    board = words(site.page("/benchmarks/losses"))
    assert re.search(rf"Run 2 may be best BiLSTM · 3rd submission {-best.value:.3f} [^:]* {loss:.3f} ", board)
    assert "Score ↓" in board
    assert "Rating ↓" in board
    assert "times 100" not in board
    assert "People reference us 0.200 0.250" in board
    report = words(site.page(f"/submissions/{best.key}"))
    assert f"RMSE ↓ {loss:.3f}" in report
    assert "× 100" not in report
    assert f"Score {-best.value:.3f}." in site.page(f"/submissions/{best.key}.bib")
    assert r"Score $\downarrow$" in site.page("/benchmarks/losses.tex")


def test_a_board_with_losses_and_shares_is_ordered_by_the_task_that_counts(site: Site) -> None:
    best = max(site.runs["mixed"], key=lambda run: run.value)
    tasks = best.scores["tasks"]
    loss = -tasks["Rating"]["score"]["value"]
    shares = [100 * tasks["Humor"]["metrics"][name]["value"] for name in ("accuracy", "f1")]
    board = words(site.page("/benchmarks/mixed"))
    assert best.value == -loss
    assert re.search(rf"{loss:.3f} −[^:]* {loss:.3f} {shares[0]:.1f}/{shares[1]:.1f}", board)
    assert "its score is that of Rating, the lower the better" in board
    first = json.loads(site.page("/benchmarks/mixed.json"))["rows"][0]
    assert (first["rank"], first["key"]) == (1, best.key)
    report = words(site.page(f"/submissions/{best.key}"))
    assert "Every metric × 100, losses ↓ as they are" in report
    assert f"RMSE ↓ {loss:.3f}" in report
    assert f"F1 {shares[1]:.1f}" in report
    own = json.loads(site.page("/benchmarks/mixed/tasks/Humor.json"))["rows"]
    values = [row["score"]["value"] for row in own]
    assert values == sorted(values, reverse=True)


def test_programs_get_negated_losses(site: Site) -> None:
    best = site.runs["losses"][2]
    row = json.loads(site.page("/benchmarks/losses.json"))["rows"][0]
    rating = row["tasks"]["Rating"]["metrics"]["neg_rmse"]
    assert rating["loss"] is True
    assert rating["low"] <= rating["value"] <= rating["high"] <= 0
    heading, first, *_ = site.page("/benchmarks/losses.csv").splitlines()
    assert "Rating.neg_rmse" in heading
    assert f"{best.value:.12g}" in first


def test_a_difference_of_losses_is_above_0_where_the_loss_is_lower(site: Site) -> None:
    from gluebench.leaderboard.apps.ranks.compare_views import comparison_of
    from gluebench.leaderboard.apps.ranks.models import Pair
    from gluebench.leaderboard.apps.ranks.renewing import compare_pair

    worst, _, best = site.runs["losses"]
    comparison_of(worst, best)
    compare_pair.call(Pair.objects.latest("pk").pk)
    page = words(site.page(f"/benchmarks/losses/compare?a={worst.key}&b={best.key}"))
    difference = worst.value - best.value
    assert f"{-worst.value:.3f} {-best.value:.3f} −{-difference:.3f}" in page
    assert f"{best.name} is better by {-difference:.3f}" in page
    assert "point" not in page
    assert f"+{-difference:.3f}" in words(site.page("/benchmarks/losses/pairs"))


def test_a_weighted_mean_says_so_and_a_column_has_the_name_of_its_task(site: Site) -> None:
    board = words(site.page("/benchmarks/forms"))
    assert "the weighted mean of the scores of 10 tasks (Certainty by 2, all others by 1), times 100" in board
    assert "Opinión política" in board
    assert "Opini%C3%B3n%20pol%C3%ADtica" in site.page("/benchmarks/forms")


def test_the_form_names_the_cells_and_files_that_are_expected(site: Site) -> None:
    page = words(site.page("/benchmarks/forms/submit"))
    assert "answers.csv, column offense 40 a number from 0 to 5" in page
    assert "Places.tsv 40 spans as 0-5:LOC; 12-20:LOC, in plain digits, the end not included" in page
    assert "Causes.tsv 40 a JSON list of the sentence, once for each relation, as" in page


def test_the_sample_submission_is_valid(site: Site, tmp_path: Path) -> None:
    from gluebench.submission import check

    for name, benchmark in site.benchmarks.items():
        answer = site.client.get(f"/benchmarks/{name}/data/sample-submission.zip")
        path = tmp_path / f"{name}.zip"
        path.write_bytes(b"".join(answer))
        assert check(str(path), benchmark.record).verdict == "valid"


def test_predictions_of_every_form_are_compared_for_likeness(site: Site) -> None:
    from gluebench.leaderboard.apps.similarity.samples import near_pairs, take_sample

    for name, benchmark in site.benchmarks.items():
        files = [take_sample(row.file.path, benchmark.record) for row in site.runs[name]]
        assert set(files[0]) == {file.name for file in benchmark.record.files()}
        samples = [{"owner": owner, "files": files[run]} for owner, run in enumerate((0, 2, 2))]
        assert near_pairs(samples) == [(1, 2, 1.0)]


@pytest.mark.parametrize("name", ["forms", "losses"])
def test_the_ladder_and_rows_that_are_held_back_take_every_form(site: Site, name: str) -> None:
    from gluebench.scoring import grade, read_gold
    from gluebench.scoring.feedback import climb
    from gluebench.scoring.split import part_of
    from gluebench.submission import check

    benchmark = site.benchmarks[name]
    gold = read_gold(benchmark.gold_path, benchmark.record)
    worst, _, best = (check(row.file.path, benchmark.record) for row in site.runs[name])
    tasks = [task.name for task in benchmark.record.tasks]
    step = climb(worst, dict.fromkeys(tasks, best), gold)
    assert (step.new, step.kept) == ((), tuple(tasks))
    public, held = (part_of(gold, rows, share=0.5, key=b"key") for rows in ("public", "held back"))
    for file, column in gold.columns.items():
        assert len(public.columns[file]) + len(held.columns[file]) == len(column)
        assert abs(len(public.columns[file]) - every_form.ROWS / 2) <= 5
    assert grade(best, public).score is not None
