"""Files of phases: for everybody at their minute, before it for organizers alone, without leaks."""

from __future__ import annotations

import hashlib
import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.phased import Clock, Make, Visitor, at

from gluebench.leaderboard.apps.accounts.models import issue
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.problems import ProblemError
from gluebench.leaderboard.apps.limits.phase_acts import delete_phase, extend
from gluebench.leaderboard.apps.limits.phase_files import add_file, delete_file
from gluebench.leaderboard.apps.phases.models import Phase, PhaseFile
from gluebench.leaderboard.apps.submissions.grading import phases_due
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.freeze import freeze

PAGE = "/benchmarks/tiny/data"
INPUTS = b"index\tsentence\n0\tA made-up sentence of the test\n"
LABELS = b"index\tlabel\n0\tyes-the-secret-label\n"


@pytest.fixture
def organizer(tiny: Benchmark, person: Any) -> Client:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    return Visitor(user)


@pytest.fixture
def evaluation(clock: Clock, phase: Make) -> Phase:
    clock.move("2027-05-20 00:00")
    return phase("Test", "2027-06-01 12:30", "2027-06-10 11:59", shown="closed")


def add(phase: Phase, path: str, content: bytes, release: str = "opens", moment: Any = None) -> PhaseFile:
    upload = SimpleUploadedFile("x", content)
    add_file(phase, None, upload=upload, path=path, release=release, moment=moment)
    return PhaseFile.objects.get(path=path)


def statuses(path: str, *clients: Client) -> list[int]:
    return [client.get(f"{PAGE}/{path}").status_code for client in clients]


def test_inputs_come_when_the_phase_opens_and_labels_with_its_results(
    client: Client, ada: Any, organizer: Client, evaluation: Phase, clock: Clock
) -> None:
    add(evaluation, "test/inputs.tsv", INPUTS)
    add(evaluation, "test/labels.tsv", LABELS, "results")
    add(evaluation, "scorer.txt", b"Its sources", "time", at("2027-06-05 08:00"))
    everybody = (client, Visitor(ada), organizer)

    def seen() -> dict[str, list[int]]:
        return {
            path: statuses(path, *everybody) for path in ("test/inputs.tsv", "test/labels.tsv", "scorer.txt")
        }

    hidden, shown = [404, 404, 200], [200, 200, 200]
    clock.move("2027-06-01 12:29")
    assert seen() == {"test/inputs.tsv": hidden, "test/labels.tsv": hidden, "scorer.txt": hidden}
    clock.move("2027-06-01 12:30")
    assert seen() == {"test/inputs.tsv": shown, "test/labels.tsv": hidden, "scorer.txt": hidden}
    assert b"".join(client.get(f"{PAGE}/test/inputs.tsv")) == INPUTS
    clock.move("2027-06-05 08:00")
    assert seen()["scorer.txt"] == shown
    clock.move("2027-06-10 12:05")  # closed, and in the grace: an upload may still end
    assert seen()["test/labels.tsv"] == hidden
    clock.move("2027-06-10 12:11")
    phases_due()
    assert seen()["test/labels.tsv"] == shown
    extend(Phase.objects.get(), None, closes=at("2027-06-20 12:00"), who=None, reason="The site was down")
    assert seen()["test/labels.tsv"] == hidden


def test_the_page_and_the_interface_name_what_comes_and_when_and_list_it_from_its_minute_on(
    client: Client, evaluation: Phase, clock: Clock
) -> None:
    add(evaluation, "test/inputs.tsv", INPUTS)
    add(evaluation, "test/labels.tsv", LABELS, "results")
    digests = [hashlib.sha256(content).hexdigest() for content in (INPUTS, LABELS)]
    page, data = client.get(PAGE).content.decode(), client.get(f"{PAGE}.json").json()
    assert "test/inputs.tsv comes on 1 June 2027, 12:30 UTC." in page
    assert "test/labels.tsv comes with the results of Test." in page
    assert [file["path"] for file in data["coming"]] == ["test/inputs.tsv", "test/labels.tsv"]
    assert data["coming"] == client.get("/api/v1/benchmarks/tiny").json()["coming_data"]
    before = (
        page
        + client.get(f"{PAGE}.json").content.decode()
        + client.get(f"{PAGE}/../croissant.json").content.decode()
    )
    assert not [digest for digest in digests if digest in before]
    assert not any(f'"size": {len(content)}' in before for content in (INPUTS, LABELS))
    clock.move("2027-06-01 12:30")
    page, data = client.get(PAGE).content.decode(), client.get(f"{PAGE}.json").json()
    assert "test/inputs.tsv comes" not in page
    (file,) = [file for file in data["files"] if file["phase"] == "Test"]
    assert (file["path"], file["size"], file["sha256"]) == ("test/inputs.tsv", len(INPUTS), digests[0])
    assert file in client.get("/api/v1/benchmarks/tiny").json()["data"]
    assert client.get(file["url"]).status_code == 200
    assert digests[1] not in page


