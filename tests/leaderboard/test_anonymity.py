"""Until a benchmark's date, no page shows who made a system, but to its author and the organizers."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.test_ranks import renewed
from leaderboard.walk import patterns

from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import PolicyError
from gluebench.leaderboard.apps.ledger.verify import Verification, from_folder, verify_ledger
from gluebench.leaderboard.apps.limits.acts import change_policy
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.results.acts import announce, make_due
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import phases_due
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Kind
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.keeping.freeze import freeze

WORD = "Secretowl"
TEXTS = {
    "name": f"{WORD} One",
    "model": f"{WORD}-xl",
    "team": f"{WORD}s of the forest",
    "link": f"https://{WORD}.example/a",
    "paper": f"https://{WORD}.example/paper",
    "code": f"https://{WORD}.example/code",
    "description": f"We are the {WORD}s.",
    "model_id": f"{WORD}/xl",
    "training_data": f"{WORD} news",
    "compute": f"{WORD} cluster",
    "evaluator": "first_party",
    "filename": f"{WORD}.zip",
}
DAY = datetime(2027, 3, 1, tzinfo=UTC)
TASKS = ("Sim", "Infer", "DX")
Graded = Callable[..., Submission]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[datetime]:
    now = [datetime(2027, 2, 1, 12, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: now[0])
    return now


@pytest.fixture
def organizer(tiny: Benchmark, person: Callable[[str], User]) -> User:
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    return user


@pytest.fixture
def hidden(tiny: Benchmark, clock: Any) -> Benchmark:
    change_policy(tiny, {"anonymous": DAY.date()})
    return tiny


def guest_addresses(rows: list[Submission]) -> Iterator[str]:
    """Every address of the site's resolver that has only these placeholders, with each value."""
    first, second = (row.key for row in rows[:2])
    values = {
        "<slug:name>": ("tiny",),
        "<slug:key>": (first, second),
        "<str:task>": TASKS,
        "<slug:slug>": ("logic", "negation"),
        "<str:phenomenon>": ("logic", "negation"),
        "<slug:section>": ("overview",),
        "<slug:level>/<path:path>": ("entries/000.p/2", "entries/000.p/3", "0/000.p/2"),
        "<path:path>": ("manifest.toml",),
    }
    for pattern in (each for each in patterns() if not each.startswith(("account/", "admin/"))):
        filled = [f"/{pattern}"]
        for name, each in values.items():
            filled = list(dict.fromkeys(path.replace(name, value) for path in filled for value in each))
        yield from (path for path in filled if "<" not in path and "^" not in path)
    yield from (f"/benchmarks/tiny?{query}" for query in ("sort=name", "sort=model", "columns=paper,code"))
    yield from (f"/benchmarks/tiny{page}?a={first}&b={second}" for page in ("/compare", "/compare.json"))
    yield f"/api/v1/benchmarks/tiny/compare?a={first}&b={second}"
    yield f"/api/v1/benchmarks/tiny/entries/{first}"


def body_of(client: Client, path: str) -> bytes:
    """What a guest is sent, with the members of an archive."""
    caches["rates"].clear()
    answer = client.get(path, headers={"Accept-Encoding": "identity"})
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    if not body.startswith(b"PK"):
        return body
    with zipfile.ZipFile(io.BytesIO(body)) as packed:
        return b"\n".join(name.encode() + packed.read(name) for name in packed.namelist())


def naming(paths: Iterable[str]) -> set[str]:
    """Which of these pages have the word, as a guest sees them."""
    client = Client()
    return {path for path in paths if WORD.casefold().encode() in body_of(client, path).lower()}


def test_no_page_names_a_system_until_the_day_and_all_do_then(
    hidden: Benchmark, graded: Graded, organizer: User, clock: Any, tmp_path: Path, worse_zip: bytes
) -> None:
    rows = [graded(**TEXTS), graded(worse_zip, **{**TEXTS, "name": f"{WORD} Two"})]
    acts.edit(rows[0], rows[0].owner, {"team": f"Other {WORD}s"})
    announce(hidden, organizer, labels=False)
    assert renewed(hidden).failure == ""
    make_due()
    addresses = list(guest_addresses(rows))
    assert len(addresses) > 100
    assert b"Anonymous 2" in body_of(Client(), "/benchmarks/tiny/results")
    assert b"Anonymous 2" in body_of(Client(), "/benchmarks/tiny/results.zip")
    assert naming(addresses) == set()
    freeze(tmp_path)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in files if WORD.casefold().encode() in path.read_bytes().lower()]
    result = Verification()
    verify_ledger(result, from_folder(tmp_path))
    assert result.findings == []
    clock[0] = DAY
    phases_due()
    later = {"/", "/benchmarks/tiny.csv", "/ledger/rows.json", f"/submissions/{rows[0].key}.bib"}
    assert naming(later) == later


@pytest.fixture
def worse_zip() -> bytes:
    return zip_bytes({**PREDICTIONS, "Refer": "1011"})


def test_names_that_a_phase_lists_without_scores_are_hidden(
    hidden: Benchmark, graded: Graded, client: Client
) -> None:
    times = {"opens": datetime(2027, 1, 1, tzinfo=UTC), "closes": datetime(2027, 2, 20, tzinfo=UTC)}
    save_phase(Phase(benchmark=hidden, name="Test", shown="closed", **times))
    graded(**TEXTS)
    page = client.get("/benchmarks/tiny").content.decode()
    assert "Anonymous 1" in page
    assert WORD not in page


