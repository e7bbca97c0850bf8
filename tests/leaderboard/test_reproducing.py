"""A second party's predictions of a public row: who may send them, what agreement is, what nobody learns."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from array import array
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from leaderboard.material import PREDICTIONS, zip_bytes

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.accounts.models import Membership, Scope, Team, User, issue, leave, move_to
from gluebench.leaderboard.apps.audit.models import Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.ledger.verify import Verification, from_folder, verify_ledger
from gluebench.leaderboard.apps.limits.acts import change_policy
from gluebench.leaderboard.apps.limits.phase_acts import save_phase
from gluebench.leaderboard.apps.limits.quota import usage
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.similarity import samples
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.grading import grade, regrade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status, Visibility
from gluebench.leaderboard.apps.submissions.reproducing import reproductions_of
from gluebench.leaderboard.keeping.freeze import freeze
from gluebench.submission import Column
from gluebench.submission import Submission as Read

Graded = Callable[..., Submission]
ROWS = sum(map(len, PREDICTIONS.values()))
ALMOST = zip_bytes({**PREDICTIONS, "Sim": ["1.505", "2.495", "0.5", "4.01", "3.5"]})
"""Every prediction agrees, and the correlation is another."""
OTHER = zip_bytes({**PREDICTIONS, "Refer": "1011"})
SEEN = {"submission", "at", "equal", "rows", "within"}


@pytest.fixture
def bob(person: Callable[[str], User]) -> User:
    return person("bob@example.org")


@pytest.fixture
def second(bob: User) -> Client:
    client = Client()
    client.force_login(bob)
    return client


@pytest.fixture
def reproduce(second: Client, bob: User) -> Callable[..., Submission]:
    """Send a reproduction of a row as bob, through the form, and grade it."""

    def sent(row: Submission, data: bytes = ALMOST, **fields: str) -> Submission:
        upload = SimpleUploadedFile("predictions.zip", data)
        form = {"team": "The second lab", "link": "https://second.example/run", "upload": upload, **fields}
        second.force_login(bob)
        answer = second.post(f"/submissions/{row.key}/reproduce", {**form, "action": "submit", "use": "own"})
        assert answer.status_code == 302, answer.content.decode()
        made = Submission.objects.get(owner=bob, key=answer["Location"].rsplit("/", 1)[1])
        grade(made.pk)
        made.refresh_from_db()
        return made

    return sent


def page_of(row: Submission, browser: Client | None = None) -> str:
    return (browser or Client()).get(f"/submissions/{row.key}").content.decode()


def kinds() -> list[str]:
    changes = Client().get("/benchmarks/tiny/changes.json").json()["changes"]
    return [change["kind"] for change in reversed(changes)]


def test_a_row_says_who_reproduced_it_and_how_far(graded: Graded, reproduce: Any, tmp_path: Path) -> None:
    row = graded(name="First")
    made = reproduce(row)
    row.refresh_from_db()
    (shown,) = row.reproduced
    assert shown.keys() == SEEN
    assert (shown["equal"], shown["rows"]) == (1, ROWS)
    gap = 100 * abs((row.value or 0) - (made.value or 0))
    assert gap <= shown["within"]
    text = f"100.0&nbsp;% of {ROWS} predictions equal, score within {shown['within']}"
    page = page_of(row)
    assert f"Reproduced: {text}." in page
    assert '<a href="https://second.example/run" rel="nofollow noopener ugc">The second lab</a>' in page
    assert shown["at"] == made.submitted.date().isoformat()
    (fact,) = Client().get(f"/api/v1/submissions/{row.key}").json()["reproduced"]
    assert (fact["by"], fact["equal"]) == ("The second lab", 1)
    (entry,) = Client().get("/benchmarks/tiny.json").json()["rows"]
    assert (entry["key"], entry["reproduced"]) == (row.key, [shown])
    assert "reproduced</span>" in Client().get("/benchmarks/tiny").content.decode()
    assert kinds() == ["added", "reproduced"]
    assert Client().get(f"/submissions/{made.key}").status_code == 404
    freeze(tmp_path)
    result = Verification()
    verify_ledger(result, from_folder(tmp_path))
    assert result.findings == []


def test_one_person_stands_for_one_reproduction_and_cannot_rename_it(
    graded: Graded, reproduce: Any, second: Client, bob: User
) -> None:
    row = graded(name="First")
    reproduce(row, team="One lab")
    other = zip_bytes({**PREDICTIONS, "Sim": ["1.504", "2.496", "0.5", "4.01", "3.5"]})
    last = reproduce(row, other, team="Another lab")
    row.refresh_from_db()
    assert [shown["submission"] for shown in row.reproduced] == [last.key]
    Submission.objects.filter(pk=last.pk).update(group=Team.objects.create(name="Of bob alone"))
    assert [shown["submission"] for shown in reproductions_of(row)] == [last.key], "nor does a team of one"
    secret = issue(bob, "a program", [Scope.SUBMIT, Scope.READ], timedelta(days=1))[1]
    program = Client(headers={"authorization": f"Bearer {secret}"})
    answer = program.patch(
        f"/api/v1/submissions/{last.key}", {"team": "A famous lab"}, content_type="application/json"
    )
    assert answer.status_code in (400, 422), answer.content
    assert "cannot be edited" in answer.content.decode()
    last.refresh_from_db()
    assert last.team == "Another lab"


def sent(user: User, row: Submission, **fields: str) -> Any:
    """The answer to a program that sends a reproduction; a field that is empty is left out."""
    secret = issue(user, "a program", [Scope.SUBMIT, Scope.READ], timedelta(days=1))[1]
    values = {
        "name": "Second run",
        "model": "CBoW",
        "team": "The second lab",
        "reproduces": row.key,
        **fields,
    }
    form = {name: value for name, value in values.items() if value}
    upload = SimpleUploadedFile("predictions.zip", ALMOST)
    address = f"/api/v1/benchmarks/{row.benchmark.name}/submissions"
    return Client(headers={"authorization": f"Bearer {secret}"}).post(address, {**form, "file": upload})


def test_a_program_sends_one_by_the_rules_of_the_page(graded: Graded, bob: User) -> None:
    row = graded(name="First")
    for fields, field in (
        ({"public": "true"}, "public"),
        ({"team": ""}, "team"),
        ({"reproduces": "%"}, "reproduces"),
    ):
        refused = sent(bob, row, **fields)
        assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)
    answer = sent(bob, row)
    assert answer.status_code == 201, answer.content
    assert answer.json()["reproduces"] == row.key
    made = Submission.objects.get(key=answer.json()["key"])
    assert (made.reproduces, made.public) == (row, False)
    grade(made.pk)
    row.refresh_from_db()
    assert [shown["submission"] for shown in row.reproduced] == [made.key]


def test_a_program_of_its_author_or_of_a_private_row_is_refused(
    graded: Graded, ada: User, bob: User, tiny: Benchmark
) -> None:
    row, private = graded(name="First"), graded(name="Private", public=False)
    team = Team.objects.create(name="A team")
    for user in (ada, bob):
        move_to(user, team)
    assert [sent(User.objects.get(pk=user.pk), row).status_code for user in (ada, bob)] == [403, 403]
    leave(bob, team)
    assert sent(User.objects.get(pk=bob.pk), row).json()["type"] == "urn:gluebench:role"
    Membership.objects.all().delete()
    bob.refresh_from_db()
    assert sent(bob, private).status_code == 404
    assert sent(bob, row, reproduces="nothing").status_code == 404
    other = Benchmark.objects.create(name="other", manifest=tiny.manifest, gold=tiny.gold)
    Submission.objects.filter(pk=row.pk).update(benchmark=other)
    row.benchmark = tiny
    assert "of another benchmark" in sent(bob, row).json()["detail"]
    assert Submission.objects.count() == 2


@pytest.mark.parametrize(
    ("points", "within"), [(0, 0.1), (0.1, 0.1), (0.11, 0.2), (0.9, 1), (4.2, 5), (30, 100), (None, None)]
)
def test_scores_are_compared_coarsely(
    graded: Graded, reproduce: Any, points: float | None, within: float | None
) -> None:
    row = graded()
    made = reproduce(row)
    value = None if points is None else row.value + points / 100  # type: ignore[operator]
    Submission.objects.filter(pk=made.pk).update(value=value)
    assert [each["within"] for each in reproductions_of(row)] == [within]


def test_a_ledger_shows_an_altered_agreement(graded: Graded, reproduce: Any, tmp_path: Path) -> None:
    reproduce(graded())
    freeze(tmp_path)
    board = tmp_path / "benchmarks" / "tiny.json"
    for edit in ([], [{"equal": 1}]):
        values = json.loads(board.read_bytes())
        values["rows"][0]["reproduced"] = edit
        board.write_text(json.dumps(values))
        result = Verification()
        verify_ledger(result, from_folder(tmp_path))
        assert "is not as its last entry says" in " ".join(result.findings)


def test_the_agreement_is_that_of_a_plain_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    benchmark = load_benchmark("sample")

    def columns(seed: int) -> dict[str, Column]:
        draw = random.Random(seed)
        labels = bytes(draw.choice((0, 1, 1, 1)) for _ in range(30_011))
        numbers = array("d", (rng.choice((1, 1.005, 4)) for _ in range(700)))
        cells = tuple((rng.choice("ab"), (rng.choice((0.2, 0.205, 0.9)),)) for _ in range(90))
        return {"a": Column(("no", "yes"), labels), "b": Column((), numbers), "c": Column((), cells)}

    one, other = columns(1), {**columns(2), "d": Column(("x",), bytes(7))}
    equal = sum(a == b for a, b in zip(one["a"].codes, other["a"].codes, strict=True))
    equal += sum(
        abs(a - b) <= max(0.01, 0.01 * max(a, b))
        for a, b in zip(one["b"].numbers, other["b"].numbers, strict=True)
    )
    equal += sum(
        a[0] == b[0] and abs(a[1][0] - b[1][0]) <= 0.01
        for a, b in zip(one["c"].cells, other["c"].cells, strict=True)
    )
    rows = 30_011 + 700 + 90 + 7
    monkeypatch.setattr(samples, "LEAST", 0)
    both = [Read(benchmark, "test", "", "valid", (), each) for each in (one, other)]
    stated = samples.agreement(*both)
    assert stated["rows"] == rows
    assert equal / rows - 10 / rows - 0.001 < stated["equal"] <= equal / rows
    assert stated["equal"] == round(stated["equal"], 3)
    assert samples.agreement(*both[::-1]) == stated


@pytest.mark.parametrize(
    ("wrong", "stated"), [(0, 1), (1, 0.99), (9, 0.99), (10, 0.99), (11, 0.98), (50, 0.95), (51, None)]
)
def test_single_rows_do_not_show(wrong: int, stated: float | None) -> None:
    benchmark = load_benchmark("sample")
    codes = [bytes(1000), bytes([1]) * wrong + bytes(1000 - wrong)]
    both = [Read(benchmark, "test", "", "valid", (), {"a": Column(("n", "y"), each)}) for each in codes]
    assert samples.agreement(*both) == {"equal": stated, "rows": 1000}


def test_of_one_that_disagrees_nobody_learns_how_far(
    graded: Graded, reproduce: Any, second: Client, bob: User
) -> None:
    row = graded()
    made = reproduce(row, OTHER)
    assert made.agreement == {"equal": None, "rows": ROWS}
    page = page_of(made, second)
    assert "Fewer than 95&nbsp;% of the predictions are equal to" in page
    sentence = page.split("Fewer than")[1].split("</p>")[0]
    assert f"{ROWS}" not in re.sub("<a .*?</a>", "", sentence), "a key may hold any digits"
    assert "Reproduced" not in page_of(row)
    assert Client().get(f"/submissions/{row.key}.json").json()["reproduced"] == []
    assert kinds() == ["added"]
    answers = [second.get(f"/submissions/{made.key}.json"), second.get(f"/api/v1/submissions/{made.key}")]
    assert not any(b"equal" in answer.content for answer in answers)
    export = second.post("/account/export", {"password": "a long password"})
    if export.status_code == 200:
        with zipfile.ZipFile(io.BytesIO(b"".join(export))) as packed:
            assert b"agreement" not in packed.read("submissions.json")


def test_only_a_second_party_may_reproduce(
    graded: Graded, ada: User, bob: User, owner: Client, second: Client, client: Client
) -> None:
    row, hidden = graded(), graded(public=False)
    path = f"/submissions/{row.key}/reproduce"
    assert second.get(path).status_code == 200
    assert client.get(path)["Location"].startswith("/account/login/")
    assert owner.get(path).status_code == 403
    assert second.get(f"/submissions/{hidden.key}/reproduce").status_code == 404
    assert owner.get(f"/submissions/{hidden.key}/reproduce").status_code == 404
    team = Team.objects.create(name="Owls")
    for user in (ada, bob):
        move_to(user, team)
    assert second.get(path).status_code == 403
    Membership.objects.filter(user=bob).delete()
    assert second.get(path).status_code == 200
    Submission.objects.filter(pk=row.pk).update(group=team)
    Membership.objects.create(user=bob, team=team, until=timezone.now())
    assert second.get(path).status_code == 403
    assert second.post(path, {"team": "x"}).status_code == 403


def test_a_row_without_its_file_cannot_be_reproduced(graded: Graded, second: Client) -> None:
    row = graded()
    acts.forget_files(Submission.objects.filter(pk=row.pk))
    assert second.get(f"/submissions/{row.key}/reproduce").status_code == 404


def test_it_counts_as_a_submission_and_names_its_maker(
    tiny: Benchmark, graded: Graded, reproduce: Any, bob: User, second: Client
) -> None:
    row = graded()
    change_policy(tiny, {"per_day": 1})
    reproduce(row)
    assert usage(Benchmark.objects.get(), bob).remaining == 0
    form = {"team": "B", "upload": SimpleUploadedFile("p.zip", ALMOST), "action": "submit"}
    answer = second.post(f"/submissions/{row.key}/reproduce", form)
    assert answer.status_code == 429
    assert "0 remain" in answer.content.decode()
    answer = second.post(f"/submissions/{row.key}/reproduce", {**form, "team": ""})
    assert "This field is required" in answer.content.decode()
    assert Submission.objects.filter(owner=bob).count() == 1


def test_it_is_never_public(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client, bob: User
) -> None:
    row = graded()
    made = reproduce(row)
    second.post(f"/submissions/{made.key}/publish", {"public": "1"})
    secret = issue(bob, "a program", [Scope.SUBMIT, Scope.READ], timedelta(days=1))[1]
    program = Client(headers={"authorization": f"Bearer {secret}"})
    assert program.post(f"/api/v1/submissions/{made.key}/publish").json()["public"] is False
    made.refresh_from_db()
    assert (made.public, made.standing) == (False, Visibility.REPRODUCTION)
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=made.pk).update(public=True)
    assert len(Client().get("/benchmarks/tiny.json").json()["rows"]) == 1
    assert "Publish it on the board" not in page_of(made, second)


def test_in_a_phase_it_neither_counts_nor_is_public(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client
) -> None:
    opens = timezone.now() - timedelta(days=1)
    save_phase(Phase(benchmark=tiny, name="Open", opens=opens, counting="best"))
    row = graded(OTHER)
    made = reproduce(row, zip_bytes(PREDICTIONS))
    assert (made.public, made.counts, made.status) == (False, False, Status.GRADED)
    Phase.objects.update(counting="chosen", most=1)
    second.post(f"/submissions/{made.key}/choose", {"chosen": "1"})
    made.refresh_from_db()
    assert made.chosen is None
    assert [each["key"] for each in Client().get("/benchmarks/tiny.json").json()["rows"]] == [row.key]


@pytest.mark.parametrize("feedback", ["on-publish", "ladder"])
def test_where_scores_are_held_back_only_the_predictions_are_compared(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client, feedback: str
) -> None:
    change_policy(tiny, {"feedback": feedback})
    row = graded()
    made = reproduce(row)
    row.refresh_from_db()
    assert [(each["equal"], each["within"]) for each in row.reproduced] == [(1, None)]
    assert "predictions equal." in page_of(row)
    if feedback == "on-publish":
        assert (made.value, made.report) == (None, None)
        assert "score within" not in page_of(made, second)


def test_a_phase_that_hides_scores_hides_those_of_a_reproduction(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client
) -> None:
    row, now = graded(), timezone.now()
    times = {"opens": now - timedelta(days=1), "closes": now + timedelta(days=9)}
    settings = {"feedback": "with-board"}
    save_phase(Phase(benchmark=tiny, name="Test", shown="closed", settings=settings, **times))
    Benchmark.objects.update(board_phase=None)
    made = reproduce(row)
    row.refresh_from_db()
    assert (made.value, made.report, made.scores) == (None, None, None)
    assert [each["within"] for each in row.reproduced] == [None]
    assert not second.get(f"/submissions/{made.key}.json").json()["report"]


def test_scores_of_other_rows_are_not_compared(tiny: Benchmark, graded: Graded, reproduce: Any) -> None:
    row = graded()
    opens = timezone.now() - timedelta(days=1)
    save_phase(Phase(benchmark=tiny, name="Half", opens=opens, rows="public", share=0.5))
    Benchmark.objects.update(board_phase=None)
    made = reproduce(row)
    row.refresh_from_db()
    assert made.value is not None
    assert [each["within"] for each in row.reproduced] == [None]


def test_where_labels_are_elsewhere_the_site_compares_predictions(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client, bob: User, person: Any
) -> None:
    row = graded()
    Benchmark.objects.update(gold="", gold_digest="", settings={"per_day": 1})
    made = reproduce(row)
    assert (made.status, made.report, made.value) == (Status.KEPT, None, None)
    assert f"100.0&nbsp;% of {ROWS} predictions equal." in page_of(row)
    assert "Compared, not scored" in page_of(made, second)
    assert usage(Benchmark.objects.get(), bob).remaining == 0
    organizer = person("organizer@example.org")
    tiny.organizers.add(organizer)
    Submission.objects.filter(pk=made.pk).update(status=Status.QUEUED)
    secret = issue(organizer, "a machine", ["grade"], timedelta(days=1))[1]
    machine = Client(headers={"authorization": f"Bearer {secret}"})
    answer = machine.post("/api/v1/work", {"benchmark": "tiny"}, content_type="application/json")
    assert answer.status_code == 204


def test_after_the_deadline_predictions_are_compared_and_not_scored(
    tiny: Benchmark, graded: Graded, reproduce: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [datetime(2027, 5, 1, tzinfo=UTC)]
    monkeypatch.setattr(timezone, "now", lambda: now[0])
    times = {"opens": datetime(2027, 4, 1, tzinfo=UTC), "closes": datetime(2027, 6, 1, tzinfo=UTC)}
    save_phase(Phase(benchmark=tiny, name="Test", **times))
    row = graded()
    now[0] = datetime(2027, 7, 1, tzinfo=UTC)
    made = reproduce(row)
    assert (made.late, made.status, made.report) == (True, Status.KEPT, None)
    assert f"100.0&nbsp;% of {ROWS} predictions equal." in page_of(row)


def test_it_can_be_withdrawn_and_declined(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client, person: Any
) -> None:
    row = graded()
    made = reproduce(row)
    second.post(f"/submissions/{made.key}/withdraw", {})
    assert "Reproduced" not in page_of(row)
    second.post(f"/submissions/{made.key}/withdraw", {"undo": "1"})
    assert "Reproduced" in page_of(row)
    user = person("organizer@example.org")
    tiny.organizers.add(user)
    leader = Client()
    leader.force_login(user)
    assert made.key in leader.get("/benchmarks/tiny/organize?state=reproductions").content.decode()
    decline = {"act": "decline", "decline-reason": "It is a copy"}
    leader.post(f"/benchmarks/tiny/organize/submissions/{made.key}", decline)
    assert "Reproduced" not in page_of(row)
    assert Entry.objects.filter(submission=made.key, action="decline").exists()
    assert kinds() == ["added", *["reproduced", "not reproduced"] * 2]


def test_with_approval_an_organizer_approves_it_first(
    tiny: Benchmark, graded: Graded, reproduce: Any, ada: User
) -> None:
    row = graded()
    change_policy(tiny, {"approval": True})
    made = reproduce(row)
    assert "Reproduced" not in page_of(row)
    acts.approve(made, ada)
    assert "Reproduced" in page_of(row)


def test_a_deleted_account_leaves_no_name(graded: Graded, reproduce: Any, bob: User) -> None:
    row = graded()
    reproduce(row)
    acts.anonymize(user=bob)
    page = page_of(row)
    assert "predictions equal" in page
    assert "By Anonymous," in page
    assert "second" not in page


def test_while_names_are_hidden_so_is_who_reproduced(
    tiny: Benchmark, graded: Graded, reproduce: Any, second: Client
) -> None:
    change_policy(tiny, {"anonymous": (timezone.now() + timedelta(days=9)).date()})
    row = graded(name="Secretowl", team="Owls")
    assert "Secretowl" not in second.get(f"/submissions/{row.key}/reproduce").content.decode()
    made = reproduce(row)
    assert "Secretowl" not in page_of(made, second)
    page = page_of(row)
    assert "By Anonymous," in page
    assert "second" not in page
    assert "The second lab" not in Client().get(f"/submissions/{row.key}.json").content.decode()


def test_new_labels_keep_the_agreement(tiny: Benchmark, graded: Graded, reproduce: Any) -> None:
    row = graded()
    made = reproduce(row)
    row.refresh_from_db()
    before = row.reproduced
    regrade(tiny, "again")
    for each in (made, row):
        grade(each.pk)
    row.refresh_from_db()
    assert row.reproduced == before


def test_a_file_that_is_not_valid_is_replaced_as_a_reproduction(
    graded: Graded, reproduce: Any, second: Client
) -> None:
    row = graded()
    broken = reproduce(row)
    Submission.objects.filter(pk=broken.pk).update(status=Status.INVALID, agreement=None)
    form = {"upload": SimpleUploadedFile("p.zip", ALMOST), "action": "submit", "use": "own"}
    assert second.post(f"/submissions/{broken.key}/replace", form).status_code == 302
    made = Submission.objects.get(key=broken.key)
    assert (made.reproduces, made.public) == (row, False)


def test_names_are_text(graded: Graded, reproduce: Any) -> None:
    row = graded()
    reproduce(row, team='<b>Owls</b> & "co"')
    assert "&lt;b&gt;Owls&lt;/b&gt; &amp; &quot;co&quot;" in page_of(row)


def test_it_can_be_checked_first(graded: Graded, second: Client, bob: User) -> None:
    row = graded()
    parts: Sequence[tuple[bytes, str]] = [
        (ALMOST, 'data-verdict="valid"'),
        (b"no zip", 'data-verdict="invalid"'),
    ]
    for data, text in parts:
        form = {"upload": SimpleUploadedFile("p.zip", data), "action": "check"}
        page = second.post(f"/submissions/{row.key}/reproduce", form)
        assert text in page.content.decode()
    assert not Submission.objects.filter(owner=bob).exists()
