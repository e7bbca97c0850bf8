"""A file that is wrong on its way in: asked about before it is stored, fixed, or replaced."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, tsv, zip_bytes
from leaderboard.test_ranks import renewed

from gluebench.analysis.rank.packed import pack_decisions
from gluebench.leaderboard.apps.accounts.models import Team, move_to
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.limits import quota
from gluebench.leaderboard.apps.limits.quota import usage
from gluebench.leaderboard.apps.ranks.models import Pair
from gluebench.leaderboard.apps.submissions import process
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.apps.uploads import accept as uploads
from gluebench.leaderboard.apps.uploads.accept import digest

PATH = "/benchmarks/tiny/submit"
SCRIPT = {"Accept": "application/json"}
DETAILS = {"name": "Mine", "model": "CBoW", "regime": "frozen", "team": "Example lab", "public": "on"}
BROKEN = {**PREDICTIONS, "Refer": "01x0"}


def upload(data: bytes, name: str = "mine.zip") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/zip")


def with_commas(*names: str) -> bytes:
    """The predictions, those files with commas for tabs and named .csv."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, values in PREDICTIONS.items():
            table = tsv(values, "prediction")
            if name in names:
                archive.writestr(f"{name}.csv", table.replace("\t", ","))
            else:
                archive.writestr(f"{name}.tsv", table)
    return packed.getvalue()


def all_with_commas() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, values in PREDICTIONS.items():
            archive.writestr(f"{name}.tsv", tsv(values, "prediction").replace("\t", ","))
    return packed.getvalue()


def kept_in(html: str) -> str:
    """The token of what the page kept."""
    found = re.search(r'name="kept" value="(\w+)"', html)
    assert found, html
    return found[1]


def tables(submission: Submission) -> dict[str, str]:
    with submission.file.open() as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.fixture
def fill(owner: Client, tiny: Any) -> Callable[..., Any]:
    """Send the form, with a file or without one."""

    def sent(data: bytes | None = None, name: str = "mine.zip", headers: Any = None, **changes: Any) -> Any:
        file = {} if data is None else {"upload": upload(data, name)}
        return owner.post(PATH, {**DETAILS, "action": "submit", **file, **changes}, headers=headers or {})

    return sent


def test_a_file_that_is_not_valid_makes_no_entry_and_what_was_typed_stays(fill: Any) -> None:
    page = fill(zip_bytes(BROKEN))
    text = page.content.decode()
    assert page.status_code == 422
    assert "Refer.tsv:4" in text
    assert "only you can fix" in text
    assert 'value="Example lab"' in text
    assert re.search(r'name="public"[^>]*checked', text)
    assert not Submission.objects.exists()


def test_what_can_be_fixed_is_shown_and_sent_on_request(fill: Any) -> None:
    data = all_with_commas()
    text = fill(data).content.decode()
    assert "Fix these automatically" in text
    assert text.count("commas replaced by tabs") >= len(PREDICTIONS)
    assert str(settings.FOLDER.uploads) not in text
    assert not Submission.objects.exists()
    sent = fill(use="fixed", kept=kept_in(text))
    submission = Submission.objects.get()
    assert (sent.status_code, sent["Location"]) == (302, submission.get_absolute_url())
    expected = {f"{name}.tsv": tsv(values, "prediction") for name, values in PREDICTIONS.items()}
    assert {name: table for name, table in tables(submission).items() if name != "Sim.tsv"} == {
        name: table for name, table in expected.items() if name != "Sim.tsv"
    }
    assert (submission.name, submission.team, submission.public) == ("Mine", "Example lab", True)
    grade(submission.pk)
    submission.refresh_from_db()
    assert (submission.status, submission.verdict) == (Status.GRADED, "valid")


def test_a_fixed_copy_sent_twice_from_a_page_is_one_submission(fill: Any) -> None:
    kept = kept_in(fill(all_with_commas(), retry_key="page-1").content.decode())
    both = [fill(use="fixed", kept=kept, retry_key="page-1")["Location"] for _ in range(2)]
    assert both[0] == both[1]
    assert Submission.objects.count() == 1


def test_the_page_s_script_gets_the_same_choice(fill: Any) -> None:
    answer = fill(all_with_commas(), headers=SCRIPT)
    assert answer.status_code == 422
    html = answer.json()["findings"]
    assert "Submit the fixed copy" in html
    sent = fill(use="fixed", kept=kept_in(html), headers=SCRIPT)
    assert sent.status_code == 201


