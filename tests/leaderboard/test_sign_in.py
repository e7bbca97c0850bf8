"""Signing in with a provider: an exchange with a server of OpenID Connect, and what a stranger may try."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.core import mail
from django.test import Client, override_settings

from gluebench.leaderboard.apps.accounts import trust
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.serving.environment import read

pytest.importorskip("jwt", reason="PyJWT is not installed")
from leaderboard import openid

ADA = "ada@example.org"
LOGIN, CALLBACK = "/account/oidc/orcid/login/", "/account/oidc/orcid/login/callback/"
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def running() -> Iterator[openid.Provider]:
    with openid.running() as provider:
        yield provider


@pytest.fixture
def provider(running: openid.Provider, settings: Any) -> openid.Provider:
    from django.core.cache import cache

    cache.clear()
    running.person, running.token, running.userinfo = {"sub": "0000-0001", "name": "Ada Lovelace"}, {}, {}
    app = {"provider_id": "orcid", "name": "ORCID", "client_id": openid.CLIENT, "secret": openid.SECRET}
    app["settings"] = {"server_url": running.address}  # type: ignore[assignment]
    github = {"name": "GitHub", "client_id": "id", "secret": "secret"}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {"OAUTH_PKCE_ENABLED": True, "APPS": [app]},
        "github": {"APPS": [github]},
    }
    return running


def leave(client: Client, provider: openid.Provider, process: str = "login") -> dict[str, str]:
    """Press the button; returns what the browser then asks the provider for."""
    page = client.post(f"{LOGIN}?process={process}")
    assert page.status_code == 200, page.content
    address = unescape(re.search(r'content="0;url=([^"]+)"', page.content.decode())[1])  # type: ignore[index]
    assert address.startswith(f"{provider.address}/authorize?")
    provider.asked = dict(parse_qsl(urlsplit(address).query))
    return provider.asked


def come_back(client: Client, asked: dict[str, str], **changed: str) -> Any:
    assert asked["redirect_uri"] == f"http://testserver{CALLBACK}"
    return client.get(CALLBACK, {"code": "a code", "state": asked["state"], **changed})


def sign_in(client: Client, provider: openid.Provider, process: str = "login") -> Any:
    return come_back(client, leave(client, provider, process))


def signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def test_a_verified_address_makes_an_account_and_the_next_time_opens_it(
    client: Client, provider: openid.Provider
) -> None:
    provider.person |= {"email": "Ada@Example.org", "email_verified": True}
    assert sign_in(client, provider).url == "/submissions"
    user = User.objects.get()
    assert signed_in(client)
    assert (user.email, user.first_name, user.has_usable_password()) == (ADA, "", False)
    assert trust.has_confirmed_address(user)
    kept = SocialAccount.objects.get()
    assert (kept.provider, kept.uid, kept.extra_data) == ("orcid", "0000-0001", {})
    again = Client()
    assert sign_in(again, provider).url == "/submissions"
    assert signed_in(again)
    assert User.objects.count() == 1
    assert SocialAccount.objects.get().extra_data == {}


@pytest.mark.parametrize("word", [False, "false", "true", None])
def test_an_address_that_is_not_verified_must_be_confirmed(
    client: Client, provider: openid.Provider, word: Any
) -> None:
    provider.person |= {"email": ADA, "email_verified": word}
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="mandatory"):
        sign_in(client, provider)
    assert not signed_in(client)
    assert not trust.has_confirmed_address(User.objects.get())
    assert [sent.to for sent in mail.outbox] == [[ADA]]


def test_the_owner_of_an_address_takes_over_who_came_by_a_provider_before(
    client: Client, provider: openid.Provider
) -> None:
    provider.person["email"] = ADA
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="mandatory"):
        sign_in(client, provider)
        owner = Client()
        link = re.search(r"http://127.0.0.1:8000(/account/confirm-email/\S+)", mail.outbox[0].body)[1]  # type: ignore[index]
        answer = owner.post(link)
    assert answer.url.startswith("/account/password/reset/key/")
    assert not SocialAccount.objects.exists()


def test_whoever_confirms_in_the_same_browser_keeps_the_provider(
    client: Client, provider: openid.Provider
) -> None:
    provider.person["email"] = ADA
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="mandatory"):
        sign_in(client, provider)
        link = re.search(r"http://127.0.0.1:8000(/account/confirm-email/\S+)", mail.outbox[0].body)[1]  # type: ignore[index]
        client.post(link)
        assert trust.has_confirmed_address(User.objects.get())
        sign_in(client, provider)
    assert signed_in(client)


@pytest.mark.parametrize("verification", ["mandatory", "optional"])
@pytest.mark.parametrize("verified", [True, False])
def test_an_account_that_exists_is_not_opened_by_its_address(
    client: Client, provider: openid.Provider, ada: User, verified: bool, verification: str
) -> None:
    provider.person |= {"email": "ADA@example.org", "email_verified": verified}
    with override_settings(ACCOUNT_EMAIL_VERIFICATION=verification):
        answer = sign_in(client, provider)
    assert not signed_in(client)
    assert not SocialAccount.objects.exists()
    assert User.objects.count() == 1
    page = client.get(answer.url).content.decode()
    assert ("exists. Sign in with its password" in page) == verified


def test_another_address_on_the_form_is_not_confirmed_by_the_provider(
    client: Client, provider: openid.Provider, ada: User
) -> None:
    provider.person["email"] = ADA
    assert sign_in(client, provider).url == "/account/providers/signup/"
    assert "Which email address" in client.get("/account/providers/signup/").content.decode()
    taken = client.post("/account/providers/signup/", {"email": ADA})
    assert "already exists" in taken.content.decode()
    client.post("/account/providers/signup/", {"email": "new@example.org"})
    new = User.objects.get(email="new@example.org")
    addresses = EmailAddress.objects.filter(user=new).values_list("email", "verified")
    assert [*addresses] == [("new@example.org", False)]


def test_an_account_connects_a_provider_after_its_password(
    client: Client, provider: openid.Provider, ada: User
) -> None:
    client.post("/account/login/", {"login": ADA, "password": "a long password"})
    client.session.save()
    answer = sign_in(client, provider, "connect")
    assert answer.url == "/account/reauthenticate/"
    assert not SocialAccount.objects.exists()
    client.post("/account/reauthenticate/", {"password": "a long password"})
    assert SocialAccount.objects.get().user == ada
    assert Entry.objects.get(action="provider added").actor == ada.pk
    other = Client()
    sign_in(other, provider)
    assert other.session["_auth_user_id"] == str(ada.pk)
    client.post("/account/providers/", {"account": SocialAccount.objects.get().pk})
    assert not SocialAccount.objects.exists()
    assert Entry.objects.get(action="provider removed").actor == ada.pk


@pytest.mark.parametrize(
    ("token", "userinfo"),
    [
        ({"nonce": "of another request"}, {}),
        ({"nonce": None}, {}),
        ({"iss": "https://elsewhere.example.org"}, {}),
        ({"aud": "another site"}, {}),
        ({"exp": 1}, {}),
        ({}, {"sub": "0000-0002"}),
    ],
    ids=lambda value: next(iter(value), "-"),
)
def test_an_answer_for_another_request_site_or_person_is_refused(
    client: Client, provider: openid.Provider, token: Any, userinfo: Any
) -> None:
    provider.person |= {"email": ADA, "email_verified": True}
    provider.token, provider.userinfo = token, userinfo
    answer = sign_in(client, provider)
    assert (answer.status_code, signed_in(client)) == (401, False)
    assert "ORCID did not sign you in" in answer.content.decode()
    assert not User.objects.exists()


def test_an_issuer_that_is_not_the_configured_one_is_refused(
    client: Client, provider: openid.Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the provider's configuration and its token agree."""
    provider.person |= {"email": ADA, "email_verified": True}
    other = "https://elsewhere.example.org"
    configuration = {**provider.configuration(), "issuer": other}
    monkeypatch.setattr(provider, "configuration", lambda: configuration)
    provider.token = {"iss": other}
    assert sign_in(client, provider).status_code == 401
    assert not User.objects.exists()


