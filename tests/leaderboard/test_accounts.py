"""One's account: tokens, one's data, its end, sessions, second factors; terms and privacy."""

from __future__ import annotations

import io
import json
import os
import re
import time
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Scope, Token, User, issue
from gluebench.leaderboard.apps.submissions.acts import forget_files, forget_old_files
from gluebench.leaderboard.apps.submissions.models import Revision, Submission, submission_storage
from gluebench.leaderboard.serving import maintenance

PASSWORD = "a long password"
Send = Callable[..., Submission]


@pytest.fixture(autouse=True)
def no_attempts_yet(db: None) -> None:
    from django.core.cache import cache

    cache.clear()


@pytest.fixture
def signed_in(ada: User) -> Client:
    """Ada, who signed in and just showed once more that it is she."""
    client = Client()
    assert client.post("/account/login/", {"login": ada.email, "password": PASSWORD}).status_code == 302
    assert client.post("/account/reauthenticate/", {"password": PASSWORD}).status_code == 302
    return client


PAGES = (
    *("/account/", "/account/email/", "/account/password/change/", "/account/two-factor/"),
    *("/account/two-factor/totp/activate/", "/account/two-factor/webauthn/add/", "/account/sessions/"),
    *("/account/tokens", "/account/export", "/account/delete"),
)


@pytest.mark.parametrize("path", PAGES)
def test_each_page_is_the_site_s_own_and_for_people_signed_in(
    signed_in: Client, tiny: Any, path: str
) -> None:
    page = signed_in.get(path)
    assert page.status_code == 200
    text = page.content.decode()
    assert '<main id="main"' in text
    assert 'aria-label="Your account"' in text
    assert not re.search(r"\sstyle=|\son[a-z]+=", text)
    assert Client().get(path).status_code == 302


@pytest.mark.parametrize(("path", "word"), [("/terms", "Terms"), ("/privacy", "Privacy")])
def test_terms_and_privacy_are_linked_and_can_be_written(
    client: Client, tiny: Any, path: str, word: str
) -> None:
    text = client.get(path).content.decode()
    assert f"<h1>{word}</h1>" in text
    assert "<h2>Who" in text
    assert f'href="{path}"' in client.get("/").content.decode()
    assert f'href="{path}"' in client.get("/account/signup/").content.decode()
    folder = settings.FOLDER.root / "pages"
    folder.mkdir(exist_ok=True)
    own = folder / f"{path[1:]}.md"
    own.write_text("# House rules\n\n## One\n\nBe kind. <script>alert(1)</script>")
    try:
        text = client.get(path).content.decode()
    finally:
        own.unlink()
    assert "<h1>House rules</h1>" in text
    assert "<h2>One</h2>" in text
    assert "<script>alert" not in text


def test_a_token_is_shown_once_and_kept_as_a_hash(signed_in: Client, ada: User) -> None:
    made = signed_in.post("/account/tokens", {"name": "server", "scopes": ["read"], "days": "30"})
    found = re.search(r"gluebench_[\w-]{43}", made.content.decode())
    assert found
    token = Token.find(found[0])
    assert token is not None
    assert (token.user, token.scopes) == (ada, ["read"])
    assert timedelta(days=29) < token.expires - timezone.now() <= timedelta(days=30)
    assert found[0] not in signed_in.get("/account/tokens").content.decode()
    assert found[0] not in json.dumps(list(Token.objects.values()), default=str)
    signed_in.post(f"/account/tokens/{token.pk}/revoke")
    assert Token.find(found[0]) is None


@pytest.mark.parametrize(
    "wrong", [{"days": "0"}, {"days": "366"}, {"scopes": []}, {"scopes": ["admin"]}, {"name": "a\u202eb"}]
)
def test_a_token_that_may_not_be_is_not_made(signed_in: Client, wrong: dict[str, Any]) -> None:
    fields = {"name": "server", "scopes": ["read"], "days": "30", **wrong}
    assert signed_in.post("/account/tokens", fields).status_code == 422
    assert not Token.objects.exists()


@pytest.mark.parametrize("path", ["/account/tokens", "/account/delete"])
def test_labels_and_errors_of_a_form_belong_to_its_fields(signed_in: Client, path: str) -> None:
    """Checkboxes have a group's name, and what describes a field is there."""
    text = signed_in.post(path, {"name": "server"}).content.decode()
    there = set(re.findall(r'\sid="([^"]*)"', text))
    named = re.findall(r'\s(?:for|aria-describedby)="([^"]*)"', text)
    assert [name for each in named for name in each.split() or [each] if name not in there] == []
    assert text.count("<legend>May</legend>") == path.endswith("tokens")
    assert text.count('aria-describedby="id_sure_error"') == path.endswith("delete")


