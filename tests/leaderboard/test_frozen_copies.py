"""An organizer's frozen copy: asked for on a page, made by a worker, and verified elsewhere."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.test import Client
from leaderboard.material import CANARIES, MANIFEST, PREDICTIONS, zip_bytes

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark, keep_public
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.organizing import copying
from gluebench.leaderboard.apps.organizing.models import FrozenCopy
from gluebench.leaderboard.apps.results.models import Results
from gluebench.leaderboard.apps.submissions.models import Submission, Worker
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.serving import health, maintenance
from gluebench.leaderboard.serving.checks import Check

pytestmark = pytest.mark.django_db
HERE = "/benchmarks/tiny/organize/copy"


@pytest.fixture
def organizer(tiny: Benchmark, person: Any) -> Client:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def board(graded: Callable[..., Submission], gold_folder: Path, tmp_path: Path) -> Submission:
    """Two systems of tiny, a private one, and another benchmark with one system."""
    first = graded(name="Best", team="Owls")
    graded(zip_bytes({**PREDICTIONS, "Para": "000000"}), name="Second")
    graded(name="Hidden 7", public=False)
    folder = tmp_path / "other"
    folder.mkdir()
    manifest = folder / "other.toml"
    manifest.write_text(MANIFEST.read_text().replace('name = "tiny"', 'name = "other"', 1))
    add_benchmark(str(manifest), gold_folder)
    graded(name="Of the other benchmark", benchmark=Benchmark.objects.get(name="other"))
    return first


def downloaded(client: Client, folder: Path) -> Path:
    """The copy, unpacked."""
    answer = client.get(f"{HERE}.zip")
    assert answer.status_code == 200
    data = b"".join(answer)
    assert hashlib.sha256(data).hexdigest() == FrozenCopy.objects.get().sha256
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        archive.extractall(folder)
    return folder / "tiny-frozen"


def findings(folder: Path, *, recompute: bool = False) -> list[str]:
    return commands.verify(str(folder), None, None, None, recompute=recompute).findings


def faults() -> list[Check]:
    return [check for check in integrity.examine(files=True) if not check.ok]


def test_a_copy_is_made_by_a_worker_and_is_of_this_benchmark_alone(
    organizer: Client, board: Submission, tmp_path: Path
) -> None:
    before = faults()
    assert "Make the copy" in organizer.get(HERE).content.decode()
    assert organizer.post(HERE, {"act": "make", "labels": "on"}).status_code == 302
    assert organizer.get(f"{HERE}.zip").status_code == 404
    page = organizer.post(HERE, {"act": "make"}, follow=True).content.decode()
    assert "A copy is being made already." in page
    maintenance.copy_all()
    page = organizer.get(HERE).content.decode()
    assert FrozenCopy.objects.get().sha256 in page
    assert "without labels" in " ".join(page.split())
    copy = downloaded(organizer, tmp_path)
    assert findings(copy) == []
    assert "Best" in (copy / "index.html").read_text()
    assert (copy / "benchmarks/tiny.json").is_file()
    texts = [path.read_bytes() for path in copy.rglob("*") if path.is_file()]
    assert not any(b"Of the other benchmark" in text or b"Hidden 7" in text for text in texts)
    assert not any(canary.encode() in text for canary in CANARIES for text in texts)
    assert not list(copy.rglob("*other*"))
    assert not (copy / "release").exists()
    assert [entry.action for entry in Entry.objects.all()][:2] == ["frozen copy made", "frozen copy"]
    assert not list(settings.FOLDER.uploads.glob("copy-*"))
    assert faults() == before


def test_a_copy_with_released_labels_gives_the_same_ranks(
    organizer: Client, tiny: Benchmark, board: Submission, tmp_path: Path
) -> None:
    archive = keep_public("tiny", b"An archive of results")
    Results.objects.create(benchmark=tiny, labels=True, made=tiny.added, file=archive)
    assert "With the test labels" in organizer.get(HERE).content.decode()
    organizer.post(HERE, {"act": "make", "labels": "on"})
    maintenance.copy_all()
    copy = downloaded(organizer, tmp_path)
    assert findings(copy, recompute=True) == []
    assert {path.name for path in (copy / "release/tiny/predictions").iterdir()} == {
        row.key for row in Submission.objects.public().filter(benchmark=tiny)
    }
    board_file = copy / "benchmarks/tiny.json"
    board_file.write_text(board_file.read_text().replace("Best", "Rest"))
    assert findings(copy)
    (copy / "SHA256SUMS").write_text((copy / "SHA256SUMS").read_text().replace("1 tiny", "1 other", 1))
    assert any("SHA256SUMS" in finding for finding in findings(copy))


def test_a_copy_is_deleted_and_replaced_with_its_file(
    organizer: Client, board: Submission, django_capture_on_commit_callbacks: Any
) -> None:
    files = []
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            organizer.post(HERE, {"act": "make"})
            assert all(file.is_file() for file in files), "the earlier copy stays until the new one is made"
            assert organizer.get(f"{HERE}.zip").status_code == (200 if files else 404)
            assert ("Download the earlier copy" in organizer.get(HERE).content.decode()) == bool(files)
            maintenance.copy_all()
        files.append(settings.FOLDER.root / "data" / FrozenCopy.objects.get().file)
    assert [file.is_file() for file in files] == [False, True]
    with django_capture_on_commit_callbacks(execute=True):
        organizer.post(HERE, {"act": "delete"})
    assert not FrozenCopy.objects.exists()
    assert not files[1].exists()
    assert Entry.objects.first().action == "frozen copy deleted"  # type: ignore[union-attr]


def test_a_draft_has_no_copy(organizer: Client, tiny: Benchmark) -> None:
    Benchmark.objects.filter(pk=tiny.pk).update(draft=True)
    assert "Make the copy" not in organizer.get(HERE).content.decode()
    organizer.post(HERE, {"act": "make"})
    assert not FrozenCopy.objects.exists()


def test_a_copy_of_a_dead_worker_is_begun_again_and_given_up_after_three_times(
    organizer: Client, board: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    organizer.post(HERE, {"act": "make"})
    Worker.objects.create(name="elsewhere:1", seen=Now())
    FrozenCopy.objects.update(worker="elsewhere:1", attempts=1)
    copying.make_copies()
    assert FrozenCopy.objects.get().attempts == 1, "the other one lives"
    Worker.objects.update(seen=Now() - 2 * health.WORKER_SECONDS)

    def stopped(*_: Any, **__: Any) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(copying, "freeze", stopped)
    for _ in range(4):
        maintenance.copy_all()
    row = FrozenCopy.objects.get()
    assert (row.attempts, row.failure, row.made) == (3, copying.GIVEN_UP, None)
    assert copying.GIVEN_UP in organizer.get(HERE).content.decode()


def test_a_copy_that_is_too_large_says_so(
    organizer: Client, board: Submission, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copying, "MOST_BYTES", 10_000)
    organizer.post(HERE, {"act": "make"})
    maintenance.copy_all()
    assert "GiB" in FrozenCopy.objects.get().failure
    assert not list(settings.FOLDER.uploads.glob("copy-*"))
