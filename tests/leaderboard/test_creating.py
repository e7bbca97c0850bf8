"""A benchmark made in the browser: from tables, from a manifest, and one whose files are replaced."""

from __future__ import annotations

import io
import json
import stat
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from leaderboard.material import GOLD, MANIFEST, tsv, write_data, write_gold

from gluebench.leaderboard.audit.models import Entry
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.organizing import creating
from gluebench.leaderboard.submissions.grading import grade

ROWS = [
    (f"Stay {at}: the {thing} was fine.", "good" if at % 3 else "bad")
    for at, thing in enumerate(["bed"] * 12)
]
CANARY = "Stay 5"


def table(rows: list[tuple[str, str]]) -> bytes:
    return ("review,label\n" + "".join(f"{text},{label}\n" for text, label in rows)).encode()


def upload(name: str, data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data)


def zipped(folder: Path) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for path in sorted(folder.rglob("*.tsv")):
            archive.write(path, path.relative_to(folder))
    return file.getvalue()


def tables(**parts: bytes) -> list[SimpleUploadedFile]:
    return [upload(name.replace("_", "."), data) for name, data in parts.items()]


@pytest.fixture
def admin(person: Any) -> Client:
    user = person("admin@example.org")
    user.is_superuser = user.is_staff = True
    user.save()
    client = Client()
    client.force_login(user)
    return client


def test_tables_become_a_draft_that_grades(admin: Client, own_grader: None) -> None:
    files = tables(train_csv=table(ROWS[:4]), test_csv=table(ROWS[4:]))
    answer = admin.post(
        "/organize/new", {"name": "hotels", "title": "Hotels", "tables": files, "license": "CC0-1.0"}
    )
    assert answer.status_code == 302, answer.content.decode()
    page = admin.get(answer["Location"]).content.decode()
    assert [word for word in ("you set it", "bad 50.0 %", "test size") if word not in page] == []
    assert not Benchmark.objects.exists()
    assert (
        admin.post(answer["Location"], {"act": "create"})["Location"] == "/benchmarks/hotels/organize/setup"
    )
    row = Benchmark.objects.get()
    assert (row.name, row.title, row.draft) == ("hotels", "Hotels", True)
    assert [*row.organizers.values_list("email", flat=True)] == ["admin@example.org"]
    assert Entry.objects.filter(action="benchmark added", benchmark="hotels").exists()
    public = {file.path for file in row.data_files.all()}
    assert public == {"hotels/train.tsv", "hotels/test.tsv", "sample-submission.zip"}
    data = b"".join(admin.get("/benchmarks/hotels/data/hotels/test.tsv").streaming_content)  # type: ignore[attr-defined]
    assert data.decode().splitlines()[0] == "index\treview"
    assert admin.get(answer["Location"]).status_code == 404
    assert not [*settings.FOLDER.uploads.glob("organize-*")]
    assert stat.S_IMODE((row.gold_path / "hotels.tsv").stat().st_mode) == 0o600


def test_a_draft_can_be_submitted_to_by_its_organizer(admin: Client) -> None:
    create(admin, {"name": "hotels", "tables": tables(test_csv=table(ROWS))})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("hotels.tsv", tsv([label for _, label in ROWS], "prediction"))
    sent = {"upload": upload("p.zip", file.getvalue()), "name": "Mine", "model": "None", "regime": "other"}
    assert admin.post("/benchmarks/hotels/submit", sent).status_code == 302
    submission = Benchmark.objects.get().submissions.get()
    grade(submission.pk)
    submission.refresh_from_db()
    assert submission.value == 1.0


def create(client: Client, fields: Mapping[str, Any]) -> Benchmark:
    answer = client.post("/organize/new", fields)
    assert answer.status_code == 302, answer.content.decode()
    client.post(answer["Location"], {"act": "create"})
    return Benchmark.objects.latest("pk")


def test_json_and_a_zip_of_several_tasks(admin: Client) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("mood/test.json", json.dumps([{"text": text, "label": word} for text, word in ROWS]))
        lines = "".join(
            json.dumps({"text": text, "label": at / 4}) + "\n" for at, (text, _) in enumerate(ROWS)
        )
        archive.writestr("tone/test.jsonl", lines)
    row = create(
        admin, {"name": "both", "tables": [upload("both.zip", file.getvalue())], "score_range": "tone=0,5"}
    )
    assert [task.name for task in row.record.tasks] == ["mood", "tone"]
    assert row.record.task("tone").score_range == (0.0, 5.0)


def test_a_manifest_with_diagnostics_and_its_parent(admin: Client, tmp_path: Path) -> None:
    gold, data = zipped(write_gold(tmp_path / "gold")), zipped(write_data(tmp_path / "data"))
    child = b'[benchmark]\nname = "mine"\ntitle = "Mine"\nextends = "./tiny.toml"\ntasks = ["Sim", "DX"]\n'
    fields = {
        "manifest": upload("mine.toml", child),
        "gold": upload("g.zip", gold),
        "examples": upload("d.zip", data),
    }
    alone = admin.post("/organize/new", fields)
    assert alone.status_code == 422
    assert "upload that file too" in alone.content.decode()
    fields = {
        "manifest": upload("mine.toml", child),
        "gold": upload("g.zip", gold),
        "examples": upload("d.zip", data),
    }
    row = create(admin, {**fields, "parents": [upload("tiny.toml", MANIFEST.read_bytes())]})
    assert row.record.extends == ("tiny",)
    assert [task.name for task in row.record.diagnostics] == ["DX"]
    assert tomllib.loads(row.manifest)["benchmark"]["extends"] == "./parent-1.toml"
    assert row.data_files.filter(task="Sim").count() == 2