def test_nobody_revokes_the_token_of_another(client: Client, ada: User, person: Any) -> None:
    token, secret = issue(ada, "mine", [Scope.READ], timedelta(days=1))
    client.force_login(person("other@example.org"))
    assert client.post(f"/account/tokens/{token.pk}/revoke").status_code == 404
    assert Token.find(secret) == token


@pytest.mark.parametrize("path", ["/account/tokens", "/account/export"])
def test_what_matters_asks_for_the_password_after_a_while(signed_in: Client, path: str) -> None:
    session = signed_in.session
    methods = session["account_authentication_methods"]
    session["account_authentication_methods"] = [{**each, "at": time.time() - 3600} for each in methods]
    session.save()
    asked = signed_in.get(path)
    assert asked.status_code == 302
    assert asked["Location"].startswith("/account/reauthenticate/")
    page = signed_in.get(asked["Location"])
    assert "Is it you?" in page.content.decode()
    again = signed_in.post(asked["Location"], {"password": PASSWORD, "next": path})
    assert again["Location"] == path


def test_one_s_data_are_all_there_and_no_secret_with_them(
    signed_in: Client, graded: Send, ada: User, person: Any, good_zip: bytes
) -> None:
    mine, _ = graded(public=False, description="Words"), graded(owner=person("other@example.org"))
    Revision.objects.create(submission=mine, by=ada, changes={"name": ["Old", "A system"]})
    token, _ = issue(ada, "server", [Scope.READ], timedelta(days=1))
    answer = signed_in.post("/account/export")
    archive = zipfile.ZipFile(io.BytesIO(b"".join(answer)))
    assert sorted(archive.namelist()) == sorted(["account.json", "submissions.json", f"files/{mine.key}.zip"])
    account, (told,) = (json.loads(archive.read(name)) for name in ("account.json", "submissions.json"))
    assert account["email"] == ada.email
    assert account["tokens"][0]["name"] == "server"
    assert account["sessions"][0]["ip"] == "127.0.0.1"
    assert (told["key"], told["description"], told["report"]) == (mine.key, "Words", mine.report)
    assert told["edits"][0]["changes"] == {"name": ["Old", "A system"]}
    assert archive.read(f"files/{mine.key}.zip") == good_zip
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert token.digest.encode() not in everything
    assert ada.password.encode() not in everything


def leave(client: Client, password: str = PASSWORD, **more: str) -> Any:
    return client.post("/account/delete", {"password": password, "sure": "on", **more})


@pytest.mark.django_db(transaction=True)
def test_who_leaves_is_forgotten_and_the_scores_stay(signed_in: Client, graded: Send, ada: User) -> None:
    named = graded(team="The Ada group", link="https://example.org/ada", description="By Ada")
    Revision.objects.create(submission=named, by=ada, changes={"name": ["Ada's", "A system"]})
    issue(ada, "server", [Scope.READ], timedelta(days=1))
    before = Client().get("/benchmarks/tiny.json").json()["rows"][0]
    assert leave(signed_in, sure="").status_code == 422
    assert leave(signed_in, "another password").status_code == 422
    assert "not your password" in leave(signed_in, "another password").content.decode()
    assert User.objects.filter(email=ada.email).exists()
    left = leave(signed_in)
    assert (left.status_code, left["Location"]) == (302, "/account/login/")
    after = Client().get("/benchmarks/tiny.json").json()["rows"][0]
    assert after["score"] == before["score"]
    assert (after["name"], after["team"], after["link"]) == ("Anonymous", "", "")
    row = Submission.objects.get()
    assert (row.description, row.filename, row.file.name, row.sha256) == ("", "", "", named.sha256)
    assert not submission_storage().exists(named.file.name)
    assert not Revision.objects.exists()
    assert not Token.objects.exists()
    assert "ada@" not in json.dumps(list(User.objects.values()), default=str)
    assert signed_in.get("/submissions").status_code == 302
    again = Client().post("/account/login/", {"login": "ada@example.org", "password": PASSWORD})
    assert again.status_code == 200
    new = Client().post("/account/signup/", {"email": "ada@example.org", "password1": PASSWORD})
    assert new["Location"] == "/submissions", "the address is free again"


@pytest.mark.parametrize(
    ("path", "said"),
    [("/account/logout/", "You are signed out."), ("/account/delete", "Your account is deleted.")],
)
def test_who_goes_is_told_that_it_is_done(signed_in: Client, tiny: Any, path: str, said: str) -> None:
    page = signed_in.post(path, {"password": PASSWORD, "sure": "on"}, follow=True)
    assert said in page.content.decode()


