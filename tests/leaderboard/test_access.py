from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.material import CANARIES, PREDICTIONS, tsv, zip_bytes

from gluebench.leaderboard.apps.common.text import markdown
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status

Send = Callable[..., Submission]

FORM = {"name": "Mine", "model": "CBoW", "regime": "frozen", "action": "submit"}


def upload(data: bytes, name: str = "mine.zip") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type="application/zip")


def addresses(submission: Submission) -> Iterator[str]:
    yield from ("/", "/benchmarks/tiny", "/benchmarks/tiny.json", "/?view=training&intervals=1&rows=all")
    yield from ("/benchmarks/tiny/diagnostics/DX", "/benchmarks/tiny/diagnostics/DX?category=Logic")
    yield from ("/benchmarks/tiny/diagnostics/DX.json", "/benchmarks/tiny/submit", "/submissions")
    here = submission.get_absolute_url()
    yield from (here, f"{here}.json", f"{here}/detail", f"{here}/status.json", f"{here}/file")


def test_a_signed_in_person_submits_and_is_graded(
    client: Client, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    client.force_login(ada)
    sent = client.post("/benchmarks/tiny/submit", {**FORM, "upload": upload(good_zip), "public": "on"})
    submission = Submission.objects.get()
    assert (sent.status_code, sent["Location"]) == (302, submission.get_absolute_url())
    assert (submission.owner, submission.status, submission.filename) == (ada, Status.QUEUED, "mine.zip")
    waiting = client.get(submission.get_absolute_url()).content.decode()
    assert 'http-equiv="refresh"' in waiting, "without JavaScript the page still follows"
    assert "It is next." in waiting
    grade(submission.pk)
    done = client.get(submission.get_absolute_url()).content.decode()
    assert 'http-equiv="refresh"' not in done
    assert "Mine" in Client().get("/").content.decode()
    assert client.get(f"{submission.get_absolute_url()}/status.json").json()["final"] is True


def test_without_an_account_nothing_can_be_sent(client: Client, tiny: Any, good_zip: bytes) -> None:
    sent = client.post("/benchmarks/tiny/submit", {**FORM, "upload": upload(good_zip)})
    assert sent.status_code == 302
    assert sent["Location"].startswith("/account/login/")
    assert not Submission.objects.exists()


def test_signing_up_is_all_it_takes(client: Client, tiny: Any) -> None:
    made = client.post("/account/signup/", {"email": "new@example.org", "password1": "a long password"})
    assert (made.status_code, made["Location"]) == (302, "/submissions")
    assert client.get("/benchmarks/tiny/submit").status_code == 200


def test_what_a_submitter_may_not_set_is_passed_over(
    client: Client, tiny: Any, ada: Any, person: Any, good_zip: bytes
) -> None:
    client.force_login(ada)
    other = person("other@example.org")
    forged = {
        "owner": other.pk,
        "status": "graded",
        "report": "{}",
        "scores": "{}",
        "attempts": 9,
        "key": "x",
    }
    client.post("/benchmarks/tiny/submit", {**FORM, **forged, "upload": upload(good_zip)})
    submission = Submission.objects.get()
    assert (submission.owner, submission.status, submission.report) == (ada, Status.QUEUED, None)
    assert (submission.attempts, submission.public) == (0, False)
    assert submission.key != "x"


def test_a_form_that_is_wrong_says_so_at_its_fields(
    client: Client, tiny: Any, ada: Any, good_zip: bytes
) -> None:
    client.force_login(ada)
    wrong = {**FORM, "name": "turned‮around", "link": "javascript:alert(1)", "parameters": "5"}
    page = client.post(
        "/benchmarks/tiny/submit", {**wrong, "shared_parameters": "6", "upload": upload(good_zip)}
    )
    assert page.status_code == 422
    text = page.content.decode()
    assert "invisible control characters" in text
    assert "Enter a valid URL" in text
    assert "More than the 5 parameters in total" in text
    assert not Submission.objects.exists()


def test_a_file_over_the_limit_is_refused(client: Client, tiny: Any, ada: Any, settings: Any) -> None:
    settings.UPLOAD_BYTES = 100
    client.force_login(ada)
    page = client.post("/benchmarks/tiny/submit", {**FORM, "upload": upload(b"x" * 101)})
    assert page.status_code == 422
    assert "larger than" in page.content.decode()


@pytest.mark.parametrize("fragment", ["", "1"])
def test_the_free_check_explains_and_keeps_nothing(
    client: Client, tiny: Any, ada: Any, fragment: str
) -> None:
    client.force_login(ada)
    broken = zip_bytes({**PREDICTIONS, "Refer": "01x0"})
    page = client.post(
        "/benchmarks/tiny/submit", {"action": "check", "fragment": fragment, "upload": upload(broken)}
    )
    text = page.content.decode()
    assert "Refer.tsv:4" in text
    assert "cannot be graded" in text
    assert ("<html" in text) is not bool(fragment)
    assert not Submission.objects.exists()
    assert not list(settings.FOLDER.uploads.iterdir())


def test_a_lone_table_is_known_by_the_name_that_its_sender_gave_it(
    client: Client, tiny: Any, ada: Any, graded: Any
) -> None:
    client.force_login(ada)
    data = tsv(PREDICTIONS["Refer"], "prediction").encode()
    form = {"action": "check", "fragment": "1", "upload": upload(data, "Refer.tsv")}
    text = client.post("/benchmarks/tiny/submit", form).content.decode()
    assert "upload" not in text
    assert "Para.tsv" in text, "it lacks the others"
    assert "Refer.tsv" not in text, "and not this one"
    assert not list(settings.FOLDER.uploads.iterdir())
    submission = graded(data, filename="Refer.tsv")
    assert (submission.status, submission.verdict) == (Status.GRADED, "incomplete")
    assert "score" in submission.report["tasks"]["Refer"]
    assert not list(settings.FOLDER.uploads.iterdir())


def test_the_page_gives_no_advice_for_a_terminal(client: Client, tiny: Any, ada: Any) -> None:
    client.force_login(ada)
    dev = zip_bytes({**PREDICTIONS, "Para": "1011"})
    form = {"action": "check", "fragment": "1", "upload": upload(dev)}
    text = client.post("/benchmarks/tiny/submit", form).content.decode()
    assert "the dev split has so many" in text
    assert not [word for word in ("--split", "--fix", "--labels", "role=") if word in text]


def test_free_checks_are_counted_together_with_the_interface_s(
    client: Client, tiny: Any, ada: Any, settings: Any, good_zip: bytes
) -> None:
    from django.core.cache import caches

    from gluebench.leaderboard.apps.common.problems import spend

    caches["rates"].clear()
    settings.API_PER_MINUTE = {**settings.API_PER_MINUTE, "check": 2}
    client.force_login(ada)
    spend("check", str(ada.pk))

    def check(fragment: str = "") -> Any:
        form = {"action": "check", "fragment": fragment, "upload": upload(good_zip)}
        return client.post("/benchmarks/tiny/submit", form)

    assert check().status_code == 200
    for refused in (check(), check(fragment="1")):
        assert refused.status_code == 429
        assert 1 <= int(refused["Retry-After"]) <= 60
        assert "More than 2 requests in a minute" in refused.content.decode()
    caches["rates"].clear()


def test_the_page_of_a_fault_promises_nothing_about_what_was_sent() -> None:
    from django.test import RequestFactory
    from django.views.defaults import server_error

    text = server_error(RequestFactory().get("/")).content.decode()
    assert "is kept" not in text
    assert '<a href="/submissions">My submissions</a> shows whether it is there' in text


def test_a_private_submission_is_nobody_else_s(graded: Send, ada: Any, person: Any) -> None:
    submission = graded(public=False, name="Zebra")
    stranger, owner = Client(), Client()
    stranger.force_login(person("other@example.org"))
    owner.force_login(ada)
    here = submission.get_absolute_url()
    for path in (here, f"{here}.json", f"{here}/detail", f"{here}/status.json"):
        assert Client().get(path).status_code == 404
        assert stranger.get(path).status_code == 404
        assert owner.get(path).status_code == 200
    assert submission.name not in Client().get("/").content.decode()


def test_a_file_is_its_owner_s_even_when_the_score_is_public(
    graded: Send, ada: Any, person: Any, good_zip: bytes
) -> None:
    submission = graded(public=True)
    path = f"{submission.get_absolute_url()}/file"
    stranger, owner = Client(), Client()
    stranger.force_login(person("other@example.org"))
    owner.force_login(ada)
    assert Client().get(path).status_code == 302
    assert stranger.get(path).status_code == 404
    assert b"".join(owner.get(path)) == good_zip


def test_findings_are_for_their_author(graded: Send, ada: Any) -> None:
    submission = graded()
    owner = Client()
    owner.force_login(ada)
    path = f"{submission.get_absolute_url()}.json"
    assert "check" in owner.get(path).json()
    assert not Client().get(path).json().keys() & {"check", "sha256", "filename", "failure"}


def test_only_the_owner_publishes_and_only_by_a_form_of_the_site(graded: Send, ada: Any, person: Any) -> None:
    submission = graded(public=False)
    path = f"{submission.get_absolute_url()}/publish"
    stranger, owner = Client(), Client(enforce_csrf_checks=True)
    stranger.force_login(person("other@example.org"))
    owner.force_login(ada)
    assert stranger.post(path, {"public": "1"}).status_code == 404
    assert owner.post(path, {"public": "1"}).status_code == 403
    assert owner.get(path).status_code == 405
    submission.refresh_from_db()
    assert not submission.public


def test_no_label_shows_anywhere(graded: Send, ada: Any, capfd: pytest.CaptureFixture[str]) -> None:
    nearly = zip_bytes({**PREDICTIONS, "Sim": ["1.4", "2.3", "0.3", "4.2", "nan"]})
    submissions = [graded(), graded(nearly, name="Broken")]
    owner = Client()
    owner.force_login(ada)
    seen = b""
    for submission in submissions:
        for path in addresses(submission):
            for client in (Client(), owner):
                seen += path.encode() + b"".join(client.get(path))
    said = "".join(capfd.readouterr())
    for canary in CANARIES:
        assert canary.encode() not in seen
        assert canary not in said


def test_labels_are_readable_by_their_owner_alone(tiny: Any) -> None:
    inside = [settings.FOLDER.labels, *settings.FOLDER.labels.rglob("*")]
    assert any(path.name == "Sim.tsv" for path in inside)
    for path in inside:
        assert path.stat().st_mode & 0o077 == 0, path


def test_uploads_are_stored_under_names_of_the_site_s_own(send: Send) -> None:
    submission = send()
    assert re.fullmatch(r"[0-9a-f]{2}/[0-9a-f]{32}", submission.file.name)


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[x](javascript:alert(1))",
    "[x](data:text/html,hi)",
    "![x](https://example.org/track.png)",
    '"><svg onload=alert(1)>',
    "<a href='javascript:alert(1)'>x</a>",
    "[x](vbscript:alert(1) 'onmouseover=alert(1)')",
    "# one\n\n<style>*{display:none}</style>",
    "<iframe src=//example.org>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_shown_and_never_run(graded: Send, ada: Any, text: str) -> None:
    submission = graded(name=text[:80], model=text[:80], team=text[:80], description=text)
    owner = Client()
    owner.force_login(ada)
    for path in addresses(submission):
        if path.endswith((".json", "/file")):
            continue
        assert not live_markup(owner.get(path).content.decode()), path


def live_markup(page: str) -> list[str]:
    """What a browser would run or fetch that the site did not put there."""
    found: list[str] = []

    class Tags(HTMLParser):
        def handle_starttag(self, tag: str, attrs: Any) -> None:
            values = {name: value or "" for name, value in attrs}
            if tag in ("img", "iframe", "style", "object", "embed", "base"):
                found.append(tag)
            if tag == "script" and not values.get("src", "").startswith("/static/"):
                found.append(tag)
            found.extend(name for name in values if name.startswith("on") or name == "style")
            if re.match(r"\s*(javascript|data|vbscript):", values.get("href", ""), re.IGNORECASE):
                found.append(values["href"])

    Tags().feed(page)
    return found


def test_markdown_keeps_what_is_harmless() -> None:
    html = markdown("# Title\n\nA **bold** [link](https://example.org).\n\n- one\n\n```\n<b>\n```")
    assert "<h3>Title</h3>" in html
    assert "<strong>bold</strong>" in html
    assert 'rel="nofollow noopener ugc"' in html
    assert "&lt;b&gt;" in html


@pytest.mark.parametrize("path", ["/", "/account/login/", "/benchmarks/tiny.json", "/nothing"])
def test_every_answer_has_the_headers_that_protect(client: Client, tiny: Any, path: str) -> None:
    answer = client.get(path)
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["X-Frame-Options"] == "DENY"


def test_pages_carry_no_inline_style_or_script(client: Client, graded: Send) -> None:
    for path in addresses(graded()):
        page = client.get(path, follow=True).content.decode() if not path.endswith("/file") else ""
        assert " style=" not in page
        assert not re.search(r"<script(?![^>]*(\ssrc=|type=.application/json))", page)
        assert not re.search(r'(?:src|href)="https?://(?!example\.org)[^"]*\.(?:js|css|woff2?)', page)


def test_wrong_passwords_are_limited(client: Client, ada: Any) -> None:
    from django.core.cache import cache

    cache.clear()
    answers = [
        client.post("/account/login/", {"login": ada.email, "password": "wrong"}).content.decode()
        for _ in range(7)
    ]
    assert "Too many" in answers[-1]
    cache.clear()


def test_secrets_are_not_in_the_static_folder(tiny: Any) -> None:
    assert settings.FOLDER.static not in settings.FOLDER.labels.parents
    assert not [path for path in Path(settings.STATIC_ROOT).rglob("*") if "label" in path.name]