def test_the_free_check_offers_the_fixed_copy_and_keeps_that_alone(fill: Any) -> None:
    text = fill(all_with_commas(), action="check", fragment="1").content.decode()
    assert "Submit the fixed copy" in text
    (folder,) = settings.FOLDER.uploads.glob("held-*")
    assert {path.name for path in folder.iterdir()} == {"fixed", "name"}
    assert fill(use="fixed", kept=kept_in(text)).status_code == 302


def test_a_file_that_lacks_less_when_fixed_is_asked_about_and_sent_as_it_is_on_request(fill: Any) -> None:
    text = fill(with_commas("Refer")).content.decode()
    assert "Refer.csv" in text
    assert "Submit it as it is" in text
    assert not Submission.objects.exists()
    assert fill(use="own", kept=kept_in(text)).status_code == 302
    assert "Refer.csv" in tables(Submission.objects.get())


def test_an_incomplete_file_that_nothing_can_complete_is_taken_as_before(fill: Any) -> None:
    assert fill(zip_bytes({"Refer": PREDICTIONS["Refer"]})).status_code == 302


def test_what_is_kept_is_for_its_sender_alone(fill: Any, person: Any) -> None:
    kept = kept_in(fill(all_with_commas()).content.decode())
    other = Client()
    other.force_login(person("other@example.org"))
    answer = other.post(PATH, {**DETAILS, "action": "submit", "use": "fixed", "kept": kept})
    assert answer.status_code == 422
    assert "Choose a file." in answer.content.decode()
    for token in ("..", "", "../held", f"{kept}/../{kept}"):
        assert fill(use="fixed", kept=token).status_code == 422
    assert not Submission.objects.exists()


def test_of_each_account_few_files_are_kept(fill: Any) -> None:
    kept = [kept_in(fill(all_with_commas()).content.decode()) for _ in range(6)]
    folders = {path.name.rpartition("-")[2] for path in settings.FOLDER.uploads.glob("held-*")}
    assert folders == set(kept[-4:])


def at_once(monkeypatch: pytest.MonkeyPatch, place: Any, name: str, act: Callable[[], Any]) -> list[Any]:
    """Let `act` happen once, just before the first call of a function; returns what it answered."""
    function, answers = getattr(place, name), []

    def called(*arguments: Any, **options: Any) -> Any:
        if not answers:
            answers.append(None)
            answers[0] = act()
        return function(*arguments, **options)

    monkeypatch.setattr(place, name, called)
    return answers