@pytest.mark.django_db(transaction=True)
def test_no_word_of_who_left_stays(signed_in: Client, graded: Send, tiny: Any) -> None:
    from gluebench.leaderboard.apps.similarity.models import Sample

    row = graded(training_data="Ada's mail", compute="Ada's cluster")
    Submission.objects.update(approved=False, declined="Ada has two accounts.")
    Sample.objects.create(submission=row, files={"Refer": "AAAA"})
    leave(signed_in)
    row.refresh_from_db()
    assert (row.training_data, row.compute) == ("", "")
    assert "Ada" not in json.dumps(list(Submission.objects.values()), default=str)
    assert row.standing == "declined", "it stays off the board"
    assert not Sample.objects.exists()


def test_who_leaves_gives_the_team_no_quota_back(
    signed_in: Client, graded: Send, tiny: Any, ada: User, person: Any
) -> None:
    from gluebench.leaderboard.apps.limits import acts
    from gluebench.leaderboard.apps.limits.quota import usage

    tiny.settings = {"per_day": None, "total": 2, "per": "team"}
    tiny.save()
    team, grace = acts.create_team(ada, "Lovelace"), person("grace@example.org")
    acts.join_team(grace, team.code)
    graded()
    graded()
    assert leave(signed_in).status_code == 302
    grace.refresh_from_db()
    assert usage(tiny, grace)["total"].used == 2
    for address in ("/benchmarks/tiny.json", "/benchmarks/tiny.csv", "/benchmarks/tiny"):
        assert "Lovelace" not in Client().get(address, follow=True).content.decode()


def test_nobody_leaves_while_something_is_being_graded(signed_in: Client, send: Send, ada: User) -> None:
    send()
    page = leave(signed_in)
    assert page.status_code == 422
    assert "still being graded" in page.content.decode()
    assert User.objects.filter(email=ada.email).exists()


def test_the_only_admin_stays(signed_in: Client, ada: User, person: Any) -> None:
    User.objects.filter(pk=ada.pk).update(is_superuser=True)
    assert "only admin" in leave(signed_in).content.decode()
    User.objects.filter(pk=person("other@example.org").pk).update(is_superuser=True)
    assert leave(signed_in).status_code == 302


def test_passwords_are_not_guessed_at_the_exit(signed_in: Client) -> None:
    answers = [leave(signed_in, f"wrong password {number}").status_code for number in range(12)]
    assert answers[0] == 422
    assert answers[-1] == 429


def test_a_class_behind_one_address_signs_in_at_the_same_minute(ada: User) -> None:
    form = {"login": ada.email, "password": PASSWORD}
    assert {Client().post("/account/login/", form).status_code for _ in range(40)} == {302}


def test_other_sessions_can_be_ended(signed_in: Client, ada: User) -> None:
    other = Client(headers={"user-agent": "Another browser"})
    other.post("/account/login/", {"login": ada.email, "password": PASSWORD})
    assert "Another browser" in signed_in.get("/account/sessions/").content.decode()
    signed_in.post("/account/sessions/")
    assert other.get("/submissions").status_code == 302
    assert signed_in.get("/submissions").status_code == 200


def test_a_second_factor_is_asked_for_and_a_recovery_code_does_too(signed_in: Client, ada: User) -> None:
    from allauth.mfa.models import Authenticator
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time

    def code(secret: str) -> str:
        return str(format_hotp_value(hotp_value(secret, next(iter(yield_hotp_counters_from_time())))))

    page = signed_in.get("/account/two-factor/totp/activate/").content.decode()
    found = re.search(r"<code>([A-Z2-7]{16,})</code>", page)
    assert found
    assert "<svg" in page
    done = signed_in.post("/account/two-factor/totp/activate/", {"code": code(found[1])})
    assert done["Location"] == "/account/two-factor/recovery-codes/"
    kept = json.dumps(list(Authenticator.objects.values("data")))
    assert found[1] not in kept, "a copy of the database opens no account"
    listed = signed_in.get(done["Location"]).content.decode().partition("<textarea")[2]
    codes = re.findall(r"\b\d{8}\b", listed.partition("</textarea>")[0])
    assert len(codes) == 10
    visitor = Client()
    asked = visitor.post("/account/login/", {"login": ada.email, "password": PASSWORD})
    assert asked["Location"] == "/account/two-factor/authenticate/"
    assert visitor.get("/submissions").status_code == 302, "the password alone is not enough"
    assert visitor.post(asked["Location"], {"code": "000000"}).status_code == 200
    assert visitor.post(asked["Location"], {"code": codes[0]})["Location"] == "/submissions"
    assert visitor.get("/submissions").status_code == 200
    once = Client()
    once.post("/account/login/", {"login": ada.email, "password": PASSWORD})
    assert once.post(asked["Location"], {"code": codes[0]}).status_code == 200, "each is good once"


