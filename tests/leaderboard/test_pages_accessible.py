"""Every kind of page in Chromium: axe, headings, width of a phone, and use without JavaScript."""

from __future__ import annotations

import io
import re
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browser import MARKS, RULES, Tab, axe_finds
from browser import shown as line
from django.urls import resolve
from leaderboard.material import PREDICTIONS, tsv, zip_bytes
from leaderboard.routes import ROUTES

pytestmark = MARKS

PASSWORD = "a long password"
ANYBODY = (
    *("/", "/?view=training&intervals=1", "/?q=nobody", "/nothing", "/terms", "/privacy"),
    *(
        "/benchmarks/tiny/tasks/Sim",
        "/benchmarks/tiny/data",
        "/benchmarks/tiny/diagnostics/DX?category=Logic",
    ),
    *("/benchmarks/tiny?by=borda&weights=Para:2", "/benchmarks/tiny/tasks/Para"),
    *("/benchmarks/tiny/progress", "/?columns=Refer,code,submitted&parameters=1B&training=other"),
    *("/account/login/", "/account/signup/", "/account/password/reset/", "/account/password/reset/done/"),
    *("/account/inactive/", "/account/confirm-email/", "/account/confirm-email/no-such-key/"),
    *("/account/password/reset/key/1-wrong/", "/account/password/reset/key/done/", "/submissions/{listed}"),
    "/submissions/{listed}/detail",
    "/api/v1/docs",
    *(f"/benchmarks/tiny/{page}" for page in ("pairs", "rules", "efficiency", "compare", "health")),
    *("/benchmarks/tiny/diagnostics/DX?view=map", "/benchmarks/tiny/diagnostics/DX/negation"),
    *("/benchmarks/tiny/news", "/benchmarks/tiny/changes", "/benchmarks/tiny/embed", "/ledger"),
    "/account/providers/login/cancelled/",
)
SIGNED_IN = (
    *(
        "/submissions",
        "/organize",
        "/submissions/{private}",
        "/submissions/{invalid}",
        "/submissions/{private}/edit",
    ),
    *("/benchmarks/tiny/submit", "/benchmarks/tiny/organize", "/benchmarks/tiny/organize/log"),
    "/submissions/{invalid}/replace",
    *("/benchmarks/tiny/organize/alike", "/benchmarks/tiny/organize/submissions/{private}"),
    *("/benchmarks/tiny/organize/people", "/benchmarks/tiny/organize/phases"),
    *(
        f"/benchmarks/tiny/organize/{tab}"
        for tab in (
            "setup",
            "replace",
            "texts",
            "looks",
            "roles",
            "results",
            "health",
            "news",
            "copy",
            "participants",
        )
    ),
    *("/benchmarks/tiny/join", "/account/mail", "/account/webhooks", "/account/providers/"),
    *(
        "/benchmarks/tiny/organize/limits",
        "/account/",
        "/account/tokens",
        "/account/export",
        "/account/delete",
    ),
    *("/account/team", "/account/team/join/no-such-code", "/account/email/", "/account/password/change/"),
    *("/account/sessions/", "/account/two-factor/", "/account/two-factor/totp/activate/"),
    *("/account/two-factor/webauthn/", "/account/two-factor/webauthn/add/"),
    *("/account/two-factor/recovery-codes/generate/", "/account/reauthenticate/", "/account/logout/"),
)
ELSEWHERE = {
    "benchmarks/<slug:name>/organize/news/<int:pk>": "the form of organize/news",
    "benchmarks/<slug:name>/organize/participants/<int:pk>": "test_participants.py reads it, without axe",
    "benchmarks/<slug:name>/join/<slug:code>": "the page of join",
    "benchmarks/<slug:name>/organize/people/<slug:key>": "needs a study; test_annotation.py, without axe",
    "benchmarks/<slug:name>/people/<slug:key>": "needs a study; test_annotation.py, without axe",
    "label/<slug:code>": "needs a study; test_annotation.py, without axe",
    "label/<slug:code>/<int:number>": "needs a study; test_annotation.py, without axe",
    "submissions/<slug:key>/reproduce": "the form of submit",
    "unsubscribe/<str:code>": "one button; test_news.py reads it, without axe",
    "account/^confirm-email/(?P<key>[-:\\w]+)/$": "confirm-email",
    "account/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": "the same page, above",
}
"""Pages that are not looked at here, and what shows them."""
FEW = ("/", "/nothing", "/submissions/{listed}", "/account/login/")
FEW_SIGNED_IN = (
    "/submissions",
    *("/benchmarks/tiny/organize", "/benchmarks/tiny/organize/submissions/{private}"),
    *("/benchmarks/tiny/organize/limits", "/submissions/{invalid}", "/submissions/{private}/edit"),
)
LOOKS = [("light", 1280), ("light", 390), ("dark", 1280), ("dark", 390)]


