"""Somebody signs up with an address of another, takes all an account gives, and waits for its owner."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal import auth as totp
from click.testing import CliRunner
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from gluebench.cli import main
from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import Scope, Team, Token, User, issue
from gluebench.leaderboard.apps.organizing.acts import set_organizer
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.serving import health

SITE = settings.FOLDER.root
BOSS = "boss@example.org"
PASSWORD = "the squatter's own"


class Squatter:
    """Signed up as the boss, with a session, a token, a second factor and a change of address on its way."""

    def __init__(self) -> None:
        self.browser = Client()
        self.browser.post("/account/signup/", {"email": BOSS, "password1": PASSWORD})
        self.user = User.objects.get(email=BOSS)
        _, self.token = issue(self.user, "mine", [Scope.READ], timedelta(days=90))
        self.secret = totp.generate_totp_secret()
        totp.TOTP.activate(self.user, self.secret)
        EmailAddress.objects.create(user=self.user, email="squatter@example.org")

    def sees(self, private: Submission) -> list[str]:
        """By which ways a submission of another can be read."""
        page = self.browser.get(private.get_absolute_url()).status_code
        bearer = {"HTTP_AUTHORIZATION": f"Bearer {self.token}"}
        api = Client().get(f"/api/v1/submissions/{private.key}", **bearer).status_code
        return [way for way, status in (("session", page), ("token", api)) if status == 200]

    def signs_in(self) -> bool:
        """Again, with what it chose at the sign-up: the password, then a code of its own device."""
        cache.clear()  # a code is good once
        client = Client()
        client.post("/account/login/", {"login": BOSS, "password": PASSWORD})
        code = totp.hotp_value(self.secret, next(totp.yield_hotp_counters_from_time()))
        client.post("/account/two-factor/authenticate/", {"code": f"{code:06}"})
        return client.get("/submissions").status_code == 200


@pytest.fixture(autouse=True)
def no_attempts_yet(db: None) -> None:
    cache.clear()


@pytest.fixture
def squatter(db: None) -> Squatter:
    return Squatter()


@pytest.fixture
def private(graded: Callable[..., Submission]) -> Submission:
    return graded(public=False)


@pytest.fixture
def admin(person: Callable[[str], Any]) -> Client:
    user = person("admin@example.org")
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(user)
    return client


def run(*words: str) -> Any:
    return CliRunner().invoke(main, ["leaderboard", *words, "--site", str(SITE)])


def choose_password(path: str, password: str = "the boss's own one") -> Client:
    """What whoever has the link does."""
    client = Client()
    form = client.get(path)["Location"]
    client.post(form, {"password1": password, "password2": password})
    return client


def by_the_command_organizer(admin: Client, user: User) -> bool:
    return run("organizer", BOSS, "tiny").exit_code == 0


def by_the_command_admin(admin: Client, user: User) -> bool:
    return run("admin", BOSS).exit_code == 0


def by_init(admin: Client, user: User) -> bool:
    User.objects.filter(is_superuser=True).update(is_superuser=False)
    with mock.patch.object(commands, "collect_static_files"):  # they are another matter
        return run("init", "--admin", BOSS).exit_code == 0


def by_the_page_of_the_account(admin: Client, user: User) -> bool:
    form = {"is_active": "on", "is_superuser": "on"}
    return bool(admin.post(f"/admin/accounts/user/{user.pk}/change/", form).status_code == 302)


def by_the_page_of_the_benchmark(admin: Client, user: User) -> bool:
    tiny = user.organized.model.objects.get()
    form = {"open": "on", "organizers": [user.pk]}
    return bool(admin.post(f"/admin/benchmarks/benchmark/{tiny.pk}/change/", form).status_code == 302)


WAYS = [
    by_the_command_organizer,
    by_the_command_admin,
    by_init,
    by_the_page_of_the_account,
    by_the_page_of_the_benchmark,
]


def test_the_squatter_has_all_that_an_account_gives(squatter: Squatter, graded: Callable[..., Any]) -> None:
    assert squatter.signs_in()
    assert squatter.sees(graded(owner=squatter.user, public=False)) == ["session", "token"]


@pytest.mark.parametrize("give", WAYS)
def test_a_role_is_not_given_to_an_address_that_nobody_confirmed(
    squatter: Squatter, private: Submission, admin: Client, give: Callable[[Client, User], bool]
) -> None:
    assert not give(admin, squatter.user)
    assert squatter.sees(private) == []
    squatter.user.refresh_from_db()
    assert not squatter.user.is_superuser
    assert not squatter.user.organized.exists()


@pytest.mark.parametrize("give", WAYS)
def test_nothing_set_up_before_comes_with_a_new_role(
    squatter: Squatter, private: Submission, admin: Client, give: Callable[[Client, User], bool]
) -> None:
    """The address may have been confirmed since; the account's owner did not take that token."""
    EmailAddress.objects.filter(email=BOSS).update(verified=True)
    assert give(admin, squatter.user)
    assert squatter.sees(private) == []
    assert not Token.objects.exists()
    assert not Authenticator.objects.exists()
    assert list(EmailAddress.objects.filter(user=squatter.user).values_list("email", flat=True)) == [BOSS]