@pytest.mark.django_db(transaction=True)
def test_old_files_go_and_scores_stay(
    graded: Send, send: Send, client: Client, ada: User, settings: Any
) -> None:
    old, young, waiting = graded(), graded(), send()
    Submission.objects.filter(pk__in=[old.pk, waiting.pk]).update(
        finished=timezone.now() - timedelta(days=31)
    )
    settings.KEEP_DAYS = None
    assert forget_old_files() == 0
    settings.KEEP_DAYS = 30
    assert forget_old_files() == 1
    old.refresh_from_db()
    assert (old.file.name, old.sha256, old.report) == ("", young.sha256, young.report)
    assert [submission_storage().exists(each.file.name) for each in (young, waiting)] == [True, True]
    client.force_login(ada)
    assert client.get(f"{old.get_absolute_url()}/file").status_code == 404
    assert "no longer kept" in client.get(old.get_absolute_url()).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_file_that_cannot_be_deleted_keeps_no_other(graded: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    storage, tried = submission_storage(), []

    def broken(name: str) -> None:
        tried.append(name)
        raise OSError("the disk is read-only")

    rows = {graded().file.name, graded().file.name}
    monkeypatch.setattr(type(storage), "delete", lambda storage, name: broken(name))
    forget_files(Submission.objects.all())
    assert set(tried) == rows


def test_uploads_that_were_cut_off_are_deleted_after_a_day(db: None) -> None:
    upload, coming = (settings.FOLDER.uploads / name for name in ("old.upload", "new.upload"))
    for path in (upload, coming):
        path.write_bytes(b"x")
    link = settings.FOLDER.uploads / "tmpold" / "SST-2.tsv"
    link.parent.mkdir()
    link.symlink_to("nowhere")
    for path in (upload, link.parent):
        os.utime(path, (time.time() - 90_000,) * 2)
    maintenance.run_daily()
    assert (upload.exists(), link.parent.exists(), coming.exists()) == (False, False, True)
    coming.unlink()


def test_a_daily_task_that_another_worker_does_too_fails_nobody(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail = settings.FOLDER.mail / "old.log"
    mail.write_text("a link")
    os.utime(mail, (0, 0))
    look = Path.stat

    def look_and_lose(path: Path, **options: bool) -> os.stat_result:
        status = look(path, **options)
        if path == mail:
            path.unlink()
        return status

    monkeypatch.setattr(Path, "stat", look_and_lose)
    maintenance.run_daily()
    assert not mail.exists()


@pytest.mark.django_db(transaction=True)
def test_new_labels_leave_alone_what_cannot_be_graded_again(graded: Send, settings: Any) -> None:
    from gluebench.leaderboard.apps.submissions.grading import regrade

    old = graded()
    Submission.objects.update(finished=timezone.now() - timedelta(days=2))
    settings.KEEP_DAYS = 1
    forget_old_files()
    assert regrade(old.benchmark, "New labels.") == 0
    old.refresh_from_db()
    assert old.status == "graded"


def test_daily_tasks_run_once_a_day(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    from django.contrib.sessions.models import Session

    mail = settings.FOLDER.mail / "old.log"
    mail.write_text("a link")
    os.utime(mail, (time.time() - 40 * 86400,) * 2)
    Session.objects.create(session_key="x", session_data="", expire_date=timezone.now() - timedelta(days=1))
    monkeypatch.setattr(maintenance._Clock, "due", None)
    assert maintenance.run_daily_when_due() is True
    assert maintenance.run_daily_when_due() is False
    assert not mail.exists()
    assert not Session.objects.filter(session_key="x").exists()


def test_a_clock_that_is_set_back_puts_no_daily_task_off(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance._Clock, "due", None)
    ahead = timezone.now() + timedelta(days=400)
    with monkeypatch.context() as wrong:
        wrong.setattr(timezone, "now", lambda: ahead)
        maintenance.run_daily_when_due()
    elapsed = time.monotonic() + 86_401
    monkeypatch.setattr(time, "monotonic", lambda: elapsed)
    assert maintenance.run_daily_when_due() is True