class Shown(NamedTuple):
    """A served site with submissions, and the organizer who sent them."""

    site: Any
    cookie: str
    keys: dict[str, str]
    listed: bytes


@pytest.fixture(scope="module")
def shown(chromium: Any, served: Any, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    home = tmp_path_factory.mktemp("accessible")
    files = {"listed": PREDICTIONS, "private": PREDICTIONS, "invalid": {**PREDICTIONS, "Refer": "01x0"}}
    keys = {}
    for name, values in files.items():
        (home / f"{name}.zip").write_bytes(zip_bytes(values))
        keys[name] = served.submit(home / f"{name}.zip", f"An entry that is {name}")
    served.python(SET_UP, str(served.folder), keys["private"], PASSWORD)
    with Tab(chromium, served.url) as tab:
        tab.page.goto("/account/login/")
        tab.page.get_by_label("Email").fill("demo@example.org")
        tab.page.get_by_label("Password").fill(PASSWORD)
        tab.page.get_by_role("button", name="Sign in", exact=True).click()
        tab.page.goto("/account/tokens")
        tab.page.get_by_label("Password").fill(PASSWORD)
        tab.page.get_by_role("button", name="Go on").click()
        tab.page.get_by_role("heading", name="Tokens").wait_for()
        cookie = next(each["value"] for each in tab.context.cookies() if each["name"] == "sessionid")
    return Shown(served, cookie, keys, (home / "listed.zip").read_bytes())


SET_UP = """
import os, sys
from gluebench.leaderboard.keeping.folder import VARIABLE
os.environ[VARIABLE], os.environ["DJANGO_SETTINGS_MODULE"] = sys.argv[1], "gluebench.leaderboard.settings"
import django
django.setup()
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import revoke
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.models import Submission
user = User.objects.get(email="demo@example.org")
user.set_password(sys.argv[3])
user.save()
revoke(user, confirm=True)
tiny = Benchmark.objects.get(name="tiny")
tiny.organizers.add(user)
tiny.settings = {"per_day": None, "at_once": None}
tiny.save()
Submission.objects.filter(key=sys.argv[2]).update(public=False)
"""


def visited(shown: Shown, chromium: Any, pages: tuple[str, ...], look: tuple[str, int], **more: Any) -> Any:
    """Each page open in the browser, in turn."""
    scheme, width = look
    size = {"width": width, "height": 844}
    with Tab(chromium, shown.site.url, color_scheme=scheme, viewport=size, **more) as tab:
        if set(pages) & set(SIGNED_IN):
            cookie = {"name": "sessionid", "value": shown.cookie, "url": shown.site.url, "httpOnly": True}
            tab.context.add_cookies([cookie])
        for path in pages:
            tab.page.goto(path.format(**shown.keys))
            if more.get("java_script_enabled", True):
                if path == "/api/v1/docs":
                    tab.page.locator(".opblock").first.wait_for()
                if path == "/":
                    tab.page.get_by_role("button", name="Details of An entry that is listed").click()
                    tab.page.get_by_text("Full report of An entry that is listed").wait_for()
            yield path, tab.page
        assert all(url.startswith((shown.site.url, "data:")) for url in tab.requests), (
            "no other server is asked"
        )


def faults(page: Any, path: str) -> list[str]:
    """What is wrong with a page for somebody."""
    found = [] if path.endswith("/detail") else shape(page)
    listed = axe_finds(page, RULES[:-1] if path.endswith("/detail") else RULES)
    return found + [line(each) for each in listed if whole(each, path)]


def whole(violation: dict[str, Any], path: str) -> bool:
    """What an opened row holds is a part of a page: it has no title and no language of its own."""
    return not (path.endswith("/detail") and violation["id"] in ("document-title", "html-has-lang"))


def shape(page: Any) -> list[str]:
    """Its title, one first heading, no level left out, and nothing wider than the screen."""
    levels = page.eval_on_selector_all(
        "h1,h2,h3,h4,h5,h6", "all => all.filter(e => e.offsetParent).map(e => +e.tagName[1])"
    )
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    found = [] if page.title() else ["no title"]
    found += [] if levels.count(1) == 1 and levels[0] == 1 else [f"headings: {levels}"]
    found += [f"headings: {levels}" for above, below in pairwise(levels) if below > above + 1]
    return found + ([f"{wide} px wider than the screen"] if wide > 0 else [])


def wrong(shown: Shown, chromium: Any, pages: tuple[str, ...], look: tuple[str, int]) -> dict[str, list[str]]:
    found = {path: faults(page, path) for path, page in visited(shown, chromium, pages, look)}
    return {path: listed for path, listed in found.items() if listed}


def test_every_page_is_looked_at() -> None:
    """By the table of routes; files, programs' addresses and admin pages are no pages of this kind."""
    paths = [re.sub(r"{\w+}", "1", path.partition("?")[0]) for path in (*ANYBODY, *SIGNED_IN)]
    seen = {resolve(path).route for path in paths if path != "/nothing"}
    pages = {
        route.pattern
        for route in ROUTES
        if "200" in (route.expected("GET", "anonymous"), route.expected("GET", "organizer"))
        and not route.pattern.startswith(("api/", "admin/", "ledger/", "healthz", "readyz"))
        and not re.search(r"\.\w+$|/data/<path|/file$|/receipt$|/style\.css$", route.pattern)
    }
    assert pages - seen - ELSEWHERE.keys() == set()


def test_pages_are_accessible(chromium: Any, shown: Shown) -> None:
    """The short form of the next test."""
    assert not wrong(shown, chromium, FEW, ("light", 390))
    assert not wrong(shown, chromium, FEW_SIGNED_IN, ("dark", 1280))


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("pages", [ANYBODY, SIGNED_IN], ids=["visitor", "signed in"])
def test_every_kind_of_page_is_accessible_in_every_look(
    chromium: Any, shown: Shown, pages: tuple[str, ...], look: tuple[str, int]
) -> None:
    assert not wrong(shown, chromium, pages, look)


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_what_a_sender_is_asked_is_accessible_in_every_look(
    chromium: Any, shown: Shown, look: tuple[str, int], tmp_path: Path
) -> None:
    """A file that can be fixed, one that cannot, and one that was sent before."""
    pages = ("/benchmarks/tiny/submit", "/submissions/{invalid}/replace")
    commas = io.BytesIO()
    with zipfile.ZipFile(commas, "w") as archive:
        for name, values in PREDICTIONS.items():
            archive.writestr(f"{name}.tsv", tsv(values, "prediction").replace("\t", ","))
    files = {
        "Fix these automatically": commas.getvalue(),
        "Some of these only you can fix": zip_bytes({**PREDICTIONS, "Refer": "01x0"}),
        "submitted this very file before": shown.listed,
    }
    for path, page in visited(shown, chromium, pages, look):
        for answer, data in files.items():
            (tmp_path / "sent.zip").write_bytes(data)
            page.get_by_label("Submission", exact=True).set_input_files(tmp_path / "sent.zip")
            if path.endswith("submit"):
                page.get_by_label("Name").fill("A name")
                page.get_by_label("Model", exact=True).fill("A model")
            page.locator(".button[value=submit]").click()
            page.get_by_text(answer).wait_for()
            assert not faults(page, path), (path, answer)


@pytest.mark.slow
def test_an_opened_operation_of_the_api_is_accessible(chromium: Any, shown: Shown) -> None:
    for path, page in visited(shown, chromium, ("/api/v1/docs",), ("light", 1280)):
        for name in ("check", "submissions"):
            page.locator(f"[id$=-{name}] .opblock-summary-control").first.click()
        page.locator(".responses-table .microlight").first.wait_for()
        assert not [line(each) for each in axe_finds(page)], path


NEEDS_SCRIPTS = ("/account/two-factor/webauthn/add/",)
"""Browsers offer passkeys to scripts alone."""


@pytest.mark.slow
@pytest.mark.parametrize("pages", [ANYBODY, SIGNED_IN], ids=["visitor", "signed in"])
def test_without_javascript_every_form_can_be_sent(
    chromium: Any, shown: Shown, pages: tuple[str, ...]
) -> None:
    """Every form that shows has a button that sends it; no button is there that does nothing."""
    dead = {}
    for path, page in visited(shown, chromium, pages, ("light", 1280), java_script_enabled=False):
        forms = [form for form in page.locator("form").all() if form.is_visible()]
        silent = [form for form in forms if not sender(form)]
        loose = [
            button.inner_text()
            for button in page.locator("button:visible").all()
            if button.evaluate("e => !e.form") and not path.endswith("/detail")
        ]
        if (silent or loose) and path not in NEEDS_SCRIPTS:
            dead[path] = (len(silent), loose)
    assert not dead


def sender(form: Any) -> bool:
    """Whether a button in it, in sight or in a part that opens, sends the form."""
    return form.locator("button:not([type=button]), input[type=submit]").count() > 0
