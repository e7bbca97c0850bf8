"""A site under a path: everything that it links to, sets, sends and prints begins with it, and is there."""

from __future__ import annotations

import html
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from email import message_from_bytes, policy
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode, urljoin, urlsplit

import pytest
from django.core.cache import caches
from django.test import Client, override_settings
from django.urls import resolve, set_script_prefix
from leaderboard.material import PREDICTIONS, write_data, zip_bytes
from leaderboard.proxies import HOST, PAGE, free_port, running
from leaderboard.served import Served
from leaderboard.test_proxies import SETUP

from gluebench.leaderboard import commands
from gluebench.submission.client import Client as SiteClient
from gluebench.submission.client import remote

PATH = "/leaderboard"
LINK = re.compile(r'\s(?:href|src|action|data-src)="([^"]*)"')
NOT_FOLLOWED = re.compile(r"/logout|/admin/jsi18n|/account/two-factor/recovery-codes/download")


class Page(NamedTuple):
    """What an address answers with."""

    status: int
    kind: str
    text: str
    location: str


def walk(start: str, get: Callable[[str], Page]) -> dict[str, int]:
    """Follow every link, picture, style sheet and redirect from a page; returns the status by address."""
    seen: dict[str, int] = {}
    waiting = [start]
    while waiting:
        address = waiting.pop()
        if address in seen or NOT_FOLLOWED.search(address):
            continue
        page = get(address)
        seen[address] = page.status
        links = [page.location] if page.location else []
        if page.kind.startswith("text/html"):
            links += [html.unescape(link) for link in LINK.findall(page.text)]
        for link in links:
            parts = urlsplit(urljoin(address, link))
            if parts.scheme in ("", "http", "https") and parts.hostname in (None, HOST, "testserver"):
                # Without its query: a list's other filters and pages are made by the same view.
                waiting.append(parts.path)
    return seen


def missing(addresses: dict[str, int]) -> dict[str, int]:
    """The addresses that are not there. To some, only a form may send, and some need a recent password."""
    return {address: status for address, status in addresses.items() if status not in (200, 302, 405)}


@pytest.fixture
def prefixed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Django's settings of a site under the path, in this process."""
    from gluebench.leaderboard.apps.api.site import api

    monkeypatch.setattr(api, "_document", None)  # made once in a process, with the addresses of its site
    names = {"SESSION_COOKIE_PATH": f"{PATH}/", "CSRF_COOKIE_PATH": f"{PATH}/"}
    caches["pages"].clear()
    with override_settings(FORCE_SCRIPT_NAME=PATH, STATIC_URL=f"{PATH}/static/", **names):
        set_script_prefix(f"{PATH}/")
        yield
    set_script_prefix("/")
    caches["pages"].clear()


@pytest.mark.django_db
def test_pages_under_a_path_link_to_pages_under_it(
    prefixed: None, tiny: Any, ada: Any, owner: Client
) -> None:
    tiny.organizers.add(ada)
    board = "/benchmarks/tiny"
    for page in ("/", board, f"{board}/submit", f"{board}/organize", "/account/", "/api/v1/docs"):
        text = owner.get(page).content.decode()
        links = [urlsplit(urljoin(page, html.unescape(link))) for link in LINK.findall(text)]
        paths = {link.path for link in links if not link.netloc and link.path != page}
        assert paths
        for path in paths:
            assert path.startswith(f"{PATH}/"), path
            if not path.startswith(f"{PATH}/static/"):
                resolve(path.removeprefix(PATH))


@pytest.mark.django_db
def test_the_interface_names_addresses_under_the_path(
    prefixed: None, graded: Callable[..., Any], tiny: Any, client: Client
) -> None:
    for number in range(3):
        graded(name=f"System {number}")
    api = "/api/v1"
    assert client.get(f"{api}/").json()["docs"] == f"{PATH}/api/v1/docs"
    page = client.get(f"{api}/benchmarks/tiny/board?per_page=2").json()
    assert page["next"] == f"{PATH}/api/v1/benchmarks/tiny/board?page=2&per_page=2"
    refusal = client.get(f"{api}/benchmarks/tiny/board?by=mean")
    assert refusal.status_code == 400
    assert "takes page, per_page, phase" in refusal.json()["detail"]
    assert f"{PATH}/account/tokens" in client.get(f"{api}/account").json()["detail"]


