"""The organizer's pages: who may see them, approval, marks, the log, what looks alike."""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.sealing import logged_acts

from gluebench.leaderboard.apps.similarity import similar
from gluebench.leaderboard.apps.similarity.samples import near_pairs, take_sample
from gluebench.leaderboard.apps.submissions import acts
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Visibility

Send = Callable[..., Submission]
HERE = "/benchmarks/tiny/organize"


@pytest.fixture
def organizer(tiny: Any, person: Any) -> Client:
    client = Client()
    account = person("organizer@example.org")
    tiny.organizers.add(account)
    client.force_login(account)
    return client


@pytest.fixture
def strict(tiny: Any) -> Any:
    """The benchmark, which asks for approval."""
    tiny.settings = {"approval": True, "per_day": None, "at_once": None}
    tiny.save()
    return tiny


def at(submission: Submission) -> str:
    return f"{HERE}/submissions/{submission.key}"


@pytest.mark.parametrize("path", ["", "/log", "/alike", "/submissions/KEY", "/regrade", "/alike/compare"])
def test_only_organizers_enter(path: str, graded: Send, ada: Any, organizer: Client) -> None:
    path = HERE + path.replace("KEY", graded().key)
    author, change = Client(), path.endswith(("/regrade", "/compare"))
    author.force_login(ada)
    ask: Callable[[Client], Any] = lambda client: client.post(path) if change else client.get(path)  # noqa: E731
    assert ask(Client()).status_code == 302
    assert ask(author).status_code == 403
    assert ask(organizer).status_code == (302 if change else 200)


def test_an_entry_waits_until_it_is_approved(
    strict: Any, client: Client, ada: Any, graded: Send, organizer: Client
) -> None:
    submission = graded(name="Patient")
    assert submission.standing == Visibility.WAITING
    assert "Patient" not in client.get("/").content.decode()
    assert client.get(submission.get_absolute_url()).status_code == 404
    assert "Approve" in organizer.get(f"{HERE}?state=approve").content.decode()
    organizer.post(at(submission), {"act": "approve"})
    assert "Patient" in client.get("/").content.decode()
    assert logged_acts().get().action == "approve"


