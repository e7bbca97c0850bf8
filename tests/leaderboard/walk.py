"""A site with one of everything, and everybody who asks for every address of it."""

from __future__ import annotations

import base64
import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache, caches
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.signals import request_finished
from django.db import close_old_connections, connection, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from leaderboard.in_process import InProcess
from leaderboard.material import CANARIES, MANIFEST, PREDICTIONS, write_data, zip_bytes
from leaderboard.routes import MODEL_PAGES, ROLES, ROUTES, Route

from gluebench.data import Example
from gluebench.data.table import table_of
from gluebench.leaderboard.apps.accounts.models import Membership, Team, Token, User, move_to
from gluebench.leaderboard.apps.annotation.models import Study
from gluebench.leaderboard.apps.annotation.studies import make
from gluebench.leaderboard.apps.audit.models import Entry, record
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.models import Acceptance, Invitation, Override, Registration
from gluebench.leaderboard.apps.news.models import Announcement, MailChoice, unsubscribe_path
from gluebench.leaderboard.apps.phases.models import Phase, PhaseFile
from gluebench.leaderboard.apps.submissions import process
from gluebench.leaderboard.apps.submissions.grading import grade, grade_next
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.uploads.accept import accept
from gluebench.leaderboard.serving import health
from gluebench.scoring.gold import KEY_FILE

PASSWORD = "a long password"
TOKEN = {"csrfmiddlewaretoken": "not looked at here"}
LEADS = {"/account/login/": "login", "/account/reauthenticate/": "again", "/admin/login/": "staff"}
"""Answers that lead elsewhere first: to sign in, to show again who one is, to the door of the admin pages."""


class Answer(NamedTuple):
    """What one role was answered to one request."""

    route: Route
    role: str
    method: str
    outcome: str
    """The status; a word of `LEADS` where something else comes first."""
    headers: Mapping[str, str]
    body: bytes
    changed: bool
    """Whether something other than a session is not as it was before."""


def patterns() -> list[str]:
    """Every address of the resolver, as it is written there."""
    return sorted(set(_patterns(get_resolver())))


def _patterns(resolver: URLResolver, before: str = "") -> Iterator[str]:
    for each in resolver.url_patterns:
        here = before + str(each.pattern)
        if isinstance(each, URLPattern):
            yield here
        else:
            yield from _patterns(each, here)


class World(NamedTuple):
    """Who and what there is."""

    cookies: Mapping[str, str]
    """By role, the session."""
    places: Mapping[str, Any]
    """What stands in braces in the table's paths."""
    rows: list[Any]
    """What everybody made, before anybody asks for anything."""


def people() -> dict[str, User]:
    """An account for each role but the first."""
    made = {}
    for role in ROLES[1:]:
        user = User.objects.create_user(f"{role}@example.org", PASSWORD)
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=role != "unverified")
        made[role] = user
    User.objects.filter(pk=made["admin"].pk).update(is_staff=True, is_superuser=True)
    return made


EXPORTED = {"model_id": "acme/tiny", "evaluator": "first_party"}
"""What a submission states for there to be a record of it for other sites."""


