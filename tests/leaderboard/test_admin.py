"""The admin pages, and what the command line does about people."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from click.testing import CliRunner
from django.conf import settings
from django.contrib import admin as django_admin
from django.test import Client

from gluebench.cli import main
from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.limits.models import Override
from gluebench.leaderboard.apps.organizing.acts import set_organizer
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping.folder import SiteError

Send = Callable[..., Submission]
SITE = settings.FOLDER.root


@pytest.fixture
def boss(person: Any) -> Any:
    user = person("boss@example.org")
    user.is_staff = user.is_superuser = True
    user.save()
    return user


@pytest.fixture
def admin(boss: Any) -> Client:
    client = Client()
    client.force_login(boss)
    return client


def act(admin: Client, action: str, *chosen: Submission) -> str:
    fields = {"action": action, "_selected_action": [each.pk for each in chosen]}
    return admin.post("/admin/submissions/submission/", fields, follow=True).content.decode()


def test_only_admins_come_in_and_by_the_site_s_own_way(tiny: Any, ada: User) -> None:
    client = Client()
    asked = client.get("/admin/", follow=True)
    assert asked.redirect_chain[-1][0].startswith("/account/login/")
    assert "Sign in with a passkey" in asked.content.decode()
    client.force_login(ada)
    assert client.get("/admin/", follow=True).status_code == 403


def test_every_model_has_a_list_that_opens_and_can_be_searched(
    admin: Client, graded: Send, ada: User, boss: User
) -> None:
    submission = graded()
    Override.objects.create(benchmark=submission.benchmark, user=ada, reason="A workshop")
    listed = [model._meta for model in django_admin.site._registry]
    names = {meta.label_lower for meta in listed}
    assert {"accounts.user", "accounts.team", "accounts.token", "audit.entry"} <= names
    assert {"benchmarks.benchmark", "limits.override", "submissions.submission"} <= names
    assert {"submissions.result", "submissions.revision", "account.emailaddress"} <= names
    for meta in listed:
        path = f"/admin/{meta.app_label}/{meta.model_name}/"
        page = admin.get(path)
        assert page.status_code == 200, path
        assert "unsafe" not in page["Content-Security-Policy"]
        assert not re.search(r'\sstyle="|<script(?![^>]*src=)[^>]*>\s*\w', page.content.decode()), path
        if meta.label_lower not in ("django_tasks_db.dbtaskresult",):
            assert admin.get(path, {"q": "a"}).status_code == 200, path
    for row in (submission, submission.benchmark, ada, Override.objects.get(), Entry.objects.first()):
        if row is not None:
            path = f"/admin/{row._meta.app_label}/{row._meta.model_name}/{row.pk}/change/"
            assert admin.get(path).status_code == 200, path


def test_what_admins_do_shows_at_once_and_is_logged(admin: Client, graded: Send, boss: User) -> None:
    one, other = graded(name="One"), graded(name="Other")
    assert ">One<" in Client().get("/").content.decode()
    assert "1 submission taken off." in act(admin, "take_off", one)
    assert ">One<" not in Client().get("/").content.decode()
    assert "1 submission verified." in act(admin, "verify", other)
    other.refresh_from_db()
    assert other.verified
    act(admin, "put_back", one)
    assert "One" in Client().get("/").content.decode()
    said = [(each.action, each.submission, each.actor) for each in Entry.objects.order_by("pk")]
    assert said == [
        ("take off", one.key, boss.pk),
        ("mark", other.key, boss.pk),
        ("approve", one.key, boss.pk),
    ]
    assert "0 submissions" in act(admin, "put_back", one), "what is so already is not done again"


def test_grading_again_needs_the_file(admin: Client, graded: Send) -> None:
    kept, gone = graded(), graded()
    Submission.objects.filter(pk=gone.pk).update(file="")
    assert "1 submission in the queue again." in act(admin, "grade_again", kept, gone)
    for row in (kept, gone):
        row.refresh_from_db()
    assert (kept.status, gone.status) == (Status.QUEUED, Status.GRADED)
    assert kept.why


def test_scores_reports_and_the_log_cannot_be_written(admin: Client, graded: Send) -> None:
    submission = graded()
    act(admin, "verify", submission)
    entry = Entry.objects.get()
    for path in (f"/admin/submissions/submission/{submission.pk}", f"/admin/audit/entry/{entry.pk}"):
        assert admin.post(f"{path}/change/", {"value": "1", "action": "x"}).status_code == 403
        assert admin.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    submission.refresh_from_db()
    assert submission.value != 1
    assert Entry.objects.get().action == "mark"


def test_an_account_is_closed_and_made_admin_from_its_page(admin: Client, ada: User) -> None:
    path = f"/admin/accounts/user/{ada.pk}/change/"
    visitor = Client()
    visitor.force_login(ada)
    admin.post(path, {"is_active": "on", "is_superuser": "on", "email": "forged@example.org"})
    ada.refresh_from_db()
    assert (ada.is_superuser, ada.is_staff, ada.email) == (True, True, "ada@example.org")
    admin.post(path, {})
    assert visitor.get("/submissions").status_code == 302
    assert Entry.objects.filter(action="user changed").count() == 2


def test_secrets_of_second_factors_are_on_no_page(admin: Client, ada: User) -> None:
    from allauth.mfa.models import Authenticator

    row = Authenticator.objects.create(user=ada, type="totp", data={"secret": "CANARYSECRET"})
    for path in ("", f"{row.pk}/change/"):
        assert "CANARYSECRET" not in admin.get(f"/admin/mfa/authenticator/{path}").content.decode()
    admin.post(f"/admin/mfa/authenticator/{row.pk}/delete/", {"post": "yes"})
    assert not Authenticator.objects.exists()


def test_a_link_for_a_new_password_is_made_and_logged(admin: Client, ada: User, boss: User) -> None:
    fields = {"action": "make_reset_link", "_selected_action": [ada.pk]}
    page = admin.post("/admin/accounts/user/", fields, follow=True).content.decode()
    found = re.search(r"http://testserver(/account/password/reset/key/[^\s<]+)", page)
    assert found
    assert "Choose a password" in Client().get(found[1], follow=True).content.decode()
    assert Entry.objects.get().actor == boss.pk


def run(*words: str) -> str:
    done = CliRunner().invoke(main, ["leaderboard", *words, "--site", str(SITE)])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_site_s_first_admin_gets_a_random_password(db: None) -> None:
    first = trust.first_admin("admin@localhost")
    assert first is not None
    assert len(first) >= 20
    assert trust.first_admin("other@localhost") is None, "only where there is none"
    client = Client()
    client.post("/account/login/", {"login": "admin@localhost", "password": first})
    assert client.get("/admin/").status_code == 200
    assert trust.make_admin("admin@localhost") != first
    assert User.objects.count() == 1


def test_an_admin_from_the_command_line(ada: User) -> None:
    said = run("admin", "Ada@example.org")
    email, password = settings.FOLDER.password_file.read_text().splitlines()[-1].split()
    settings.FOLDER.password_file.unlink()
    assert (email, password in said) == ("Ada@example.org", False)
    ada.refresh_from_db()
    assert ada.check_password(password)
    assert ada.is_superuser
    assert Entry.objects.get().detail["by"] == "command line"


def test_an_organizer_from_the_command_line(tiny: Any, ada: User) -> None:
    run("organizer", ada.email, "tiny")
    assert tiny.has_organizer(ada)
    run("organizer", ada.email, "tiny", "--remove")
    assert not tiny.has_organizer(ada)
    with pytest.raises(SiteError, match="It has: tiny"):
        set_organizer(ada.email, "glu")
    with pytest.raises(SiteError, match="signs up on the site first"):
        set_organizer("nobody@example.org", "tiny")
    with pytest.raises(SiteError, match="not an email address"):
        trust.make_admin("ada")


def test_links_from_the_command_line(ada: User) -> None:
    assert run("links") == "Every address is confirmed.\n"
    Client().post("/account/signup/", {"email": "new@example.org", "password1": "a long password"})
    said = run("links", "--url", "https://board.example.org/")
    email, _, link = said.strip().split("\t")
    assert email == "new@example.org"
    assert link.startswith("https://board.example.org/account/confirm-email/")
    assert run("links", "--password", ada.email).startswith(
        "http://127.0.0.1:8000/account/password/reset/key/"
    )


def test_an_admin_who_saves_a_benchmark_takes_back_nothing_that_came_meanwhile(tiny: Any) -> None:
    from types import SimpleNamespace

    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    opened = Benchmark.objects.get()
    Benchmark.objects.update(gold_digest="of new labels", settings={"per_day": 7})
    opened.open = False
    form = SimpleNamespace(changed_data=["open", "organizers"])
    django_admin.site.get_model_admin(Benchmark).save_model(None, opened, form, True)  # type: ignore[arg-type]
    row = Benchmark.objects.get()
    assert (row.open, row.gold_digest, row.settings) == (False, "of new labels", {"per_day": 7})
