"""Organizers' acts by token: who may do them, that the log has what the page would write, and refusals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client, override_settings

from gluebench.leaderboard.apps.accounts.models import Scope, Team, User, issue, move_to
from gluebench.leaderboard.apps.api.organizing import PAGES
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.phases.models import Phase, PhaseFile
from gluebench.leaderboard.apps.submissions.models import Submission

V1, HERE = "/api/v1", "/benchmarks/tiny/organize"
WHY = {"reason": "A request"}
TIMES = {"zone": "UTC", "opens": "2999-01-01T00:00", "closes": "2999-02-01T00:00"}
LATER = {"zone": "UTC", "opens": "2999-05-01T00:00", "closes": "2999-06-01T00:00"}
CHOICES = {
    "counting": "every",
    "otherwise": "best",
    "shown": "always",
    "rows": "all",
    "late": "kept",
    "most": "1",
}
TEXTS = {"title": "Tiny", "overview": "Kept.", "faq": "Why?"}
ALL_LIMITS = {"open": "on", "per_day": "7", "per": "team", "window": "rolling", "incomplete": "on"}
TO_BOB = {"email": "bob@example.org", "role": "reviewer"}
FOR_BOB = {"who": "account-{guest}", "per_day": "3", **WHY}
LONGER = {"closes": "2999-03-01T00:00", **WHY}
GUESTS = {"label": "A class", "uses": "5", "days": "9"}
NEWS = {"title": "T", "text": "*x*"}
COPY = {"name": "tiny-2", "title": "Tiny 2"}
# (address of the act, what a program sends, page, what a browser sends there, action in the log)
CASES: list[tuple[str, Mapping[str, Any], str, Mapping[str, Any], str]] = [
    ("/opening/draft", {}, "/opening", {"act": "draft"}, "draft"),
    ("/opening/restrict", {}, "/opening", {"act": "restrict"}, "open to participants"),
    ("/texts", {"faq": "Why?"}, "/texts", {**TEXTS, "act": "save"}, "texts"),
    ("/looks", {"accent": "#7a1f5c"}, "/looks", {"accent": "#7a1f5c", "links": ""}, "looks"),
    ("/limits/exceptions", {**FOR_BOB, "per_day": 3}, "/limits/exceptions", FOR_BOB, "exception"),
    (
        "/limits/exceptions/{override}/remove",
        WHY,
        "/limits/exceptions/{override}/remove",
        WHY,
        "exception removed",
    ),
    ("/participants/invite", GUESTS, "/participants", {**GUESTS, "act": "invite"}, "invitation"),
    (
        "/participants/invitations/{invitation}/end",
        {},
        "/participants/invitations/{invitation}",
        {"act": "end"},
        "invitation ended",
    ),
    (
        "/participants/approve",
        {"people": "{guest}"},
        "/participants",
        {"act": "approve", "people": "{guest}"},
        "registration approved",
    ),
    (
        "/participants/{guest}/approve",
        {},
        "/participants/{guest}",
        {"act": "approve"},
        "registration approved",
    ),
    ("/participants/{guest}/block", WHY, "/participants/{guest}", {**WHY, "act": "block"}, "account blocked"),
    (
        "/participants/{blocked}/unblock",
        {},
        "/participants/{blocked}",
        {"act": "unblock"},
        "account unblocked",
    ),
    ("/phases", {"name": "Next", **LATER}, "/phases", {"name": "Next", **LATER, **CHOICES}, "phase"),
    (
        "/phases/{phase}",
        {"name": "Last", **WHY},
        "/phases/{phase}",
        {"name": "Last", **TIMES, **CHOICES, **WHY},
        "phase changed",
    ),
    ("/phases/{phase}/extend", LONGER, "/phases/{phase}", {**LONGER, "act": "extend"}, "phase changed"),
    (
        "/phases/{phase}/extend",
        {"who": "team-{team}", **LONGER},
        "/phases/{phase}",
        {"who": "team-{team}", **LONGER, "act": "extend"},
        "extension",
    ),
    ("/phases/{phase}/delete", WHY, "/phases/{phase}", {**WHY, "act": "delete"}, "phase deleted"),
    ("/phases/files/{file}/remove", WHY, "/phases/files/{file}/remove", WHY, "phase file deleted"),
    ("/news", NEWS, "/news", {**NEWS, "act": "publish"}, "announcement"),
    (
        "/news/{news}",
        {"title": "T"},
        "/news/{news}",
        {"title": "T", "text": "It begins.", "act": "publish"},
        "announcement changed",
    ),
    ("/news/{news}/take-back", {}, "/news/{news}", {"act": "take-back"}, "announcement taken back"),
    ("/roles", TO_BOB, "/roles", {**TO_BOB, "act": "add"}, "reviewer added"),
    (
        "/roles/remove-reviewer",
        {"account": "{reviewer}"},
        "/roles",
        {"account": "{reviewer}", "act": "remove-reviewer"},
        "reviewer removed",
    ),
    (
        "/roles/remove-organizer",
        {"account": "{second}"},
        "/roles",
        {"account": "{second}", "act": "remove-organizer"},
        "organizer removed",
    ),
    ("/regrade", WHY, "/regrade", WHY, "regrade"),
    ("/submissions/{key}/approve", {}, "/submissions/{key}", {"act": "approve"}, "approve"),
    (
        "/submissions/{key}/decline",
        WHY,
        "/submissions/{key}",
        {"act": "decline", "decline-reason": "A request"},
        "take off",
    ),
    (
        "/submissions/{key}/mark",
        {"verified": True},
        "/submissions/{key}",
        {"act": "mark", "mark-kind": "system", "mark-verified": "on"},
        "mark",
    ),
    (
        "/submissions/{key}/regrade",
        WHY,
        "/submissions/{key}",
        {"act": "regrade", "regrade-reason": "A request"},
        "regrade",
    ),
    (
        "/results/announce",
        {"sure": True, "labels": False},
        "/results",
        {"act": "announce", "sure": "on"},
        "results",
    ),
    ("/copy", {}, "/copy", {"act": "make"}, "frozen copy"),
    ("/copy/delete", {}, "/copy", {"act": "delete"}, "frozen copy deleted"),
    ("/dry-run", {}, "/dry-run", {}, "dry run"),
    ("/dry-run/delete", {}, "/dry-run", {"act": "delete"}, "dry run deleted"),
    ("/duplicate", COPY, "/duplicate", COPY, "duplicate"),
]


class Site:
    """A benchmark with one of everything that can be acted on, and people."""

    def __init__(self, tiny: Benchmark, person: Callable[[str], User], row: Submission) -> None:
        Benchmark.objects.filter(pk=tiny.pk).update(title="Tiny", texts={"overview": "Kept."})
        self.tiny = tiny
        self.people = {name: person(f"{name}@example.org") for name in (*PEOPLE, "bob", "second")}
        self.people["admin"].is_superuser = True
        self.people["admin"].save()
        for name in ("organizer", "scopeless", "second"):
            tiny.organizers.add(self.people[name])
        tiny.reviewers.add(self.people["reviewer"])
        other = Benchmark.objects.create(
            name="other", title="Other", manifest=tiny.manifest, gold_digest="0" * 64
        )
        other.organizers.add(self.people["foreign"])
        team = Team.objects.create(name="A team")
        move_to(self.people["bob"], team)
        times = {name: f"{TIMES[name]}Z" for name in ("opens", "closes")}
        phase = Phase.objects.create(benchmark=tiny, name="Test", **times)
        later = Phase.objects.create(benchmark=tiny, name="Much later", opens="2999-12-01T00:00Z")
        file = PhaseFile(
            benchmark=tiny, phase=later, path="a.tsv", release="opens", file="tiny/phases/a", size=1
        )
        file.save()
        self.places = {
            "phase": phase.pk,
            "file": file.pk,
            "news": tiny.announcements.create(title="Test phase", text="It begins.", site="").pk,
            "override": tiny.overrides.create(user=self.people["second"], per_day=3, reason="A workshop").pk,
            "reviewer": self.people["reviewer"].pk,
            "second": self.people["second"].pk,
            "key": row.key,
            "team": team.pk,
            "invitation": tiny.invitations.create(uses=9, expires="2999-01-01T00:00Z").pk,
            "guest": tiny.registrations.create(user=self.people["bob"], standing="waiting").user_id,
            "blocked": tiny.registrations.create(user=self.people["submitter"], standing="blocked").user_id,
        }

    def program(self, name: str) -> Client:
        """What sends with a token of this person."""
        scopes = [scope for scope in Scope if scope != "organize" or name != "scopeless"]
        secret = issue(self.people[name], "a program", scopes, timedelta(days=1))[1]
        return Client(headers={"authorization": f"Bearer {secret}"})

    def browser(self, name: str) -> Client:
        client = Client(enforce_csrf_checks=False)
        client.force_login(self.people[name])
        return client

    def filled(self, value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: self.filled(each) for name, each in value.items()}
        return value.format(**self.places) if isinstance(value, str) else value


PEOPLE = ("submitter", "scopeless", "foreign", "reviewer", "organizer", "admin")
REVIEWS = ("{key}/approve", "{key}/decline")


@pytest.fixture
def site(tiny: Benchmark, person: Any, graded: Any) -> Site:
    return Site(tiny, person, graded(name="A system"))


def done(send: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """The answer, and what it added to the log; nothing of it is kept."""
    caches["rates"].clear()
    last = Entry.objects.latest("pk").pk if Entry.objects.exists() else 0
    with transaction.atomic():
        answer = send()
        names = ("actor", "action", "benchmark", "submission", "reason", "detail")
        entries = list(Entry.objects.filter(pk__gt=last).order_by("pk").values_list(*names))
        for *_, detail in entries:
            detail.pop("sealed", None)  # of times and numbers, which differ
        transaction.set_rollback(True)
    return answer, entries


def post(client: Client, address: str, values: Mapping[str, Any]) -> Any:
    return client.post(f"{V1}{address}", values, content_type="application/json")


@override_settings(RUNNING=settings.RUNNING._replace(create="accounts"))
def test_who_may_act_and_what_the_log_says(site: Site) -> None:
    programs = {name: site.program(name) for name in PEOPLE}
    browsers = {name: site.browser(name) for name in PEOPLE}
    for act, sent, page, form, action in CASES:
        address, values = site.filled(HERE + act), site.filled(sent)
        for name in PEOPLE:
            answer, entries = done(partial(post, programs[name], address, values))
            allowed = name in ("organizer", "admin") or (name == "reviewer" and act.endswith(REVIEWS))
            assert answer.status_code == (200 if allowed else 403), (act, name, answer.content)
            if not allowed:
                kind = "scope" if name == "scopeless" else "role"
                assert answer.json()["type"] == f"urn:gluebench:{kind}", (act, name)
                assert entries == [], (act, name)
                continue
            browse = partial(browsers[name].post, site.filled(HERE + page), site.filled(form))
            shown, by_page = done(browse)
            assert shown.status_code == 302, (act, shown.content.decode())
            assert answer.json()["url"] == shown["Location"], act
            assert entries == by_page, (act, name)
            assert action in [entry[1] for entry in entries], (act, entries)


def addresses() -> list[str]:
    """The address of each act, as Django writes it."""
    return [f"{page.path}/{button}".removesuffix("/") for page in PAGES for button in page.acts]


def test_every_act_has_a_case(site: Site) -> None:
    """But for those that other tests here do."""
    cases = {site.filled(act) for act, *_ in CASES}
    places = {"int:pk": r"\d+", "slug:key": "[0-9A-Za-z]+"}
    missing = []
    for address in addresses():
        pattern = re.sub("<([^>]+)>", lambda match: places.get(match[1], "x"), address)
        if not any(re.fullmatch(pattern, case) for case in cases):
            missing.append(address)
    phase = ["/phases/<int:pk>/settle", "/phases/<int:pk>/files"]
    others = ["/replace", "/opening/open", "/limits", *phase]
    others += ["/participants/mail", "/participants/invite-by-mail"]
    others += ["/participants/<int:pk>/refuse", "/results/take-back"]
    new = ["/organize/new", "/organize/new/<slug:token>", "/organize/new/<slug:token>/drop"]
    assert missing == [*new, *others]


def test_a_session_or_no_token_does_nothing(site: Site) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(site.people["organizer"])
    token = client.get(f"{HERE}/texts").cookies["csrftoken"].value
    for headers in ({}, {"X-CSRFToken": token}):
        answer = client.post(
            f"{V1}{HERE}/texts", {"faq": "x"}, content_type="application/json", headers=headers
        )
        assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")
    assert client.get(f"{V1}{HERE}/texts").status_code == 401
    assert Benchmark.objects.get(name="tiny").texts == {"overview": "Kept."}


@pytest.mark.parametrize(
    ("act", "values", "errors"),
    [
        ("/texts", {"title": ""}, [("title", "This field is required.")]),
        ("/texts", {"titel": "x", "act": "save"}, [("titel", "no such field"), ("act", "no such field")]),
        ("/texts", {"title": None}, [("title", "required")]),
        ("/looks", {"logo": "a path"}, [("logo", "no such field")]),
        (
            "/limits",
            {"per_day": 0, "feedback": "x"},
            [("per_day", "greater than"), ("feedback", "valid choice")],
        ),
        ("/limits", {"reveal": "2999-01-01"}, [("reveal", "")]),
        ("/phases", {"name": "Test", **LATER}, [("name", "There is a phase")]),
        ("/phases", {"name": "Next", **TIMES}, [("opens", "open at the same time")]),
        ("/phases/{phase}/extend", {"closes": "2998-01-01T00:00", **WHY}, [("closes", "open until then")]),
        ("/phases/{phase}/delete", {}, [("reason", "Give a reason")]),
        ("/roles", {"email": "nobody@example.org", "role": "reviewer"}, [("email", "no account")]),
        ("/submissions/{key}/decline", {}, [("reason", "required")]),
        ("/regrade", {}, [("reason", "required")]),
        ("/roles/remove-reviewer", {}, [("account", "required")]),
        ("/results/announce", {}, [("sure", "required")]),
    ],
)
def test_errors_of_the_form_are_a_problem(site: Site, act: str, values: Any, errors: Any) -> None:
    answer, entries = done(partial(post, site.program("organizer"), site.filled(HERE + act), values))
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json"), answer.content
    problem = answer.json()
    assert (problem["type"], problem["status"]) == ("urn:gluebench:field", 422)
    assert [error["field"] for error in problem["errors"]] == [field for field, _ in errors]
    for error, (_, part) in zip(problem["errors"], errors, strict=True):
        assert part in error["message"]
    assert entries == []


def test_what_is_not_a_form_or_not_there(site: Site) -> None:
    program = site.program("organizer")
    for body in ("[1]", '{"title": ["a", "b"]}', '{"title": {}}', "no", "\xff", '{"faq": "\\ud800"}'):
        answer = program.post(f"{V1}{HERE}/texts", body, content_type="application/json")
        assert (answer.status_code, answer.json()["type"]) == (400, "urn:gluebench:request"), body
    for missing in ("/phases/999", "/news/999", "/submissions/x/approve", "/limits/exceptions/999/remove"):
        assert post(program, HERE + missing, WHY).status_code == 404, missing
    assert post(program, "/benchmarks/nothing/organize/texts", {}).status_code == 404
    answer = post(program, f"{HERE}/roles/remove-reviewer", {"account": 999})
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:gluebench:not-found")
    assert program.get(f"{V1}{HERE}/regrade").status_code == 405


def test_fields_that_are_not_sent_stay(site: Site) -> None:
    program = site.program("organizer")
    Benchmark.objects.filter(name="tiny").update(settings={"per_day": 7, "approval": True}, open=True)
    assert post(program, f"{HERE}/limits", {"per_month": 30, "reason": "A course"}).status_code == 200
    row = Benchmark.objects.get(name="tiny")
    assert (row.policy.per_day, row.policy.per_month, row.policy.approval, row.open) == (7, 30, True, True)
    assert post(program, f"{HERE}/limits", {"open": False, "per_month": None}).status_code == 200
    row.refresh_from_db()
    assert (row.open, row.policy.per_month) == (False, None)
    fields = program.get(f"{V1}{HERE}/limits").json()["fields"]
    assert (fields["per_day"], fields["approval"], fields["open"]) == ("7", "true", "false")
    assert post(program, f"{HERE}/looks", {"accent": "#7a1f5c"}).status_code == 200
    assert post(program, f"{HERE}/looks", {"contact": "tiny@example.org"}).status_code == 200
    row.refresh_from_db()
    assert row.looks == {"accent": "#7a1f5c", "contact": "tiny@example.org"}
    assert program.get(f"{V1}{HERE}/texts").json() == {
        "fields": {"title": "Tiny", "overview": "Kept.", "rules": "", "dataset": "", "faq": ""}
    }


def test_opening_and_the_last_organizer(site: Site) -> None:
    program = site.program("organizer")
    assert post(program, f"{HERE}/opening/draft", {}).status_code == 200
    assert Client().get("/benchmarks/tiny").status_code == 404
    answer = post(program, f"{HERE}/opening/open", {})
    assert (answer.status_code, answer.json()["message"]) == (200, "Tiny is open to the public.")
    assert Client().get("/benchmarks/tiny").status_code == 200
    people = program.get(f"{V1}{HERE}/roles").json()["people"]
    assert "@" not in str(people), "addresses are for admins"
    for one in people:
        if one["role"] == "organizer" and one["account"] != site.people["organizer"].pk:
            assert (
                post(program, f"{HERE}/roles/remove-organizer", {"account": one["account"]}).status_code
                == 200
            )
    answer = post(program, f"{HERE}/roles/remove-organizer", {"account": site.people["organizer"].pk})
    assert (answer.status_code, answer.json()["detail"]) == (
        409,
        "You are its last organizer. Add another one first.",
    )
    assert not [*Benchmark.objects.get(name="tiny").organizers.exclude(pk=site.people["organizer"].pk)]


def test_results_are_announced_once_and_taken_back(site: Site) -> None:
    program = site.program("organizer")
    announce = partial(post, program, f"{HERE}/results/announce", {"sure": True, **WHY})
    assert announce().status_code == 200
    assert announce().status_code == 409, "they are announced"
    take_back = partial(post, program, f"{HERE}/results/take-back", WHY)
    assert take_back().status_code == 200
    assert take_back().json()["detail"] == "There are no final results to take back."
    assert [*Entry.objects.values_list("action", flat=True)].count("results") == 1


def test_a_benchmark_is_made_of_tables(site: Site) -> None:
    program = site.program("admin")
    rows = "text,label\n" + "".join(
        f"Row {at} is {word},{word}\n" for at in range(4) for word in ("good", "bad")
    )

    def table() -> Any:
        return SimpleUploadedFile("test.csv", rows.encode())

    address = f"{V1}/organize/new"
    wrong = program.post(address, {"tables": [table()]})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "name")
    broken = program.post(address, {"name": "hotels", "tables": [SimpleUploadedFile("test.csv", b"text\n")]})
    assert broken.status_code == 422
    assert broken.json()["errors"][0]["field"] == ""
    answer = program.post(address, {"name": "hotels", "tables": [table()], "license": "CC0-1.0"})
    assert answer.status_code == 200, answer.content
    preview = V1 + answer.json()["url"]
    summary = program.get(preview).json()["summary"]
    assert (summary["name"], summary["gold"], [*summary["tasks"]]) == ("hotels", None, ["hotels"])
    assert site.program("organizer").get(preview).status_code == 404
    assert program.post(preview).json()["url"] == "/benchmarks/hotels/organize/setup"
    made = Benchmark.objects.get(name="hotels")
    assert (made.draft, [*made.organizers.all()]) == (True, [site.people["admin"]])
    replaced = program.post(f"{V1}/benchmarks/hotels/organize/replace", {"tables": [table()], **WHY})
    assert replaced.status_code == 200, replaced.content
    assert program.post(f"{V1}{replaced.json()['url']}/drop").status_code == 200
    assert program.get(V1 + replaced.json()["url"]).status_code == 404
    assert site.program("submitter").post(address, {"name": "x", "tables": [table()]}).status_code == 403


def test_a_logo_is_sent_as_a_form(site: Site) -> None:
    program = site.program("organizer")
    png = SimpleUploadedFile("x.png", b"\x89PNG\r\n\x1a\n" + bytes(8))
    assert program.post(f"{V1}{HERE}/looks", {"logo": png, "accent": "#7a1f5c"}).status_code == 200
    assert Client().get("/benchmarks/tiny/logo")["Content-Type"] == "image/png"
    bad = program.post(f"{V1}{HERE}/looks", {"logo": SimpleUploadedFile("x.png", b"<svg/>")})
    assert bad.json()["errors"][0]["field"] == "logo"


def test_the_document_has_the_fields_of_the_forms(db: None, client: Client) -> None:
    paths = client.get(f"{V1}/openapi.json").json()["paths"]
    acts = {
        path: each["post"]
        for path, each in paths.items()
        if "post" in each and "rganiz" in str(each["post"]["tags"])
    }
    assert len(acts) == len(addresses())
    for operation in acts.values():
        assert {*operation["responses"]} >= {"200", "401", "403", "404", "422", "429"}
        assert operation["security"] == [{"BearerToken": []}], "no session"
        assert operation["summary"]
    body = acts[f"{V1}/benchmarks/{{name}}/organize/phases/{{pk}}"]
    shapes = body["requestBody"]["content"]["application/json"]["schema"]["properties"]
    assert [each["name"] for each in body["parameters"]] == ["name", "pk"]
    assert shapes["counting"]["enum"] == ["every", "best", "last", "chosen"]
    assert {"name", "zone", "opens", "closes", "share", "policy-per_day", "reason"} <= shapes.keys()
    assert (shapes["most"]["type"], shapes["share"]["type"]) == ("integer", "number")
    new = acts[f"{V1}/organize/new"]["requestBody"]["content"]
    assert [*new] == ["multipart/form-data"]
    tables = new["multipart/form-data"]["schema"]["properties"]["tables"]
    assert (tables["type"], tables["items"]) == ("array", {"type": "string", "format": "binary"})


def test_only_scopes_of_use_are_offered(site: Site) -> None:
    for name, more in {"submitter": [], "reviewer": ["organize"], "organizer": ["grade", "organize"]}.items():
        client = site.browser(name)
        client.post("/account/reauthenticate/", {"password": "a long password"})
        page = client.get("/account/tokens").content.decode()
        assert re.findall(r'name="scopes" value="(\w+)"', page) == ["read", "submit", *more], name
        form = {"name": "x", "scopes": "organize", "days": "9"}
        assert (client.post("/account/tokens", form).status_code == 422) == (name == "submitter")