def test_two_tabs_that_send_at_once_do_not_lose_each_other_s_file(
    fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = at_once(monkeypatch, uploads, "free_check", lambda: fill(all_with_commas()))
    first = fill(all_with_commas())
    assert [first.status_code, answers[0].status_code] == [422, 422]
    kept = [kept_in(answer.content.decode()) for answer in (first, *answers)]
    assert len(set(kept)) == 2
    assert all(list(settings.FOLDER.uploads.glob(f"held-*-{token}/fixed")) for token in kept)
    assert fill(use="fixed", kept=kept[0]).status_code == 302


@pytest.mark.parametrize("limits", [{}, {"per_day": 1}])
def test_a_double_click_is_one_submission_and_both_answers_lead_to_it(
    fill: Any, tiny: Any, good_zip: bytes, monkeypatch: pytest.MonkeyPatch, limits: dict[str, int]
) -> None:
    tiny.settings |= limits
    tiny.save()

    def click() -> Any:
        return fill(good_zip, retry_key="page-1")

    answers = at_once(monkeypatch, quota, "check_quota", click)
    second = click()
    submission = Submission.objects.get()
    assert second.status_code == 302, second.content.decode()
    assert [second["Location"], answers[0]["Location"]] == [submission.get_absolute_url()] * 2


def test_without_a_script_a_mistake_in_a_field_keeps_the_file(fill: Any, good_zip: bytes) -> None:
    text = fill(good_zip, model="").content.decode()
    assert "<b>mine.zip</b> is still here" in text
    assert not re.search(r'<input type="file"[^>]*required', text)
    assert fill(kept=kept_in(text)).status_code == 302
    assert Submission.objects.get().file.open().read() == good_zip


def test_a_site_too_busy_to_check_takes_the_file_unchecked(
    fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process.CHECKS, "accounts", [0] * process.CHECKS_QUEUED)
    assert fill(zip_bytes(BROKEN)).status_code == 302
    assert Submission.objects.get().status == Status.QUEUED


def test_a_file_that_was_sent_before_is_told_before_it_counts(
    fill: Any, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    fill(good_zip)
    first = Submission.objects.get()
    grade(first.pk)
    text = fill(good_zip).content.decode()
    assert "submitted this very file before" in text
    assert f'href="{first.get_absolute_url()}"' in text
    assert usage(tiny, ada)["day"].used == 1
    assert fill(use="own", kept=kept_in(text)).status_code == 302
    assert usage(tiny, ada)["day"].used == 2


def test_a_file_is_a_twin_within_the_team_and_never_beyond(
    fill: Any, send: Any, ada: Any, person: Any, good_zip: bytes
) -> None:
    other = person("other@example.org")
    earlier = send(owner=other, public=False)
    assert fill(good_zip).status_code == 302
    Submission.objects.filter(owner=ada).delete()
    lab = Team.objects.create(name="Example lab")
    move_to(ada, lab)
    move_to(other, lab)
    Submission.objects.filter(pk=earlier.pk).update(group=lab)
    text = fill(good_zip).content.decode()
    assert "Your team has" in text
    assert earlier.key not in text, "its page is not for the whole team"


def entry(graded: Any, **more: Any) -> Submission:
    submission: Submission = graded(zip_bytes(BROKEN), **more)
    assert submission.status == Status.INVALID
    return submission


def test_the_file_of_an_entry_that_is_not_valid_is_replaced_in_place(
    owner: Client, graded: Any, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    earlier = entry(graded, name="Its name", description="Its words")
    address = earlier.get_absolute_url()
    assert f'href="{address}/replace"' in owner.get(address).content.decode()
    sent = owner.post(f"{address}/replace", {"upload": upload(good_zip, "better.zip")})
    assert (sent.status_code, sent["Location"]) == (302, address)
    new = Submission.objects.get(key=earlier.key)
    assert (new.name, new.description, new.public, new.filename) == (
        "Its name",
        "Its words",
        True,
        "better.zip",
    )
    grade(new.pk)
    assert owner.get(f"{address}/status.json").json()["status"] == "graded"
    assert [row.key for row in owner.get("/submissions").context["page"]] == [new.key]
    row = Entry.objects.get(action="replace")
    assert (row.actor, row.submission, row.detail["sha256"]) == (
        ada.pk,
        new.key,
        [earlier.sha256, new.sha256],
    )


def test_what_was_replaced_is_kept_and_counts_as_before(
    owner: Client, graded: Any, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    earlier = entry(graded)
    owner.post(f"{earlier.get_absolute_url()}/replace", {"upload": upload(good_zip)})
    old = Submission.objects.get(pk=earlier.pk)
    assert old.key != earlier.key
    assert digest(old.file) == earlier.sha256
    assert (old.public, old.is_listed, old.status) == (False, False, Status.INVALID)
    used = usage(tiny, ada)
    assert (used["invalid"].used, used["day"].used) == (1, 1)
    assert "took its place" in owner.get(old.get_absolute_url()).content.decode()


def test_what_was_replaced_is_not_restored(owner: Client, graded: Any, good_zip: bytes) -> None:
    """It could be replaced once more then, which the database refuses."""
    earlier = entry(graded)
    owner.post(f"{earlier.get_absolute_url()}/replace", {"upload": upload(good_zip)})
    old = Submission.objects.get(pk=earlier.pk)
    page = owner.post(f"{old.get_absolute_url()}/withdraw", {"undo": "1"}, follow=True)
    assert "so it stays withdrawn" in page.content.decode()
    old.refresh_from_db()
    assert old.withdrawn is not None


def test_replacing_goes_through_the_limits(owner: Client, graded: Any, tiny: Any, good_zip: bytes) -> None:
    earlier = entry(graded)
    tiny.settings |= {"invalid_per_day": 1}
    tiny.save()
    refused = owner.post(f"{earlier.get_absolute_url()}/replace", {"upload": upload(good_zip)})
    assert refused.status_code == 429
    assert Submission.objects.count() == 1


def test_a_replacement_is_checked_first_and_may_be_fixed(owner: Client, graded: Any) -> None:
    address = entry(graded).get_absolute_url()
    text = owner.post(f"{address}/replace", {"upload": upload(zip_bytes(BROKEN))}).content.decode()
    assert "Refer.tsv:4" in text
    text = owner.post(f"{address}/replace", {"upload": upload(all_with_commas())}).content.decode()
    sent = owner.post(f"{address}/replace", {"use": "fixed", "kept": kept_in(text)})
    assert sent["Location"] == address


def test_only_its_owner_replaces_only_what_is_not_valid(
    owner: Client, graded: Any, person: Any, good_zip: bytes
) -> None:
    fine = graded(name="Fine")
    address = f"{fine.get_absolute_url()}/replace"
    assert owner.get(address).status_code == 404
    data = zip_bytes({"Refer": PREDICTIONS["Refer"]})
    assert owner.post(address, {"upload": upload(data)}).status_code == 409
    broken = entry(graded)
    stranger = Client()
    stranger.force_login(person("other@example.org"))
    for method in (stranger.get, stranger.post):
        assert method(f"{broken.get_absolute_url()}/replace").status_code == 404
    assert Submission.objects.count() == 2


def test_of_two_replacements_at_the_same_time_one_is_taken(
    owner: Client, graded: Any, good_zip: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slower one loses nothing but its way: it is told, and its file is not kept as a second entry."""
    address = f"{entry(graded).get_absolute_url()}/replace"
    accept = uploads.accept

    def overtaken(*arguments: Any, **more: Any) -> Submission:
        monkeypatch.undo()
        assert owner.post(address, {"upload": upload(good_zip)}).status_code == 302
        return accept(*arguments, **more)

    monkeypatch.setattr(uploads, "accept", overtaken)
    late = owner.post(address, {"upload": upload(zip_bytes({"Refer": PREDICTIONS["Refer"]}))})
    assert late.status_code == 409
    assert "can be replaced" in late.content.decode()
    assert Submission.objects.count() == 2


def test_a_graded_submission_tells_its_author_where_it_stands(
    owner: Client, graded: Any, person: Any
) -> None:
    other = person("other@example.org")
    worse = graded(zip_bytes({**PREDICTIONS, "Refer": "0011"}), name="Worse")
    best = graded(zip_bytes({**PREDICTIONS, "Para": "101100"}), name="The front", owner=other)
    middle = graded(name="Middle", public=False)
    text = owner.get(middle.get_absolute_url()).content.decode()
    assert "By its score it would be 2nd of 3." in text
    assert "Only systems on the board have a rank set." in text
    assert f'The best: <a href="{best.get_absolute_url()}"' in text
    assert f'<a href="{worse.get_absolute_url()}"' in text, "the history of own scores"
    assert "to put it on the board" in text
    listed = owner.get(worse.get_absolute_url()).content.decode()
    assert "<b>2 · …</b> of 2: 2nd by score; the rank set is being computed." in listed
    assert "it would be" not in listed
    assert "Middle" in listed
    stranger = Client().get(worse.get_absolute_url()).content.decode()
    assert "Where it stands" not in stranger
    assert "Middle" not in stranger


def test_the_distance_has_the_interval_of_the_paired_test(
    owner: Client, graded: Any, person: Any, tiny: Any
) -> None:
    own = graded(zip_bytes({**PREDICTIONS, "Refer": "0011"}), name="Worse")
    best = graded(name="The front", owner=person("other@example.org"))
    assert "</a> the rank set is being computed</td>" in owner.get(own.get_absolute_url()).content.decode()
    overall = {"difference": -0.2, "low": -0.31, "high": -0.07, "p": 0.01}
    words = {"conclusion": "", "warnings": [], "tasks": {}, "diagnostics": {}}
    Pair.objects.update(at=timezone.now(), found={"overall": overall, **words})
    assert (Pair.objects.get().a, Pair.objects.get().b) == (own, best), "own minus the other's"
    ranking = renewed(tiny)
    assert [pk for pk, _ in ranking.systems] == [best.pk, own.pk]
    text = owner.get(own.get_absolute_url()).content.decode()
    assert "7.0 to 31.0" in text
    assert "</a> no rank set: too few examples on Refer</td>" in text

    average = ranking.decisions.filter(score="")
    for front_is_better, decision in ((True, "significant"), (False, "not significant")):
        better = np.zeros((2, 2), dtype=bool)
        better[0, 1] = front_is_better
        count = int(front_is_better)
        average.update(better=pack_decisions(better), counts=[[0, count], [count, 0]])
        caches["pages"].clear()  # counts are read once for each ranking
        text = owner.get(own.get_absolute_url()).content.decode()
        assert "7.0 to 31.0" in text
        assert f"</a> {decision}, all pairs of the board at once</td>" in text


def test_the_page_s_script_is_told_of_a_twin_too(fill: Any, good_zip: bytes) -> None:
    assert fill(good_zip, headers=SCRIPT).status_code == 201
    answer = fill(good_zip, headers=SCRIPT)
    assert answer.status_code == 422
    assert "submitted this very file before" in answer.json()["findings"]