def test_a_role_all_the_same_has_a_flag_that_says_what_it_means(
    squatter: Squatter, private: Submission
) -> None:
    refused = run("organizer", BOSS, "tiny")
    assert refused.exit_code == 1
    assert "--unconfirmed" in refused.output
    assert "leaderboard confirm" in refused.output
    for command in ("organizer", "admin"):
        words = " ".join(run(command, "--help").output.split())
        assert "It then may not be its owner who signed up with it." in words
    assert run("organizer", BOSS, "tiny", "--unconfirmed").exit_code == 0
    assert squatter.sees(private) == []
    assert squatter.user.organized.exists()
    assert run("admin", BOSS, "--unconfirmed").exit_code == 0
    assert not squatter.signs_in()


def test_whoever_runs_the_site_vouches_for_a_person(squatter: Squatter, private: Submission) -> None:
    link = run("confirm", BOSS, "--url", "https://board.example.org/").output.strip()
    assert link.startswith("https://board.example.org/account/password/reset/key/")
    assert (squatter.sees(private), squatter.signs_in()) == ([], False)
    boss = choose_password(link.removeprefix("https://board.example.org"))
    assert boss.get("/submissions").status_code == 200, "and is signed in with it"
    assert run("organizer", BOSS, "tiny").exit_code == 0
    assert squatter.sees(private) == []
    boss.post("/account/login/", {"login": BOSS, "password": "the boss's own one"})
    assert boss.get(private.get_absolute_url()).status_code == 200
    assert Client().get(link.removeprefix("https://board.example.org")).status_code == 200, "good once"


def test_vouching_makes_the_account_where_there_is_none(tiny: Any) -> None:
    with pytest.raises(SiteError, match=r"leaderboard confirm boss@example\.org"):
        set_organizer(BOSS, "tiny")
    choose_password(trust.vouch(BOSS))
    set_organizer(BOSS, "tiny")
    with pytest.raises(SiteError, match="not an email address"):
        trust.vouch("boss")


def test_an_admin_vouches_on_the_admin_pages(squatter: Squatter, private: Submission, admin: Client) -> None:
    row = EmailAddress.objects.get(email=BOSS)
    fields = {"action": "confirm", "_selected_action": [row.pk]}
    page = admin.post("/admin/account/emailaddress/", fields, follow=True).content.decode()
    assert (squatter.signs_in(), Token.objects.exists()) == (False, False)
    link = re.search(r"http://testserver(/account/password/reset/key/[^\s<]+)", page)
    assert link
    assert choose_password(link[1]).get("/submissions").status_code == 200


