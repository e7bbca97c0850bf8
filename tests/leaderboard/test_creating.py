"""A benchmark made in the browser: from tables, from a manifest, and one whose files are replaced."""

from __future__ import annotations

import io
import json
import shutil
import stat
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from leaderboard.material import GOLD, MANIFEST, tsv, write_data, write_gold

from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks import adding, contents
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.organizing import creating
from gluebench.leaderboard.apps.submissions.grading import grade

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
    for kept in settings.FOLDER.uploads.glob("organize-*"):
        shutil.rmtree(kept)
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
    setup = admin.get(answer["Location"])["Location"]
    assert setup == "/benchmarks/hotels/organize/setup"
    kept = [path.name for path in settings.FOLDER.uploads.glob("organize-*/**/*") if path.is_file()]
    assert kept == ["summary.json"]
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


def preview_of(client: Client, title: str, rows: list[tuple[str, str]] = ROWS, name: str = "hotels") -> str:
    """Send the tables of a benchmark; returns the address of its preview."""
    fields = {"name": name, "title": title, "tables": tables(test_csv=table(rows))}
    answer = client.post("/organize/new", fields)
    assert answer.status_code == 302, answer.content.decode()
    return answer["Location"]


def before(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Let `act` happen once, just before the first call of a function of `creating`."""
    function, acts = getattr(creating, name), [act]

    def called(*arguments: Any, **options: Any) -> Any:
        while acts:
            acts.pop()()
        return function(*arguments, **options)

    monkeypatch.setattr(creating, name, called)


def test_creating_never_replaces_what_another_person_creates_at_the_same_moment(
    admin: Client, person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Client()
    other.force_login(person("other@example.org"))
    with override_settings(RUNNING=settings.RUNNING._replace(create="accounts")):
        winner, loser = preview_of(other, "Theirs"), preview_of(admin, "Mine", ROWS[1:])
        before(monkeypatch, "store", lambda: other.post(winner, {"act": "create"}))
        answer = admin.post(loser, {"act": "create"}, follow=True)
    row = Benchmark.objects.get()
    assert (row.title, row.record.tasks[0].splits["test"].size) == ("Theirs", len(ROWS))
    assert [*row.organizers.values_list("email", flat=True)] == ["other@example.org"]
    assert "The name hotels is taken: nothing was created." in answer.content.decode()


def test_creating_refuses_a_name_that_appears_while_files_are_stored(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    loser = preview_of(admin, "Mine")
    keep, theirs = adding._keep_gold, [Benchmark(name="hotels", title="Theirs")]

    def kept(*arguments: Any) -> Any:
        theirs.pop().save()
        return keep(*arguments)

    monkeypatch.setattr(adding, "_keep_gold", kept)
    admin.post(loser, {"act": "create"})
    row = Benchmark.objects.get()
    assert (row.title, row.manifest, row.data_files.count()) == ("Theirs", "", 0)


def test_a_double_click_creates_one_benchmark_and_both_answers_lead_to_it(admin: Client) -> None:
    preview = preview_of(admin, "Hotels")
    answers = [admin.post(preview, {"act": "create"}) for _ in range(2)]
    assert [answer["Location"] for answer in answers] == ["/benchmarks/hotels/organize/setup"] * 2
    assert Benchmark.objects.count() == 1


def test_files_of_one_preview_do_not_remove_those_of_another(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    before(monkeypatch, "run_build", lambda: preview_of(admin, "Second"))
    first = preview_of(admin, "First")
    assert "First" in admin.get(first).content.decode()


def test_of_each_account_few_previews_are_kept(admin: Client) -> None:
    made = [preview_of(admin, f"Number {number}") for number in range(6)]
    assert [admin.get(address).status_code for address in made] == [404] * 2 + [200] * 4


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
        folder = Path(job["folder"])
        seen.extend(stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*")))
        return {"problems": ["stop"]}

    monkeypatch.setattr(creating, "run_build", look)
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
    assert b"New benchmark" not in client.get("/organize").content
    with override_settings(RUNNING=settings.RUNNING._replace(create="accounts")):
        assert b"New benchmark" in client.get("/organize").content
        row = create(client, {"name": "hotels", "tables": tables(test_csv=table(ROWS))})
        assert client.get("/submissions").status_code == 200, "creating one's own ends no session"
    assert row.draft
    other = Client()
    other.force_login(person("another@example.org"))
    assert other.get("/benchmarks/hotels").status_code == 404


def test_an_account_creates_few_benchmarks_and_an_admin_any_number(
    admin: Client, person: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adding, "BENCHMARKS_OF_ACCOUNT", 1)
    client = Client()
    client.force_login(person("some@example.org"))
    with override_settings(RUNNING=settings.RUNNING._replace(create="accounts")):
        late = preview_of(client, "Second", name="second")
        create(client, {"name": "first", "tables": tables(test_csv=table(ROWS))})
        refused = client.post(late, {"act": "create"}, follow=True)
        assert "You organize 1 benchmarks, the most" in refused.content.decode()
        third = client.post("/organize/new", {"name": "third", "tables": tables(test_csv=table(ROWS))})
        assert (third.status_code, "You organize 1 benchmarks" in third.content.decode()) == (422, True)
        assert client.post("/benchmarks/first/organize/duplicate", {"name": "x", "title": "X"}).status_code
    assert [*Benchmark.objects.values_list("name", flat=True)] == ["first"]
    for name in ("one", "two"):
        create(admin, {"name": name, "tables": tables(test_csv=table(ROWS))})
    assert Benchmark.objects.count() == 3


def test_a_manifest_that_is_too_long_is_refused(admin: Client, tmp_path: Path) -> None:
    gold = zipped(write_gold(tmp_path / "gold"))
    long = MANIFEST.read_bytes() + b"# " + b"x" * contents.MANIFEST_SIZE
    fields = {"manifest": upload("m.toml", long), "gold": upload("g.zip", gold)}
    answer = admin.post("/organize/new", fields)
    assert answer.status_code == 422
    assert "expected at most 4,000,000" in answer.content.decode()