def test_the_distance_to_another_system_does_not_name_it(
    hidden: Benchmark, graded: Graded, person: Callable[[str], User], worse_zip: bytes
) -> None:
    graded(**TEXTS)
    mine = graded(worse_zip, name="Mine", owner=person("other@example.org"))
    browser = Client()
    browser.force_login(mine.owner)
    page = browser.get(f"/submissions/{mine.key}").content.decode()
    assert "Anonymous 1" in page
    assert WORD not in page


def test_a_visitor_after_the_day_is_the_first_to_see_names(
    hidden: Benchmark, graded: Graded, clock: Any, client: Client
) -> None:
    graded(**TEXTS)
    assert "Anonymous 1" in client.get("/benchmarks/tiny").content.decode()
    clock[0] = DAY
    assert WORD in client.get("/benchmarks/tiny").content.decode()
    assert [change["kind"] for change in client.get("/benchmarks/tiny/changes.json").json()["changes"]] == [
        "renamed",
        "added",
    ]


def test_searches_and_filters_do_not_tell_names(hidden: Benchmark, graded: Graded, client: Client) -> None:
    graded(**TEXTS)
    for query in (f"q={WORD}", f"team={WORD}"):
        assert "Anonymous 1" not in client.get(f"/benchmarks/tiny?{query}").content.decode()
    assert "Anonymous 1" in client.get("/benchmarks/tiny?q=anonymous+1").content.decode()


def test_its_author_and_the_organizers_see_names(
    hidden: Benchmark, graded: Graded, owner: Client, organizer: User, person: Callable[[str], User]
) -> None:
    row, leader, other = graded(**TEXTS), Client(), Client()
    leader.force_login(organizer)
    other.force_login(person("other@example.org"))
    for ending in ("", ".json", ".bib", "/detail"):
        path = f"/submissions/{row.key}{ending}"
        seen = [WORD in browser.get(path).content.decode() for browser in (owner, leader, other)]
        assert seen == [True, True, False], path
    assert WORD in leader.get("/benchmarks/tiny/organize").content.decode()
    assert WORD in owner.get("/submissions").content.decode()


def test_what_an_author_does_meanwhile_keeps_the_names(
    hidden: Benchmark, graded: Graded, owner: Client, clock: Any
) -> None:
    row = graded(**TEXTS)
    owner.post(f"/submissions/{row.key}/publish", {"public": "0"})
    owner.post(f"/submissions/{row.key}/publish", {"public": "1"})
    row.refresh_from_db()
    assert (row.name, row.team) == (TEXTS["name"], TEXTS["team"])
    assert re.search("Anonymous 1", Client().get("/benchmarks/tiny.csv").content.decode())


def test_systems_keep_their_numbers_and_baselines_their_names(
    hidden: Benchmark, graded: Graded, clock: Any, client: Client
) -> None:
    late = graded(name="Late", public=False)
    graded(name="First")
    graded(name="Majority", kind=Kind.BASELINE)
    clock[0] = datetime(2027, 2, 2, tzinfo=UTC)
    acts.publish(late, public=True)
    names = {row["key"]: row["name"] for row in client.get("/benchmarks/tiny.json").json()["rows"]}
    assert sorted(names.values()) == ["Anonymous 1", "Anonymous 3", "Majority"]
    assert names[late.key] == "Anonymous 3"


def test_names_that_were_public_are_not_hidden(tiny: Benchmark, graded: Graded, clock: Any) -> None:
    graded(**TEXTS)
    with pytest.raises(PolicyError, match=r"anonymous: systems were public"):
        change_policy(tiny, {"anonymous": DAY.date()})
    with pytest.raises(PolicyError, match=r"anonymous: this day is today or past"):
        change_policy(tiny, {"anonymous": datetime(2027, 1, 1, tzinfo=UTC).date()})


def test_the_form_says_why_names_cannot_be_hidden(
    tiny: Benchmark, graded: Graded, organizer: User, clock: Any
) -> None:
    leader = Client()
    leader.force_login(organizer)
    form = {**tiny.policy.as_dict(), "open": "on", "anonymous": "2027-03-01"}
    data = {name: value for name, value in form.items() if value not in (None, False)}
    assert leader.post("/benchmarks/tiny/organize/limits", data).status_code == 302
    assert Entry.objects.filter(action="policy").latest("pk").detail["changes"]["anonymous"] == [
        None,
        "2027-03-01",
    ]
    assert "Until 1 March 2027 (UTC)" in leader.get("/benchmarks/tiny/submit").content.decode()
    change_policy(tiny, {"anonymous": None})
    graded(**TEXTS)
    answer = leader.post("/benchmarks/tiny/organize/limits", data)
    assert answer.status_code == 422
    assert "cannot be hidden again" in answer.content.decode()


def test_showing_names_early_is_at_once_everywhere(hidden: Benchmark, graded: Graded, client: Client) -> None:
    row = graded(**TEXTS)
    change_policy(hidden, {"anonymous": None})
    texts = client.get("/ledger/rows.json").json()["rows"][row.key]["texts"]
    assert texts["names"]["name"] == TEXTS["name"]
    assert WORD in client.get("/benchmarks/tiny").content.decode()


def test_a_frozen_copy_releases_no_files_while_names_are_hidden(
    hidden: Benchmark, graded: Graded, tmp_path: Path
) -> None:
    with pytest.raises(SiteError, match="Names are hidden"):
        freeze(tmp_path / "copy", release=["tiny"])