def test_a_state_of_another_browser_is_refused(client: Client, provider: openid.Provider) -> None:
    provider.person |= {"email": ADA, "email_verified": True}
    theirs = leave(Client(), provider)
    assert come_back(client, theirs).status_code == 401
    mine = leave(client, provider)
    assert come_back(client, mine, state="x" * 16).status_code == 401
    assert come_back(client, mine).url == "/submissions"
    assert come_back(Client(), mine).status_code == 401


def test_a_code_of_another_browser_is_refused(client: Client, provider: openid.Provider) -> None:
    """By the challenge: the code was given for a request with another."""
    mine, theirs = leave(client, provider), leave(Client(), provider)
    assert mine["code_challenge"] != theirs["code_challenge"]
    assert come_back(client, mine).status_code == 401
    assert "is not" in provider.refused


def test_a_provider_that_does_not_answer_or_is_not_configured(
    client: Client, provider: openid.Provider, settings: Any
) -> None:
    configured = settings.SOCIALACCOUNT_PROVIDERS
    configured["openid_connect"]["APPS"][0]["settings"]["server_url"] = "http://127.0.0.1:1"
    assert client.post(LOGIN).status_code == 401
    canceled = client.get("/account/providers/login/cancelled/")
    assert "You canceled" in canceled.content.decode()
    assert client.post("/account/oidc/other/login/").status_code == 404
    settings.SOCIALACCOUNT_PROVIDERS = {}
    for path in ("/account/github/login/", "/account/github/login/callback/", LOGIN):
        assert client.post(path).status_code == 404


