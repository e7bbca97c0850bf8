"""The headers that protect, on every answer: pages, refusals, faults, files, "not modified"; and HEAD."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.core.signals import request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from django.test import Client, override_settings
from leaderboard.walk import Answer, Walk

from gluebench.leaderboard.apps.accounts.models import Scope, issue

pytestmark = pytest.mark.xdist_group("walk")
"""They share a walk through the whole site, which is made once a process."""

WITHOUT = ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'")
WITHOUT += ("base-uri 'none'", "form-action 'self'")


def missing(headers: Mapping[str, str]) -> list[str]:
    """What an answer lacks."""
    found = {name.lower(): value for name, value in headers.items()}
    policy = found.get("content-security-policy", "")
    faults = [part for part in WITHOUT if part not in policy]
    faults += [word for word in ("unsafe", "http:", "https:", "*") if word in policy]
    expected = {
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
    }
    return faults + [name for name, value in expected.items() if found.get(name) != value]


def framed(answer: Answer) -> bool:
    """Whether it is the page that other sites may put in a frame; it protects otherwise as all do."""
    faults = ["script-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "*", "x-frame-options"]
    return answer.route.path == "/benchmarks/tiny/embed" and missing(answer.headers) == faults


def test_every_page_protects_for_everybody(walked: Walk) -> None:
    lacking = {
        f"{answer.method} {answer.route.path} {answer.outcome}": faults
        for answer in walked.answers
        if (faults := missing(answer.headers)) and not framed(answer)
    }
    assert not lacking
    assert any(map(framed, walked.answers))
    assert {"200", "401", "403", "404", "405", "422", "login"} <= {
        answer.outcome for answer in walked.answers
    }


def test_what_may_be_kept_is_the_same_for_everybody(walked: Walk) -> None:
    """All else says that no cache may store it: pages of people, downloads, tokens, refusals.

    A board has two forms, told apart by the cookie: for visitors, and for everybody who is signed in.
    """
    kept: dict[tuple[str, bool], set[bytes]] = {}
    for answer in walked.answers:
        headers = {name.lower(): value for name, value in answer.headers.items()}
        if {"private", "no-store"} <= set(headers["cache-control"].split(", ")):
            continue
        if "/ledger/tile/" in answer.route.path and answer.outcome == "200":  # never changes
            assert headers["cache-control"] == "public, max-age=31536000, immutable"
            continue
        assert headers["cache-control"] == "no-cache", answer.route.path
        assert "cookie" in headers["vary"].lower()
        assert "set-cookie" not in headers
        what = f"{answer.method} {answer.route.path}", answer.role == "anonymous"
        kept.setdefault(what, set()).add(answer.body)
    assert {what for what, bodies in kept.items() if len(bodies) > 1} == set()
    assert {"GET /", "GET /benchmarks/tiny", "GET /benchmarks/tiny.csv"} <= {path for path, _ in kept}


def test_downloads_and_answers_to_tokens_are_not_kept(graded: Any, ada: Any) -> None:
    _, secret = issue(ada, "a program", [Scope.READ], timedelta(days=1))
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    key = graded(public=False).key
    for path in ("", "/report", "/file"):
        answer = Client().get(f"/api/v1/submissions/{key}{path}", **bearer)
        assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store")
    client = Client()
    client.force_login(ada)
    assert client.get(f"/submissions/{key}/file")["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize("path", ["/", "/benchmarks/tiny", "/account/login/", "/api/v1/benchmarks", "/no"])
def test_another_host_is_refused_in_one_plain_line(
    client: Client, tiny: Any, path: str, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get(path, HTTP_HOST="evil.example.com")
    assert (answer.status_code, answer["Content-Type"]) == (400, "text/plain")
    assert b"GLUEBENCH_HOSTS" in answer.content
    assert not missing(answer)
    assert [each.getMessage() for each in caplog.records] == [
        "Refused the host 'evil.example.com': GLUEBENCH_HOSTS does not name it."
    ]
    assert not any(each.exc_info for each in caplog.records)


def test_a_fault_of_the_site_protects_and_tells_nothing(tiny: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no page that fails by itself; so one is made to."""
    from gluebench.leaderboard.apps.boards import views

    monkeypatch.setattr(views, "only_one", lambda: 1 / 0)
    found = Client(raise_request_exception=False).get("/")
    assert found.status_code == 500
    assert not missing(found)
    assert b"ZeroDivisionError" not in found.content
    assert b"Something went wrong" in found.content


def test_a_form_without_its_token_is_refused_with_all_headers(tiny: Any, ada: Any) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(ada)
    found = client.post("/benchmarks/tiny/submit", {})
    assert found.status_code == 403
    assert not missing(found)