@pytest.mark.slow
@pytest.mark.django_db
def test_a_frozen_copy_has_the_site_s_files_at_its_root(
    prefixed: None, graded: Callable[..., Any], tmp_path: Path
) -> None:
    from gluebench.leaderboard.keeping.freeze import freeze

    graded(name="A system")
    assert freeze(tmp_path / "copy") > 20
    page = (tmp_path / "copy" / "benchmarks" / "tiny.html").read_text()
    links = [link for link in LINK.findall(page) if "://" not in link]
    assert len(links) > 5
    assert not [link for link in links if PATH in link]
    assert (tmp_path / "copy" / "ledger" / "checkpoint").is_file()
    assert not commands.verify(str(tmp_path / "copy")).findings


def test_links_of_commands_have_the_path_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLUEBENCH_PATH", f"{PATH}/")
    for url in (f"https://{HOST}{PATH}/", f"https://{HOST}{PATH}", f"https://{HOST}"):
        assert commands.address(tmp_path, url) == f"https://{HOST}"
    (tmp_path / "address").write_text(f"http://127.0.0.1:8123{PATH}/")
    assert commands.address(tmp_path) == "http://127.0.0.1:8123"


class Browser:
    """A browser without JavaScript at the proxy's port; it follows no redirects."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.cookies: dict[str, str] = {}
        self.paths: set[str] = set()
        """The paths for which cookies were set."""

    def get(self, address: str, form: dict[str, str] | None = None) -> Page:
        headers = {"Host": HOST, "Referer": f"https://{HOST}{address}"}
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        method = "GET" if form is None else "POST"
        connection.request(method, quote(address, safe="/?=&%"), urlencode(form or {}), headers)
        answer = connection.getresponse()
        for cookie in answer.headers.get_all("Set-Cookie") or []:
            facts = SimpleCookie(cookie)
            for name, morsel in facts.items():
                self.cookies[name] = morsel.value
                self.paths.add(morsel["path"])
        text = answer.read().decode(errors="replace")
        connection.close()
        return Page(
            answer.status, answer.getheader("Content-Type", ""), text, answer.getheader("Location", "")
        )

    def send(self, address: str, **fields: str) -> Page:
        """Send the form of a page."""
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.get(address).text)
        assert token
        return self.get(address, {"csrfmiddlewaretoken": token[1], **fields})


class Proxied(NamedTuple):
    served: Served
    port: int
    mail: list[str]
    """The texts of the mail that the site sent."""
    token: str


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory, gold_folder: Path) -> Iterator[Proxied]:
    if not shutil.which("nginx"):
        pytest.skip("needs nginx in PATH")
    smtp = pytest.importorskip("aiosmtpd.controller", reason="needs aiosmtpd, for a mail server")
    home, mail = tmp_path_factory.mktemp("path"), []

    class Postbox:
        async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
            mail.append(message_from_bytes(envelope.content, policy=policy.default).get_content())
            return "250 OK"

    with ExitStack() as stack:
        postbox = smtp.Controller(Postbox(), hostname="127.0.0.1", port=free_port())
        postbox.start()
        stack.callback(postbox.stop)
        environment = {
            "GLUEBENCH_PATH": PATH,
            "GLUEBENCH_HOSTS": HOST,
            "GLUEBENCH_HTTPS": "1",
            "GLUEBENCH_REQUEST_START": "1",
            "GLUEBENCH_SMTP": f"smtp://127.0.0.1:{postbox.port}?from=board@{HOST}",
        }
        data = home / "data"
        data.mkdir()
        served = Served(home / "site", gold_folder, environment, write_data(data))
        stack.callback(served.stop)
        made = served.python(
            SETUP + "from allauth.account.models import EmailAddress\n"
            "benchmark = Benchmark.objects.get()\n"
            "user = User.objects.create_user('ada@example.org', 'a long password')\n"
            "EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)\n"
            "benchmark.organizers.add(user)\n"
            "print(issue(user, 'a test', ['read', 'submit'], timedelta(days=1))[1])",
            str(served.folder),
        )
        port = stack.enter_context(running("nginx", home / "nginx", served.port, PATH))
        yield Proxied(served, port, mail, made.strip())


@pytest.mark.slow
def test_behind_nginx_every_link_of_a_visitor_and_an_organizer_is_there(proxied: Proxied) -> None:
    """Also by the letter of the page: nginx's block with another location, and one variable."""
    assert f"GLUEBENCH_PATH={PATH}" in PAGE
    assert f"location {PATH}/ {{" in PAGE
    assert proxied.served.said.split()[4] == f"{proxied.served.url}{PATH}/"
    client = SiteClient(f"http://127.0.0.1:{proxied.port}{PATH}", proxied.token)
    file = proxied.served.folder.parent / "p.zip"
    file.write_bytes(zip_bytes(PREDICTIONS))
    sent = client.submit("tiny", file, {"name": "A system", "model": "m", "public": True})
    assert client.wait(sent["key"], seconds=60)["status"] == "graded"
    benchmark = remote(f"http://127.0.0.1:{proxied.port}{PATH}/benchmarks/tiny")
    assert benchmark.facts["url"] == f"{PATH}/benchmarks/tiny"
    assert not commands.verify(client.url).findings

    visitor, organizer = Browser(proxied.port), Browser(proxied.port)
    moved = Browser(proxied.port).get(PATH)
    assert (moved.status, urlsplit(moved.location).path) == (301, f"{PATH}/")
    signed_in = organizer.send(f"{PATH}/account/login/", login="ada@example.org", password="a long password")
    assert (signed_in.status, signed_in.location) == (302, f"{PATH}/submissions")
    for browser in (visitor, organizer):
        addresses = walk(f"{PATH}/", browser.get)
        assert len([address for address in addresses if "/static/" in address]) > 5
        assert not missing(addresses)
    assert f"{PATH}/benchmarks/tiny/organize" in addresses
    assert organizer.paths == {f"{PATH}/"}
    assert not {"sessionid", "csrftoken"} & organizer.cookies.keys()