def test_buttons_are_where_providers_are_configured(owner: Client, provider: openid.Provider) -> None:
    pages = {"/account/login/": Client(), "/account/signup/": Client(), "/account/providers/": owner}
    for path, client in pages.items():
        page = client.get(path).content.decode()
        assert f'action="{LOGIN}?process=' in page
        assert 'action="/account/github/login/' in page
    assert "GitHub or ORCID" in owner.get("/account/").content.decode()
    with override_settings(SOCIALACCOUNT_PROVIDERS={}):
        for path, client in pages.items():
            assert "ORCID" not in client.get(path).content.decode()


def test_an_account_without_a_password_can_do_what_others_can(
    client: Client, provider: openid.Provider
) -> None:
    provider.person |= {"email": ADA, "email_verified": True}
    sign_in(client, provider)
    for path in ("tokens", "export", "two-factor/totp/activate/", "email/", "password/set/", "delete"):
        assert client.get(f"/account/{path}").status_code == 200, path
    assert client.get("/account/password/change/").url == "/account/password/set/"
    last = client.post("/account/providers/", {"account": SocialAccount.objects.get().pk})
    assert "no password" in last.content.decode()
    user = User.objects.get()
    factor = Authenticator.objects.create(user=user, type="totp", data={})
    assert "/reauthenticate/" in client.post("/account/delete", {"sure": "on"}).url
    factor.delete()
    assert b'"0000-0001"' in exported(user)
    assert client.post("/account/delete", {"sure": "on"}).status_code == 302
    assert not SocialAccount.objects.exists()
    assert not User.objects.get().is_active
    with override_settings(ACCOUNT_EMAIL_VERIFICATION="optional"):
        assert sign_in(Client(), provider).url == "/submissions"
    assert User.objects.filter(is_active=True).count() == 1


def exported(user: User) -> bytes:
    import zipfile

    with trust.export(user) as archive:
        return zipfile.ZipFile(archive).read("account.json")


def test_who_gets_a_role_keeps_no_provider(client: Client, provider: openid.Provider) -> None:
    """A role is given to the address, and the session may be that of somebody who had the account before."""
    provider.person |= {"email": ADA, "email_verified": True}
    sign_in(client, provider)
    trust.make_admin(ADA)
    assert not SocialAccount.objects.exists()


GOOD = "https://APP-1:a%40secret@orcid.org?name=ORCID"


def test_providers_are_read_from_the_environment() -> None:
    github, google = (
        "https://id:s@github.com?name=GitHub",
        "https://g.apps:s@accounts.google.com?name=Google+X",
    )
    realm = "https://id:s@login.example.org:8443/realms/Uni/?name=Uni"
    running, problems = read({"GLUEBENCH_SIGN_IN": f"{GOOD} {github}\n{google} {realm}"})
    assert problems == []
    assert [tuple(each) for each in running.sign_in] == [
        ("orcid-org", "ORCID", "https://orcid.org", "APP-1", "a@secret"),
        ("github-com", "GitHub", "", "id", "s"),
        ("accounts-google-com", "Google X", "https://accounts.google.com", "g.apps", "s"),
        ("login-example-org-8443-realms-uni", "Uni", "https://login.example.org:8443/realms/Uni/", "id", "s"),
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("https://orcid.org", "entry 1"),
        (f"{GOOD} https://id:geheim@example.org", "entry 2"),
        ("https://id:geheim@example.org:port?name=X", "entry 1"),
        ("http://id:geheim@example.org?name=X", "begin with https://"),
        (f"{GOOD} {GOOD}", "two entries for orcid-org"),
    ],
)
def test_a_provider_that_cannot_be_read_is_named_without_its_secret(value: str, expected: str) -> None:
    running, problems = read({"GLUEBENCH_SIGN_IN": value, "GLUEBENCH_WEB": "none"})
    assert running.sign_in == ()
    assert len(problems) == 2
    named = next(problem for problem in problems if problem.startswith("GLUEBENCH_SIGN_IN has "))
    assert expected in named
    assert "geheim" not in named
    assert "a%40secret" not in named