def test_cookies_are_for_this_site_and_not_for_scripts(tiny: Any, ada: Any) -> None:
    client = Client()
    client.get("/account/login/")
    client.post("/account/login/", {"login": ada.email, "password": "a long password"})
    assert {"csrftoken", "sessionid"} <= set(client.cookies)
    for cookie in client.cookies.values():
        assert cookie["httponly"], cookie.key
        assert cookie["samesite"] in ("Lax", "Strict"), cookie.key
        assert not cookie["domain"], cookie.key


@override_settings(SESSION_COOKIE_SECURE=True, CSRF_COOKIE_SECURE=True)
def test_behind_https_cookies_are_secure(tiny: Any, ada: Any) -> None:
    client = Client()
    client.get("/account/login/", secure=True)
    client.post("/account/login/", {"login": ada.email, "password": "a long password"}, secure=True)
    assert {"csrftoken", "sessionid"} <= set(client.cookies)
    assert all(cookie["secure"] for cookie in client.cookies.values())


class Wire:
    """What really comes over the wire: status, headers, body."""

    def __init__(self, port: int, request: str, *, method: str = "GET", more: str = "") -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            head = f"{method} {request} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{more}\r\n"
            connection.sendall(head.encode())
            answer = b""
            while data := connection.recv(65536):
                answer += data
        top, _, self.body = answer.partition(b"\r\n\r\n")
        first, *lines = top.decode().split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name.title(): value for name, value in (line.split(": ", 1) for line in lines)}


def static_file(served: Any) -> str:
    page = Wire(served.port, "/").body.decode()
    return page.split('rel="stylesheet" href="')[1].split('"')[0]


def test_static_files_refusals_of_the_server_and_not_modified_protect_too(served: Any) -> None:
    style = static_file(served)
    page = Wire(served.port, "/benchmarks/tiny")
    known = Wire(served.port, "/benchmarks/tiny", more=f"If-None-Match: {page.headers['Etag']}\r\n")
    found = {
        (200, "static"): Wire(served.port, style),
        (404, "static"): Wire(served.port, "/static/nothing.css"),
        (304, "board"): known,
        (404, "page"): Wire(served.port, "/nothing"),
        (400, "host"): Wire(served.port, "/", more="X-Forwarded-Host: a\r\nContent-Length: x\r\n"),
        (413, "body"): Wire(
            served.port, "/benchmarks/tiny/submit", method="POST", more="Content-Length: 99999999\r\n"
        ),
        (431, "head"): Wire(served.port, "/", more=f"X-Long: {'x' * 300000}\r\n"),
        (501, "coding"): Wire(served.port, "/", method="POST", more="Transfer-Encoding: nothing\r\n"),
    }
    assert {what: answer.status for (_, what), answer in found.items()} | {"static": 404} == {
        what: status for status, what in found
    }
    assert {key: missing(answer.headers) for key, answer in found.items() if missing(answer.headers)} == {}


HEADS = ["/", "/benchmarks/tiny.csv", "/benchmarks/tiny.json", "/account/login/", "/nothing", "/api/v1/docs"]


@pytest.mark.parametrize("path", [*HEADS, "static"])
def test_head_is_get_without_its_body(served: Any, path: str) -> None:
    address = static_file(served) if path == "static" else path
    whole, head = Wire(served.port, address), Wire(served.port, address, method="HEAD")
    assert head.body == b""
    assert head.status == whole.status
    assert head.headers["Content-Length"] == str(len(whole.body))
    assert head.headers.keys() == whole.headers.keys()
    # The clock may have ticked between the two, and each visitor's cookie is their own.
    ignored = ("Date", "Expires", "Content-Length", "Set-Cookie", "X-Request-Id")
    assert {k: v for k, v in head.headers.items() if k not in ignored} == {
        k: v for k, v in whole.headers.items() if k not in ignored
    }


@pytest.fixture
def connected() -> Iterator[None]:
    """A request that comes to the application itself does not close the test's connection."""
    request_started.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)


@pytest.mark.usefixtures("connected")
def test_head_of_a_file_sends_nothing_of_it(graded: Any, ada: Any) -> None:
    """A file goes to the server in pieces."""
    client = Client()
    client.force_login(ada)
    submission = graded()
    began: list[Any] = []
    environment = {
        "REQUEST_METHOD": "HEAD",
        "PATH_INFO": f"{submission.get_absolute_url()}/file",
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "HTTP_COOKIE": f"sessionid={client.cookies['sessionid'].value}",
        "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http",
    }

    def start(status: str, headers: list[tuple[str, str]], *_: Any) -> Any:
        began.append((status, dict(headers)))

    pieces = get_wsgi_application()(environment, start)
    assert b"".join(pieces) == b""
    status, headers = began[0]
    assert status.startswith("200")
    assert headers["Content-Length"] == str(submission.size)