def make_world(gold: Path) -> World:
    """Two benchmarks, people, a submission that is public and one that is not, a team, a token, a limit."""
    accounts = people()
    health.beat()
    with tempfile.TemporaryDirectory() as data:
        tiny = Benchmark.objects.get(name=add_benchmark(str(MANIFEST), gold, write_data(Path(data))))
    tiny.settings = {"per_day": None, "at_once": None}
    tiny.save()
    tiny.organizers.add(accounts["organizer"])
    facts = {"title": "Another", "manifest": tiny.manifest, "gold": tiny.gold, "gold_digest": "0" * 64}
    another = Benchmark.objects.create(name="another", **facts)
    another.organizers.add(accounts["foreign"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "_start", InProcess)
        public = submit(tiny, accounts["other"], name="Public", public=True, **EXPORTED)
        mine = submit(tiny, accounts["owner"], name="Private", public=False, **EXPORTED)
    team = Team.objects.create(name="A team", leader=accounts["owner"])
    team.invitations.create(uses=9, expires="2999-01-01T00:00Z")
    move_to(accounts["owner"], team)
    token = Token.objects.create(
        user=accounts["owner"], name="a token", digest="0" * 64, expires="2999-01-01T00:00Z"
    )
    limit = Override.objects.create(benchmark=tiny, user=accounts["other"], per_day=3, reason="A workshop")
    careful = User.objects.create_user("careful@example.org", PASSWORD)
    passkey = Authenticator.objects.create(user=careful, type="webauthn", data={"name": "a key"})
    connection = SocialAccount.objects.create(user=careful, provider="orcid-org", uid="0000-0001")
    entry = record("mark", actor=accounts["organizer"], benchmark=tiny, submission=mine)
    times = {"opens": "2998-05-01T00:00Z", "closes": "2999-05-01T00:00Z"}
    phase = Phase.objects.create(benchmark=another, name="Later", **times)
    content = storages["data"].save("another/phases/later", ContentFile(b"Not yet"))
    file = PhaseFile.objects.create(
        benchmark=another, phase=phase, path="later.tsv", release="opens", file=content, size=7
    )
    drawn = study(tiny, by=accounts["organizer"], invited=accounts["owner"])
    invited, link = drawn.annotators.order_by("number")
    rows = {
        "study": drawn.pk,
        "user": accounts["other"].pk,
        "address": EmailAddress.objects.get(user=accounts["other"]).pk,
        "benchmark": tiny.pk,
        "submission": mine.pk,
        "result": mine.results.get().pk,
        "revision": mine.revisions.create(by=accounts["owner"], changes={"name": ["Mine", "Private"]}).pk,
        "team": team.pk,
        "token": token.pk,
        "override": limit.pk,
        "phase": phase.pk,
        "file": file.pk,
        "invitation": tiny.invitations.create(uses=9, expires="2999-01-01T00:00Z").pk,
        "passkey": passkey.pk,
        "connection": connection.pk,
        "announcement": tiny.announcements.create(title="Test phase", text="It begins.", site="").pk,
        "entry": entry.pk,
        "task": tasks_row(mine),
        "kind": ContentType.objects.get_for_model(Benchmark).pk,
    }
    cookies = {role: sign_in(f"{role}@example.org") for role in ROLES[1:]}
    rows["session"] = UserSession.objects.get(user=accounts["other"]).pk
    places = {**rows, "key": mine.key, "shown": public.key, "code": team.code}
    places |= {"unsubscribe": unsubscribe_path(careful)}
    places |= {"study_key": drawn.key, "link": link.code, "invited": invited.code}
    return World({"anonymous": "", **cookies}, places, everything())


def study(benchmark: Benchmark, *, by: User, invited: User) -> Study:
    """Two pairs drawn for two annotators: an account, and whoever has the link."""
    task = benchmark.record.task("DX")
    sides = ("Ada sings.", "Somebody sings.")
    both = [dict(zip(("premise", "hypothesis"), order, strict=True)) for order in (sides, sides[::-1])]
    examples = [Example(at, texts, None) for at, texts in enumerate(both)]
    table = table_of(task, "test", examples)
    return make(benchmark, table, pairs=1, annotators=2, seed=1, accounts=[invited], by=by)


def tasks_row(submission: Submission) -> str:
    """A piece of work that the worker was given."""
    return str(grade_next.enqueue(submission.pk).id)


def submit(benchmark: Benchmark, owner: User, **details: Any) -> Submission:
    """A submission that is graded."""
    row = Submission(owner=owner, benchmark=benchmark, model="BiLSTM", **details)
    sent = accept(row, ContentFile(zip_bytes(PREDICTIONS), name="predictions.zip"))
    grade(sent.pk)
    return Submission.objects.get(pk=sent.pk)


def sign_in(email: str) -> str:
    """The session's cookie, or nothing where the site does not let this person in.

    All but one also show again who they are, as the site asks before it shows secrets.
    """
    client = Client()
    client.post("/account/login/", {"login": email, "password": PASSWORD})
    if not email.startswith("unverified"):
        client.post("/account/reauthenticate/", {"password": PASSWORD})
    return client.cookies["sessionid"].value if "_auth_user_id" in client.session else ""


def everything() -> list[Any]:
    """All that people make here, to tell whether a request changed something. Quick: it is asked often."""
    models = (Submission, Benchmark, Override, Team, Token, Entry, EmailAddress, Authenticator, SocialAccount)
    models = (*models, Announcement, MailChoice, Registration, Invitation, Acceptance, Membership)
    roles = (Benchmark.organizers.through, Benchmark.reviewers.through)
    tables = [model._meta.db_table for model in (*models, *roles)]
    looks = [f"SELECT * FROM {table} ORDER BY id" for table in tables]
    looks.append("SELECT id, password, is_active, is_superuser FROM accounts_user ORDER BY id")
    found = []
    with connection.cursor() as cursor:
        for look in looks:
            cursor.execute(look)
            found.append(cursor.fetchall())
    return found


def _close(answer: Any) -> None:
    """Close an answer's files and not the database's connection, as the client does for other answers."""
    request_finished.disconnect(close_old_connections)
    answer.close()
    request_finished.connect(close_old_connections)


def ask(world: World, route: Route, role: str, method: str) -> Answer:
    """One request, of which nothing is left afterwards."""
    client = Client(raise_request_exception=False)
    if world.cookies[role]:
        client.cookies["sessionid"] = world.cookies[role]
    cache.clear()
    caches["rates"].clear()
    path = route.path.format(**world.places)
    data = {name: value.format(**world.places) for name, value in route.data.items()}
    with transaction.atomic():
        found = client.get(path) if method == "GET" else client.post(path, {**TOKEN, **data})
        body = b"".join(found) if found.streaming else found.content
        if found.streaming:
            _close(found)
        changed = method == "POST" and world.rows != everything()
        transaction.set_rollback(True)
    return Answer(route, role, method, outcome(found), dict(found.items()), body, changed)


def outcome(found: Any) -> str:
    """See `Answer`. Who signed out is led to the door as well, but not to come back from there."""
    where, _, back = found.get("Location", "").partition("?")
    status = str(found.status_code)
    return status if where == "/account/login/" and not back else LEADS.get(where, status)


class Walk(NamedTuple):
    """Every answer, what the site wrote into its log meanwhile, and what must not be in any of it."""

    answers: list[Answer]
    log: str
    secrets: Mapping[str, bytes]


def walk(gold: Path, *, whole: bool = False) -> Walk:
    """Every route × role × method, on a site that is gone afterwards.

    Without `whole`, roles that are answered as some other account are left out (`Route.roles`).
    """
    asked = [
        (route, role, method)
        for route in (*ROUTES, *MODEL_PAGES)
        for method in ("GET", "POST")
        for role in (ROLES if whole else route.roles(method, models=route in MODEL_PAGES))
    ]
    caches["pages"].clear()
    with transaction.atomic(), listening() as said:
        world = make_world(gold)
        answers = [ask(world, *each) for each in asked]
        found = secrets(Benchmark.objects.get(name="tiny"))
        transaction.set_rollback(True)
    caches["pages"].clear()
    return Walk(answers, "\n".join(said), found)


def secrets(benchmark: Benchmark) -> dict[str, bytes]:
    """The labels that nobody could guess, and the key beside the labels, however it may be written."""
    key = (benchmark.gold_path / KEY_FILE).read_bytes()
    kinds = {
        "hex": key.hex().encode(),
        "base64": base64.b64encode(key).rstrip(b"="),
        "repr": repr(key).encode(),
    }
    return (
        {value: value.encode() for value in CANARIES}
        | {"key": key}
        | {f"key as {name}": k for name, k in kinds.items()}
    )


@contextmanager
def listening() -> Iterator[list[str]]:
    """What goes into the log, whatever its level."""
    said: list[str] = []

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            said.append(self.format(record))

    ear = Ear(logging.INFO)
    logging.getLogger().addHandler(ear)
    try:
        yield said
    finally:
        logging.getLogger().removeHandler(ear)
