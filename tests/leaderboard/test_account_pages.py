"""The pages of an account and of the admin in Chromium: axe, the content policy, and a passkey."""

from __future__ import annotations

from typing import Any

import pytest
from browser import MARKS, Tab, axe_finds, shown
from leaderboard.test_browser import sign_up

pytestmark = MARKS
PASSWORD = "a long password"


def show_again(page: Any) -> None:
    """Show once more that it is oneself, where the site asks."""
    page.goto("/account/tokens")
    if "reauthenticate" in page.url:
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Go on").click()
    page.get_by_role("heading", name="Tokens").wait_for()


def violations(page: Any, path: str) -> list[str]:
    page.goto(path)
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    wide = [f"wider than the screen: {width}"] if width[0] > width[1] else []
    return wide + [shown(each) for each in axe_finds(page)]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_every_page_of_an_account_is_accessible(chromium: Any, served: Any, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    with Tab(chromium, served.url, color_scheme=scheme, viewport=size) as tab:
        found = {path: violations(tab.page, path) for path in ("/terms", "/privacy", "/account/login/")}
        sign_up(tab.page, f"account-{scheme}@example.org")
        found["asked again"] = violations(tab.page, "/account/tokens")
        show_again(tab.page)
        tab.page.get_by_label("Name").fill("server")
        tab.page.get_by_role("button", name="Make a token").click()
        tab.page.get_by_role("heading", name="Your new token").wait_for()
        pages = ["/account/", "/account/email/", "/account/password/change/", "/account/sessions/"]
        pages += ["/account/two-factor/", "/account/two-factor/totp/activate/", "/account/tokens"]
        pages += ["/account/two-factor/webauthn/add/", "/account/export", "/account/delete"]
        found |= {path: violations(tab.page, path) for path in pages}
        assert not {path: listed for path, listed in found.items() if listed}
        assert all(url.startswith((served.url, "data:")) for url in tab.requests)
        assert not tab.complaints


def test_a_passkey_signs_in_without_a_password(chromium: Any, served: Any) -> None:
    """With the authenticator that Chromium brings for tests, and the library's scripts under our policy."""
    with Tab(chromium, served.url.replace("127.0.0.1", "localhost")) as tab:
        page = tab.page
        session = tab.context.new_cdp_session(page)
        session.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True}
        options |= {"hasUserVerification": True, "isUserVerified": True, "automaticPresenceSimulation": True}
        session.send("WebAuthn.addVirtualAuthenticator", {"options": options})
        sign_up(page, "passkey@example.org")
        show_again(page)
        page.goto("/account/two-factor/webauthn/add/")
        page.get_by_label("Name").fill("This laptop")
        page.get_by_label("Passwordless").check()
        page.get_by_role("button", name="Add", exact=True).click()
        page.get_by_role("heading", name="Recovery Codes").wait_for()
        page.goto("/account/logout/")
        page.get_by_role("button", name="Sign out").click()
        page.goto("/account/login/")
        page.get_by_role("button", name="Sign in with a passkey").click()
        page.get_by_role("heading", name="My submissions").wait_for()
        assert not tab.complaints


def test_the_admin_pages_work_under_the_site_s_policy(chromium: Any, served: Any) -> None:
    password = served.python(
        "from gluebench.leaderboard import commands; import sys\n"
        "commands.open_site(sys.argv[1]); from gluebench.leaderboard.apps.accounts import trust\n"
        "print(trust.make_admin('boss@example.org'))",
        str(served.folder),
    ).strip()
    with Tab(chromium, served.url) as tab:
        page = tab.page
        page.goto("/admin/")
        page.get_by_label("Email").fill("boss@example.org")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.get_by_role("heading", name="What is on this site").wait_for()
        for path in ("submissions/submission/", "benchmarks/benchmark/", "accounts/user/", "audit/entry/"):
            page.goto(f"/admin/{path}")
            page.locator("#changelist").wait_for()
        page.goto("/admin/limits/override/add/")
        page.locator(".select2-selection").first.click()
        page.get_by_role("option", name="A tiny benchmark").click()
        assert not tab.complaints