@pytest.mark.slow
def test_mail_from_a_request_and_from_a_worker_links_to_pages_under_the_path(proxied: Proxied) -> None:
    browser = Browser(proxied.port)
    browser.send(f"{PATH}/account/password/reset/", email="ada@example.org")
    proxied.served.python(
        SETUP + "from gluebench.leaderboard.apps.news.delivery import publish\n"
        "from gluebench.leaderboard.apps.news.models import Announcement\n"
        "from gluebench.leaderboard.apps.accounts.models import User\n"
        "from django.conf import settings\n"
        "from gluebench.leaderboard.serving.environment import site_address\n"
        "site = site_address(settings.RUNNING, settings.FOLDER)\n"
        "benchmark = Benchmark.objects.get()\n"
        "row = Announcement(benchmark=benchmark, site=site, title='News', text='Text')\n"
        "user = User.objects.get(email='ada@example.org')\n"
        "from gluebench.leaderboard.apps.limits.models import Acceptance\n"
        "Acceptance.objects.create(benchmark=benchmark, user=user, digest='0' * 64)\n"
        "publish(row, user)",
        str(proxied.served.folder),
    )
    end = time.monotonic() + 60
    while len(proxied.mail) < 2 and time.monotonic() < end:
        time.sleep(0.1)
    links = re.findall(rf"https://{HOST}(/\S+)", "\n".join(proxied.mail))
    assert len(links) >= 3
    for link in links:
        assert browser.get(link.partition("#")[0]).status in (200, 302), link