@pytest.mark.parametrize("parent", ["/etc/passwd", "../../secret-key/x.toml", "./../labels/x.toml"])
def test_a_manifest_reaches_no_file_of_the_machine(admin: Client, parent: str) -> None:
    text = f'[benchmark]\nname = "mine"\nextends = "{parent}"\n'.encode()
    answer = admin.post("/organize/new", {"manifest": upload("m.toml", text), "gold": upload("g.zip", b"PK")})
    assert answer.status_code == 422
    assert "upload that file too" in answer.content.decode()


def test_all_problems_are_shown_together_and_nothing_is_kept(admin: Client) -> None:
    broken = b"review,label\nA,good\nB\n"
    answer = admin.post(
        "/organize/new", {"name": "x", "tables": tables(train_csv=broken, test_csv=b"text\n")}
    )
    page = answer.content.decode()
    assert answer.status_code == 422
    assert [place for place in ("train.csv:3", "test.csv:1") if place not in page] == []
    assert str(settings.FOLDER.root) not in page
    assert not [*settings.FOLDER.uploads.glob("organize-*")]


def test_a_bomb_is_refused(admin: Client) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("test.csv", b"0" * (1 << 27))
    page = admin.post("/organize/new", {"name": "x", "tables": [upload("x.zip", file.getvalue())]})
    assert page.status_code == 422
    assert "far more than text can" in page.content.decode()


def test_uploads_are_private_until_they_are_built(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def look(job: Any, *, account: int) -> dict[str, Any]:
        folder = Path(job["build"]["folder"])
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")))
        return {"problems": ["stop"]}

    monkeypatch.setattr(creating, "run_in_turn", look)
    admin.post("/organize/new", {"name": "x", "tables": tables(train_csv=table(ROWS), test_csv=table(ROWS))})
    assert sorted(map(oct, seen)) == ["0o600", "0o600", "0o700", "0o700", "0o700"]


def test_new_labels_need_a_reason_and_grade_again(
    admin: Client, graded: Any, tiny: Benchmark, tmp_path: Path
) -> None:
    submission = graded()
    before = submission.value
    gold = write_gold(tmp_path / "gold")
    (gold / "Para.tsv").write_text(tsv([str(1 - int(word)) for word in GOLD["Para"]], "label"))
    here = "/benchmarks/tiny/organize/replace"
    assert admin.post(here, {"gold": upload("g.zip", zipped(gold))}).status_code == 422
    answer = admin.post(here, {"gold": upload("g.zip", zipped(gold)), "reason": "Fixed Para"})
    assert tiny.submissions.get().status == "graded"
    admin.post(answer["Location"], {"act": "create"})
    grade(submission.pk)
    submission.refresh_from_db()
    assert submission.value < before
    assert submission.results.first().why == "Fixed Para"
    entry = Entry.objects.get(action="labels")
    assert (entry.reason, entry.benchmark) == ("Fixed Para", "tiny")
    assert not Benchmark.objects.get().draft


def test_tables_replace_all_three_and_keep_the_title(admin: Client) -> None:
    create(admin, {"name": "hotels", "title": "Hotels", "tables": tables(test_csv=table(ROWS))})
    turned = [(text, "bad" if label == "good" else "good") for text, label in ROWS]
    train = [(f"Before: {text}", label) for text, label in ROWS]
    fields = {"tables": tables(train_csv=table(train), test_csv=table(turned)), "reason": "Turned around"}
    answer = admin.post("/benchmarks/hotels/organize/replace", fields)
    admin.post(answer["Location"], {"act": "create"})
    row = Benchmark.objects.get()
    assert row.title == "Hotels"
    assert {file.split for file in row.data_files.exclude(task="")} == {"train", "test"}
    assert (row.gold_path / "hotels.tsv").read_text().splitlines()[1] == "0\tgood"


def test_a_manifest_of_another_name_replaces_nothing(admin: Client, tiny: Benchmark) -> None:
    text = MANIFEST.read_text().replace('name = "tiny"', 'name = "other"')
    fields = {"manifest": upload("m.toml", text.encode()), "reason": "Why not"}
    answer = admin.post("/benchmarks/tiny/organize/replace", fields)
    assert answer.status_code == 422
    assert "expected name = &quot;tiny&quot;" in answer.content.decode()


def test_who_may_create(person: Any, tiny: Benchmark) -> None:
    client = Client()
    client.force_login(person("some@example.org"))
    assert client.get("/organize/new").status_code == 403
    assert b"New benchmark" not in client.get("/submissions").content
    with override_settings(RUNNING=settings.RUNNING._replace(create="accounts")):
        assert b"New benchmark" in client.get("/submissions").content
        row = create(client, {"name": "hotels", "tables": tables(test_csv=table(ROWS))})
        assert client.get("/submissions").status_code == 200, "creating one's own ends no session"
    assert row.draft
    other = Client()
    other.force_login(person("another@example.org"))
    assert other.get("/benchmarks/hotels").status_code == 404