def test_a_role_from_before_is_found_by_the_doctor(squatter: Squatter, tiny: Any) -> None:
    assert health.roles().ok
    tiny.organizers.add(squatter.user)
    assert BOSS in health.roles().state
    trust.vouch(BOSS)
    assert health.roles().ok


@pytest.mark.parametrize("way", ["confirm", "reset"])
def test_who_follows_the_link_has_the_account(squatter: Squatter, private: Submission, way: str) -> None:
    """The links that an organizer passes on, or a mail has, go to the address's owner."""
    if way == "confirm":
        boss = Client()
        mine = trust.addresses_to_confirm().get(email=BOSS)
        path = boss.post(trust.confirmation_path(mine))["Location"]
        assert not squatter.signs_in()
    else:
        path = trust.reset_path(trust.account(BOSS))
    assert choose_password(path).get("/submissions").status_code == 200
    assert (squatter.signs_in(), squatter.sees(private)) == (False, [])
    assert run("organizer", BOSS, "tiny").exit_code == 0, "the address is confirmed"
    assert (squatter.signs_in(), squatter.sees(private)) == (False, [])


def test_who_signed_up_and_confirms_keeps_what_is_set_up(db: None) -> None:
    browser = Client()
    browser.post("/account/signup/", {"email": BOSS, "password1": PASSWORD})
    user = User.objects.get()
    issue(user, "mine", [Scope.READ], timedelta(days=1))
    address = trust.addresses_to_confirm().get()
    assert browser.post(trust.confirmation_path(address))["Location"] == "/submissions"
    user.refresh_from_db()
    assert user.check_password(PASSWORD)
    assert Token.objects.exists()


def test_a_link_for_a_new_password_goes_to_no_address_that_is_not_confirmed(
    squatter: Squatter, mailoutbox: list[Any]
) -> None:
    """The squatter's own address is on the account, as one that it changes to."""
    for email in ("squatter@example.org", BOSS):
        Client().post("/account/password/reset/", {"email": email})
    links = [mail.to for mail in mailoutbox if "/reset/key/" in mail.body]
    assert links == [[BOSS]]


def test_a_second_factor_stays_over_a_new_password_of_a_confirmed_address(squatter: Squatter) -> None:
    """Who can read somebody's mail gets no further than that."""
    EmailAddress.objects.filter(email=BOSS).update(verified=True)
    reset = choose_password(trust.reset_path(trust.account(BOSS)))
    assert reset.get("/submissions").status_code == 302, "the code is still asked for"
    assert Authenticator.objects.filter(user=squatter.user).exists()


@pytest.mark.parametrize("what", ["exception", "team", "study", "local"])
def test_nothing_else_is_given_by_naming_an_address_that_is_not_confirmed(
    squatter: Squatter, admin: Client, tiny: Any, what: str, tmp_path: Any, good_zip: bytes
) -> None:
    from gluebench.leaderboard.apps.annotation.forms import StudyForm

    if what == "exception":
        tiny.registrations.create(user=squatter.user, standing="accepted")
        form = {"who": f"account-{squatter.user.pk}", "per_day": "50", "reason": "A workshop"}
        assert (
            "The address of this account is not confirmed"
            in admin.post("/benchmarks/tiny/organize/limits/exceptions", form).content.decode()
        )
        assert not squatter.user.overrides.exists()
    elif what == "team":
        team = Team.objects.create(name="The boss's team")
        admin.post(f"/admin/accounts/user/{squatter.user.pk}/change/", {"is_active": "on", "team": team.pk})
        assert not team.members.exists()
    elif what == "study":
        form = StudyForm(tiny, {"accounts": BOSS})
        assert "Not confirmed" in str(form.errors["accounts"])
    else:
        (tmp_path / "own.zip").write_bytes(good_zip)
        with pytest.raises(SiteError, match="has not confirmed"):
            commands.submit_local(SITE, "tiny", BOSS, tmp_path / "own.zip", model="x", name="y")