@pytest.mark.parametrize(
    "headers", [{}, {"If-None-Match": "*"}, {"Range": "bytes=1-"}, {"If-None-Match": "digest"}]
)
def test_a_file_to_come_is_answered_as_one_that_is_not_there(
    client: Client, evaluation: Phase, headers: dict[str, str]
) -> None:
    add(evaluation, "labels.tsv", LABELS, "results")
    sent = {
        name: value.replace("digest", f'"{hashlib.sha256(LABELS).hexdigest()}"')
        for name, value in headers.items()
    }
    for method in (client.get, client.head):
        there, nowhere = (method(f"{PAGE}/{path}", headers=sent) for path in ("labels.tsv", "nothing.tsv"))
        assert there.status_code == nowhere.status_code == 404
        assert there.content.replace(b"labels.tsv", b"nothing.tsv") == nowhere.content
        assert {*there.headers} == {*nowhere.headers}
        assert "ETag" not in there.headers


def test_a_frozen_copy_has_only_what_is_released(evaluation: Phase, tmp_path: Path, clock: Clock) -> None:
    add(evaluation, "inputs.tsv", INPUTS)
    add(evaluation, "labels.tsv", LABELS, "results")
    clock.move("2027-06-02 00:00")
    freeze(tmp_path / "copy")
    copied = {path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert INPUTS in copied
    assert not [content for content in copied if LABELS in content]


def form(**changes: Any) -> dict[str, Any]:
    file = SimpleUploadedFile("inputs.tsv", INPUTS)
    return {"upload": file, "path": "", "release": "opens", "moment": "", **changes}


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"path": "../gold.tsv"}, "path", "is no name for it"),
        ({"path": "page.html"}, "path", "endings .tsv"),
        ({"path": "manifest.toml"}, "path", "endings .tsv"),
        ({"path": "sample-submission.zip"}, "path", "There is a file sample-submission.zip already"),
        ({"path": "taken.tsv"}, "path", "There is a file taken.tsv already"),
        ({"release": "time"}, "moment", "Give the time"),
        ({"release": "time", "moment": "tomorrow"}, "moment", "is not a time to the minute"),
        ({"release": "never"}, "release", "not one of the available choices"),
        ({"upload": ""}, "upload", "required"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_the_reason(
    organizer: Client, evaluation: Phase, changes: dict[str, Any], field: str, sentence: str
) -> None:
    add(evaluation, "taken.tsv", INPUTS)
    page = f"/benchmarks/tiny/organize/phases/{evaluation.pk}/files"
    answer = organizer.post(page, form(**changes))
    assert answer.status_code == 422
    assert sentence in " ".join(answer.context["form"].errors[field])
    assert PhaseFile.objects.count() == 1


def test_a_phase_that_stays_open_has_no_results_to_come_with(
    organizer: Client, clock: Clock, phase: Make
) -> None:
    row = phase("Open", "2027-06-01 00:00", None)
    answer = organizer.post(f"/benchmarks/tiny/organize/phases/{row.pk}/files", form(release="results"))
    assert "stays open" in " ".join(answer.context["form"].errors["release"])


def test_a_time_is_on_the_clocks_of_the_phase_and_the_log_has_both_acts(
    organizer: Client, evaluation: Phase
) -> None:
    Phase.objects.update(zone="AoE")
    page = f"/benchmarks/tiny/organize/phases/{evaluation.pk}/files"
    answer = organizer.post(page, form(release="time", moment="2027-06-03T10:00"), follow=True)
    assert "comes on 3 June 2027, 10:00 AoE (22:00 UTC)" in answer.content.decode()
    row = PhaseFile.objects.get()
    assert (row.path, row.moment, row.size) == ("inputs.tsv", at("2027-06-03 22:00"), len(INPUTS))
    with pytest.raises(ProblemError, match="has files to download"):
        delete_phase(evaluation, None, "No more")
    organizer.post(f"/benchmarks/tiny/organize/phases/files/{row.pk}/remove", {"reason": "A wrong file"})
    acts = Entry.objects.filter(action__startswith="phase file").order_by("pk")
    assert list(acts.values_list("action", "reason")) == [
        ("phase file", ""),
        ("phase file deleted", "A wrong file"),
    ]
    assert not PhaseFile.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_deleted_file_is_gone_and_another_of_the_same_content_stays(tiny: Benchmark, phase: Make) -> None:
    row = phase("Test", "2027-06-01 12:30", "2027-06-10 11:59")
    first, second = add(row, "a.tsv", INPUTS), add(row, "b.tsv", INPUTS)
    delete_file(first, None, "Twice")
    assert not storages["data"].exists(first.file)
    assert storages["data"].open(second.file).read() == INPUTS
    with pytest.raises(ProblemError, match="already"):
        add(row, "b.tsv", LABELS)
    kept = set(storages["data"].listdir("tiny/phases")[1])
    assert second.file.rpartition("/")[2] in kept


def test_an_edit_of_a_release_in_the_database_is_found(evaluation: Phase) -> None:
    add(evaluation, "labels.tsv", LABELS, "results")
    assert all(check.ok for check in integrity.examine(files=True) if check.name != "orphan files")
    PhaseFile.objects.update(release="opens")
    (check,) = [check for check in integrity.examine() if not check.ok]
    assert "phase_files" in check.state


def test_a_program_adds_a_file_as_the_page_does(
    client: Client, organizer: Visitor, evaluation: Phase, clock: Clock
) -> None:
    secret = issue(organizer.user, "a program", ["organize"], timedelta(days=1))[1]
    address = f"/api/v1/benchmarks/tiny/organize/phases/{evaluation.pk}/files"
    headers = {"Authorization": f"Bearer {secret}"}
    answer = client.post(address, form(release="results"), headers=headers)
    assert (answer.status_code, answer.json()["message"]) == (
        200,
        "inputs.tsv is kept; it comes with the results of Test.",
    )
    assert client.get(address, headers=headers).json()["fields"]["release"] == "opens"
    assert client.post(address, form(path="x.exe"), headers=headers).json()["errors"][0]["field"] == "path"


def filled(form: Any) -> dict[str, Any]:
    """What a browser sends of a form that nobody has touched."""
    return {name: form[name].value() or "" for name in form.fields}


@pytest.mark.parametrize(
    ("preset", "names"),
    [
        ("shared-task", ["Development", "Test", "Post-competition"]),
        ("open", ["Open"]),
        ("class", ["Assignment"]),
    ],
)
def test_a_preset_fills_the_form_of_one_phase_after_the_other(
    organizer: Client, clock: Clock, preset: str, names: list[str]
) -> None:
    page = f"/benchmarks/tiny/organize/phases?preset={preset}"
    for _ in names:
        shown = organizer.get(page)
        assert not Phase.objects.filter(name=shown.context["form"]["name"].value()).exists()
        answer = organizer.post(page, filled(shown.context["form"]))
        assert answer.status_code == 302, answer.context["form"].errors
    rows = list(Phase.objects.all())
    assert [row.name for row in rows] == names
    assert rows[0].opens > clock.now
    for row, following in itertools.pairwise(rows):
        assert row.ends == following.opens
    assert not organizer.get(page).context["form"]["name"].value()  # nothing of it is left to add
    if preset == "shared-task":
        assert [row.closes is None for row in rows] == [False, False, True]
        assert (rows[1].counting, rows[1].shown, rows[1].settings["total"]) == ("last", "closed", 5)
