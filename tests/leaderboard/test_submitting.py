"""What authors do with a submission: send it once, edit it, publish it, take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade, regrade
from gluebench.leaderboard.apps.submissions.models import Revision, Submission
from gluebench.leaderboard.apps.submissions.queries import Status, Visibility
from gluebench.leaderboard.apps.uploads import accept as uploads

Send = Callable[..., Submission]
PATH = "/benchmarks/tiny/submit"
SCRIPT = {"Accept": "application/json"}
DETAILS: dict[str, Any] = {
    "name": "Mine",
    "model": "CBoW",
    "team": "Example lab",
    "link": "https://example.org/a",
    "paper": "https://example.org/b",
    "code": "https://example.org/c",
    "description": "Words, *averaged*.",
    "regime": "frozen",
    "training_data": "A billion words of news",
    "parameters": 1000,
    "shared_parameters": 900,
    "compute": "one GPU hour",
    "latency_ms": 2.5,
}


def upload(data: bytes) -> SimpleUploadedFile:
    return SimpleUploadedFile("mine.zip", data, content_type="application/zip")


@pytest.fixture
def fill(owner: Client, tiny: Any, good_zip: bytes) -> Callable[..., Any]:
    """Send the form."""

    def sent(headers: Any = None, data: bytes = good_zip, **changes: Any) -> Any:
        values = {**DETAILS, "action": "submit", **changes}
        return owner.post(PATH, {**values, "upload": upload(data)}, headers=headers or {})

    return sent


def test_all_that_is_said_of_a_system_is_kept_and_shown(owner: Client, fill: Any) -> None:
    page = owner.get(fill()["Location"]).content.decode()
    submission = Submission.objects.get()
    assert {name: getattr(submission, name) for name in DETAILS} == DETAILS
    for shown in (
        "https://example.org/b",
        "https://example.org/c",
        "A billion words of news",
        "one GPU hour",
    ):
        assert shown in page
    assert "2.5 ms" in page


def test_every_field_that_is_asked_for_has_help(owner: Client, tiny: Any) -> None:
    form = owner.get(PATH).context["form"]
    assert not [field.name for field in form.visible_fields() if not field.help_text]


def test_a_page_sent_twice_is_one_submission(fill: Any) -> None:
    first, second = fill(retry_key="page-1"), fill(retry_key="page-1")
    assert first["Location"] == second["Location"]
    assert Submission.objects.count() == 1


def test_another_file_from_the_same_page_is_another_submission(fill: Any) -> None:
    fill(retry_key="page-1")
    fill(retry_key="page-1", data=zip_bytes({"Refer": PREDICTIONS["Refer"]}))
    assert Submission.objects.count() == 2


def test_each_file_of_a_page_is_sent_once(fill: Any) -> None:
    other = zip_bytes({"Refer": PREDICTIONS["Refer"]})
    first = fill(retry_key="page-1")
    second = [fill(retry_key="page-1", data=other)["Location"] for _ in range(2)]
    assert second[0] == second[1] != first["Location"]
    assert fill(retry_key="page-1")["Location"] == first["Location"]
    assert Submission.objects.count() == 2


@pytest.mark.parametrize("same", [True, False])
def test_two_clicks_in_the_same_instant_lose_nothing(
    fill: Any, good_zip: bytes, monkeypatch: pytest.MonkeyPatch, same: bool
) -> None:
    """What the faster one sent is there only after the slower one has looked for it."""
    files = [good_zip, good_zip if same else zip_bytes({"Refer": PREDICTIONS["Refer"]})]

    accept = uploads.accept

    def overtaken(submission: Submission, file: Any, **more: Any) -> Submission:
        monkeypatch.undo()
        assert fill(retry_key="page-1", data=files[1]).status_code == 302
        return accept(submission, file, **more)

    monkeypatch.setattr(uploads, "accept", overtaken)
    assert fill(retry_key="page-1").status_code == 302
    kept = {submission.file.open().read() for submission in Submission.objects.all()}
    assert (kept, Submission.objects.count()) == (set(files), len(set(files)))


def test_a_page_s_key_is_good_at_another_benchmark(owner: Client, tiny: Any, fill: Any) -> None:
    fill(retry_key="page-1")
    tiny.pk, tiny.name = None, "small"
    tiny.save()
    form = {**DETAILS, "action": "submit", "retry_key": "page-1"}
    data = zip_bytes(PREDICTIONS)  # a zip holds the time: two that were made apart are two files
    for _ in range(2):
        file = upload(data)
        sent = owner.post("/benchmarks/small/submit", {**form, "upload": file})
        assert sent.status_code == 302
    assert sorted(Submission.objects.values_list("benchmark__name", flat=True)) == ["small", "tiny"]


def test_each_page_has_a_key_of_its_own(owner: Client, tiny: Any) -> None:
    keys = {owner.get(PATH).context["form"]["retry_key"].value() for _ in range(3)}
    assert len(keys) == 3


def test_the_page_s_script_is_answered_in_json(fill: Any) -> None:
    taken = fill(headers=SCRIPT)
    assert (taken.status_code, taken.json()) == (201, {"url": Submission.objects.get().get_absolute_url()})
    refused = fill(headers=SCRIPT, name="", shared_parameters=2000)
    assert refused.status_code == 422
    assert set(refused.json()["errors"]) == {"name", "shared_parameters"}


@pytest.mark.parametrize("field", ["link", "paper", "code"])
@pytest.mark.parametrize(
    "address", ["javascript:alert(1)", "data:text/html,x", "ftp://example.org", "//", "x y"]
)
def test_what_is_no_web_address_is_refused(fill: Any, field: str, address: str) -> None:
    assert fill(headers=SCRIPT, **{field: address}).status_code == 422
    assert not Submission.objects.exists()


def test_a_closed_benchmark_takes_nothing_but_still_checks(owner: Client, tiny: Any, fill: Any) -> None:
    tiny.open = False
    tiny.save()
    page = owner.get(PATH).content.decode()
    assert "takes no submissions now" in page
    assert 'value="submit"' not in page
    assert fill().status_code in (403, 422)
    assert not Submission.objects.exists()
    assert "The file is valid" in fill(action="check").content.decode()


def test_an_edit_keeps_what_stood_there(owner: Client, graded: Send, ada: Any) -> None:
    submission = graded(description="Old words", parameters=7)
    path = f"{submission.get_absolute_url()}/edit"
    sent = owner.post(
        path, {**DETAILS, "name": submission.name, "status": "failed", "value": "1", "kind": "human"}
    )
    assert sent.status_code == 302
    revision = submission.revisions.get()
    assert revision.by == ada
    assert revision.changes["description"] == ["Old words", "Words, *averaged*."]
    assert revision.changes["parameters"] == [7, 1000]
    assert "name" not in revision.changes
    submission.refresh_from_db()
    assert (submission.status, submission.kind) == ("graded", "system"), "only what authors may say"
    assert "Old words" in owner.get(submission.get_absolute_url()).content.decode()


def test_others_see_that_it_was_edited_and_not_what_it_said(graded: Send, ada: Any) -> None:
    submission = graded(description="Old words")
    acts.edit(submission, ada, {"description": "New words"})
    page = Client().get(submission.get_absolute_url()).content.decode()
    assert "New words" in page
    assert "Edits" in page
    assert "Old words" not in page
    assert Client().get(f"{submission.get_absolute_url()}.json").json()["edits"][0]["fields"] == [
        "description"
    ]


def test_edits_without_end_make_no_page_endless(owner: Client, graded: Send, ada: Any) -> None:
    submission = graded()
    made = [Revision(submission=submission, by=ada, changes={"name": [f"No {n}", "x"]}) for n in range(60)]
    Revision.objects.bulk_create(made)
    for reader in (Client(), owner):
        page = reader.get(submission.get_absolute_url())
        assert len(page.context["edits"]) == 50
    assert page.context["edits"][0]["changes"][0][1] == "No 59"
    assert len(Client().get(f"{submission.get_absolute_url()}.json").json()["edits"]) == 50


def test_an_edit_that_changes_nothing_is_none(owner: Client, graded: Send, ada: Any) -> None:
    submission = graded()
    assert acts.edit(submission, ada, {"name": submission.name}) is None
    assert not submission.revisions.exists()


def test_an_edit_is_checked_like_what_is_sent(owner: Client, graded: Send, ada: Any) -> None:
    submission = graded()
    with pytest.raises(ValidationError):
        acts.edit(submission, ada, {"link": "javascript:alert(1)"})
    with pytest.raises(ValueError, match="verified"):
        acts.edit(submission, ada, {"verified": True})
    refused = owner.post(f"{submission.get_absolute_url()}/edit", {**DETAILS, "name": ""})
    assert refused.status_code == 422
    assert submission.name in refused.content.decode(), "the page still says whose form this is"


def test_an_edit_shows_on_the_board_at_once(client: Client, graded: Send, ada: Any) -> None:
    submission = graded()
    client.get("/")
    acts.edit(submission, ada, {"name": "Renamed"})
    assert "Renamed" in client.get("/").content.decode()


def test_a_withdrawal_is_undone(owner: Client, client: Client, graded: Send) -> None:
    submission = graded(name="Regretted")
    path = f"{submission.get_absolute_url()}/withdraw"
    owner.post(path)
    assert "Regretted" not in client.get("/").content.decode()
    assert client.get(submission.get_absolute_url()).status_code == 404
    page = owner.get(submission.get_absolute_url()).content.decode()
    assert "Undo the withdrawal" in page
    assert "Publish" not in page
    owner.post(path, {"undo": "1"})
    assert "Regretted" in client.get("/").content.decode()


def test_what_is_withdrawn_before_it_is_graded_is_never_graded(owner: Client, send: Send) -> None:
    submission = send()
    owner.post(f"{submission.get_absolute_url()}/withdraw")
    grade(submission.pk)
    submission.refresh_from_db()
    assert (submission.status, submission.report) == (Status.FAILED, None)
    assert "was never graded" in owner.get(submission.get_absolute_url()).content.decode()
    owner.post(f"{submission.get_absolute_url()}/withdraw", {"undo": "1"})
    submission.refresh_from_db()
    assert submission.standing == Visibility.WITHDRAWN, "else a score could be had for nothing"


@pytest.mark.parametrize("status", [Status.INVALID, Status.FAILED])
def test_an_entry_without_a_score_promises_no_place_on_the_board(
    status: Status, owner: Client, send: Send
) -> None:
    submission = send(public=True)
    Submission.objects.filter(pk=submission.pk).update(status=status)
    submission.refresh_from_db()
    assert submission.standing == Visibility.UNSCORED
    page = owner.get("/submissions").content.decode()
    assert "Not on the board" in page
    assert "once it is graded" not in page


def test_what_waits_to_be_graded_anew_keeps_its_score_when_withdrawn(graded: Send, tiny: Any) -> None:
    submission = graded()
    regrade(tiny, "New labels.")
    acts.withdraw(submission)
    submission.refresh_from_db()
    assert submission.status == Status.QUEUED


@pytest.mark.parametrize("act", ["edit", "publish", "withdraw", "file"])
def test_nobody_else_may(act: str, graded: Send, person: Any) -> None:
    path = f"{graded().get_absolute_url()}/{act}"
    stranger = Client()
    stranger.force_login(person("other@example.org"))
    assert (stranger.get(path) if act == "file" else stranger.post(path)).status_code == 404
    assert Client().post(path).status_code in (302, 405)
    assert Submission.objects.get().standing == Visibility.LISTED


def test_the_day_of_first_publication_stays(graded: Send) -> None:
    submission = graded(public=False)
    assert submission.published is None
    first = acts.publish(submission, public=True).published
    acts.publish(submission, public=False)
    assert first is not None
    assert acts.publish(submission, public=True).published == first


def test_my_submissions_have_pages(owner: Client, send: Send) -> None:
    template = send(name="Number 0")
    copies = []
    for number in range(1, 60):
        copy = Submission.objects.get(pk=template.pk)
        copy.pk, copy.key, copy.name = None, f"k{number}", f"Number {number}"
        copies.append(copy)
    Submission.objects.bulk_create(copies)
    first, second = (owner.get(f"/submissions?page={number}").content.decode() for number in (1, 2))
    assert first.count('scope="row"') == 50
    assert second.count('scope="row"') == 10
    assert "Page 1 of 2" in first
    assert owner.get("/submissions?page=nonsense").status_code == 200
