"""A site with tasks of every form of answers, and a benchmark of losses: every page of both, once."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import every_form
import pytest

PAGES = (
    *("", ".json", ".csv", ".tex", ".md", "?intervals=1", "?by=median", "?view=training"),
    *("/data", "/data.json", "/croissant.json", "/submit", "/rules", "/rules.json", "/rules.csv"),
    *("/pairs", "/pairs.json", "/pairs.csv", "/efficiency", "/progress", "/progress.json", "/progress.csv"),
    *("/compare", "/organise", "/organise/alike", "/organise/limits", "/organise/people", "/organise/log"),
)
pytestmark = pytest.mark.django_db
OUT = os.environ.get("PAGES")


class Site:
    """Two benchmarks with three graded submissions each, and a browser of an admin who sent them."""

    def __init__(self, folder: Path) -> None:
        from django.test import Client

        from gluebench.leaderboard.accounts.models import User
        from gluebench.leaderboard.ranks.renewing import look, renew_ranking

        self.admin = User.objects.create(email="root@example.org", is_staff=True, is_superuser=True)
        self.client = Client()
        self.client.force_login(self.admin)
        self.benchmarks: dict[str, Any] = {}
        self.runs: dict[str, list[Any]] = {}
        for name in ("forms", "losses"):
            self.benchmarks[name] = self._added(folder, name)
            self.runs[name] = [self._sent(folder / name / "runs" / str(run), name) for run in range(3)]
        look()
        for benchmark in self.benchmarks.values():
            renew_ranking.call(benchmark.pk)

    def _added(self, folder: Path, name: str) -> Any:
        from gluebench.leaderboard.benchmarks.adding import add_benchmark
        from gluebench.leaderboard.benchmarks.models import Benchmark

        manifest = every_form.write(folder / name, name)
        add_benchmark(str(manifest), folder / name / "gold", folder / name / "data")
        made = Benchmark.objects.get(name=name)
        made.settings = {"per_day": None, "at_once": None}
        made.save()
        return made

    def _sent(self, run: Path, benchmark: str) -> Any:
        from django.core.files.base import ContentFile

        from gluebench.leaderboard.submissions.grading import grade
        from gluebench.leaderboard.submissions.models import Submission
        from gluebench.leaderboard.uploads.accept import accept

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
    from django.db import transaction
    from leaderboard.forked import Forked

    from gluebench.leaderboard.submissions import process

    patched = pytest.MonkeyPatch()
    patched.setattr(process, "_start", Forked)
    with django_db_blocker.unblock(), transaction.atomic():
        yield Site(tmp_path_factory.mktemp("site"))
        transaction.set_rollback(True)
    patched.undo()


def words(page: str) -> str:
    """The text of a page, one blank between words."""
    return " ".join(re.sub(r"<[^>]+>", " ", page.replace("&nbsp;", " ")).split())


@pytest.mark.parametrize("name", ["forms", "losses"])
def test_every_page_is_shown(site: Site, name: str) -> None:
    for page in PAGES:
        site.page(f"/benchmarks/{name}{page}")
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