def test_all_submissions_are_there_as_csv(graded: Send, organizer: Client) -> None:
    one, other = graded(name="=SUM(A1)"), graded(name="Private", public=False)
    answer = organizer.get(f"{HERE}/submissions.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="tiny-submissions.csv"'
    assert answer.content.startswith(b"\xef\xbb\xbfkey,"), "Excel reads it as UTF-8 then"
    newest, first = csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig")))
    assert (first["key"], first["name"], first["board"]) == (one.key, "'=SUM(A1)", "listed")
    assert (newest["key"], newest["account"], newest["board"]) == (
        other.key,
        f"Account {other.owner.pk}",
        "private",
    )
    assert float(first["score"]) == one.scores["score"]["value"]
    tasks = one.scores["tasks"]
    assert {task: float(first[task]) for task in tasks} == {
        task: tasks[task]["score"]["value"] for task in tasks
    }
    part = organizer.get(f"{HERE}/submissions.csv?q=Private").content.decode()
    assert len(part.splitlines()) == 2
    assert f"{HERE}/submissions.csv?q=Private" in organizer.get(f"{HERE}?q=Private").content.decode()


def test_who_is_declined_reads_why_and_cannot_get_round_it(
    strict: Any, client: Client, ada: Any, graded: Send, organizer: Client
) -> None:
    submission = graded(name="Refused")
    assert organizer.post(at(submission), {"act": "decline"}).status_code == 422, "a reason must be given"
    organizer.post(at(submission), {"act": "decline", "decline-reason": "The name tells nothing."})
    author = Client()
    author.force_login(ada)
    assert "The name tells nothing." in author.get(submission.get_absolute_url()).content.decode()
    for public in "01":
        author.post(f"{submission.get_absolute_url()}/publish", {"public": public})
    author.post(f"{submission.get_absolute_url()}/withdraw")
    author.post(f"{submission.get_absolute_url()}/withdraw", {"undo": "1"})
    assert "Refused" not in client.get("/").content.decode()


def test_an_entry_is_taken_off_and_put_back(client: Client, graded: Send, organizer: Client) -> None:
    submission = graded(name="Doubtful")
    organizer.post(at(submission), {"act": "decline", "decline-reason": "Trained on the test set."})
    assert "Doubtful" not in client.get("/").content.decode()
    organizer.post(at(submission), {"act": "approve", "approve-reason": "It was not."})
    assert "Doubtful" in client.get("/").content.decode()
    log = [(entry.action, entry.reason) for entry in logged_acts().order_by("pk")]
    assert log == [("take off", "Trained on the test set."), ("approve", "It was not.")]


def test_marks_are_the_organizer_s_and_are_logged(graded: Send, organizer: Client, ada: Any) -> None:
    submission = graded()
    organizer.post(at(submission), {"act": "mark", "mark-kind": "human", "mark-verified": "on"})
    submission.refresh_from_db()
    assert (submission.kind, submission.verified) == ("human", True)
    assert logged_acts().get().detail == {"kind": ["system", "human"], "verified": [False, True]}
    assert "verified: no → yes" in organizer.get(f"{HERE}/log").content.decode()
    page = Client().get(submission.get_absolute_url()).content.decode()
    assert ">human<" in page
    assert ">verified<" in page


def test_grading_again_asks_for_a_reason_and_logs_it(graded: Send, organizer: Client) -> None:
    submission = graded()
    organizer.post(at(submission), {"act": "regrade", "regrade-reason": "A faster scorer."})
    submission.refresh_from_db()
    assert (submission.status, submission.why) == ("queued", "A faster scorer.")
    organizer.post(f"{HERE}/regrade")
    assert not logged_acts().filter(submission="").exists()
    organizer.post(f"{HERE}/regrade", {"reason": "A new scorer."})
    assert logged_acts().get(submission="").reason == "A new scorer."


def test_the_list_is_narrowed(strict: Any, graded: Send, send: Send, organizer: Client) -> None:
    one, other = graded(name="One"), graded(name="Other", model="CNN", public=False)
    broken = graded(b"no zip", name="Broken")
    acts.withdraw(graded(name="Gone"))
    acts.mark(one, one.owner, kind="baseline", verified=True)  # type: ignore[arg-type]
    send(name="Queued")

    def names(query: str) -> set[str]:
        page = organizer.get(f"{HERE}?{query}").content.decode()
        return set(re.findall(r'<th scope="row" class="name"><a [^>]*>([^<]*)</a>', page))

    assert names("") == {"One", "Other", "Broken", "Gone", "Queued"}
    assert names("state=approve") == {"One"}
    assert names("state=listed") == set()
    assert names("state=private") == {"Other"}
    assert names("state=withdrawn") == {"Gone"}
    assert names("state=invalid") == {"Broken"}
    assert names("state=open") == {"Queued"}
    assert names("q=cnn") == {"Other"}
    assert names(f"q={broken.key}") == {"Broken"}
    assert names("kind=verified") == names("kind=baseline") == {"One"}
    assert names("q=ada@example.org") == set(), "addresses are for admins"
    assert other.standing == Visibility.PRIVATE


def test_an_address_is_shown_to_admins_alone(graded: Send, organizer: Client, person: Any, ada: Any) -> None:
    submission = graded()
    boss = person("boss@example.org")
    boss.is_superuser = True
    boss.save()
    admin = Client()
    admin.force_login(boss)
    for path in (HERE, at(submission), f"{HERE}/alike", f"{HERE}/log"):
        assert ada.email not in organizer.get(path).content.decode(), path
    assert ada.email in admin.get(HERE).content.decode()


def test_copies_of_other_accounts_are_found_without_labels(
    graded: Send, person: Any, tiny: Any, organizer: Client
) -> None:
    other = person("other@example.org")
    mine, again = graded(name="Mine"), graded(name="Mine again")
    near = {**PREDICTIONS, "Sim": ["1.5", "2.5", "0.5", "4", "3.501"]}
    far = {**PREDICTIONS, "Refer": "1011", "Infer-mm": ["neutral", "neutral", "neutral"]}
    copy, unlike = graded(zip_bytes(near), owner=other, name="Copy"), graded(zip_bytes(far), owner=other)
    assert similar.read_some(tiny.pk) == 4
    assert similar.read_some(tiny.pk) == 0
    pairs = similar.renew(tiny.pk).pairs
    assert {frozenset(pair[:2]) for pair in pairs} == {frozenset({copy.pk, row.pk}) for row in (mine, again)}
    assert pairs[0][2] == 1, "to two decimals"
    assert unlike.pk not in {pk for pair in pairs for pk in pair[:2]}
    page = organizer.get(f"{HERE}/alike").content.decode()
    assert page.count("100.0&nbsp;%") == 2


def test_near_pairs_are_those_of_comparing_one_by_one(tiny: Any) -> None:
    import base64
    import random

    rng = random.Random(7)
    base = bytes(rng.randrange(3) for _ in range(200))

    def changed(share: float) -> str:
        return base64.b64encode(bytes(b ^ (rng.random() < share) for b in base)).decode()

    samples = [
        {"owner": number % 4, "files": {name: changed(0.01 * number) for name in "ab" if rng.random() < 0.8}}
        for number in range(20)
    ]
    expected = {}
    for first, second in itertools.combinations(range(20), 2):
        one, other = samples[first], samples[second]
        shares = [
            sum(map(int.__eq__, base64.b64decode(one["files"][name]), base64.b64decode(other["files"][name])))
            / 200
            for name in one["files"].keys() & other["files"].keys()
        ]
        if one["owner"] != other["owner"] and shares and sum(shares) / len(shares) >= 0.97:
            expected[first, second] = pytest.approx(sum(shares) / len(shares))
    assert expected
    assert {(first, second): share for first, second, share in near_pairs(samples)} == expected


def test_a_file_with_errors_is_left_out_of_a_sample(tiny: Any, tmp_path: Any) -> None:
    path = tmp_path / "part.zip"
    path.write_bytes(zip_bytes({**PREDICTIONS, "Refer": "01x0"}))
    assert "Refer" not in take_sample(str(path), tiny.record)


def test_accounts_with_something_in_common_are_named(graded: Send, person: Any, tiny: Any) -> None:
    other, third = person("ada+two@example.org"), person("third@example.org")
    graded(name="One", link="https://example.org/same")
    graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}), owner=other, name="Tagged")
    graded(owner=third, name="Copied", code="https://example.org/same")
    found = {(what, tuple(row.name for row in together)) for what, together in similar.find_links(tiny)}
    assert found == {
        ("The very same file", ("One", "Copied")),
        ("Email addresses of the same mailbox", ("One", "Tagged")),
        ("The same link, paper or code", ("One", "Copied")),
    }


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ada@example.org", "Ada+x@Example.org", True),
        ("a.da@gmail.com", "ada@googlemail.com", True),
        ("a.da@example.org", "ada@example.org", False),
        ("ada@example.org", "ada@example.com", False),
    ],
)
def test_mailboxes(one: str, other: str, same: bool) -> None:
    assert (similar.mailbox(one) == similar.mailbox(other)) is same


def test_a_submission_that_is_graded_again_keeps_its_place_as_its_page_says(
    graded: Any, tiny: Any, ada: Any, owner: Any
) -> None:
    tiny.organizers.add(ada)
    row = graded()
    here = f"/benchmarks/tiny/organize/submissions/{row.key}"
    promise = "keeps its place on the board until it is"
    pages = (owner.get(here).content.decode(), owner.get("/benchmarks/tiny/organize").content.decode())
    assert all(promise in page for page in pages)
    assert owner.post("/benchmarks/tiny/organize/regrade", {"reason": "Try it"}).status_code == 302
    row.refresh_from_db()
    assert row.status == "queued"
    assert [each["key"] for each in owner.get("/benchmarks/tiny.json").json()["rows"]] == [row.key]
