"""A real shared task of 2026 from registration to its frozen copy, by its published rules, with made-up data.

SemEval-2026 Task 9, POLAR (https://polar-semeval.github.io): three subtasks, each a competition of its own;
files `pred_LANGUAGE.csv`; macro F1; 999 submissions in development, seen by their team alone; 3 in the
evaluation, of which the last counts; teams are fixed and registration ends when it begins. Two of its 22
languages stand for all. `Replay` knows the rules and nothing of the site: every number must equal its own.
"""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from leaderboard.phased import Clock, Visitor

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.accounts.models import Scope, User, issue, teams_of
from gluebench.leaderboard.apps.benchmarks.adding import prepare, store
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.formats import percent
from gluebench.leaderboard.apps.limits.models import Registration, version_of
from gluebench.leaderboard.apps.news.delivery import deliver
from gluebench.leaderboard.apps.ranks.models import Ranking
from gluebench.leaderboard.apps.ranks.renewing import enqueue_outdated, renew_ranking
from gluebench.leaderboard.apps.results.acts import make_due
from gluebench.leaderboard.apps.submissions.grading import grade, phases_due
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.freeze import freeze

SUBTASKS = {
    1: ("polarization",),
    2: ("political", "racial/ethnic", "religious", "gender/sexual", "other"),
    3: (
        "stereotype",
        "vilification",
        "dehumanization",
        "extreme_language",
        "lack_of_empathy",
        "invalidation",
    ),
}
"""The columns of each subtask's files, after `id`."""
LANGUAGES = ("eng", "deu")
AOE = timedelta(hours=12)
OPENS = datetime(2025, 9, 10, tzinfo=UTC) + AOE
EVALUATION = datetime(2026, 1, 25, tzinfo=UTC) + AOE
END = datetime(2026, 2, 3, tzinfo=UTC) + AOE
"""The first moment after 2 February, 23:59, UTC-12."""
MOST = {"dev": 999, "test": 3}
Rows = dict[str, tuple[int, ...]]
"""The 0 and 1 of each id."""


class Size(NamedTuple):
    """How large a rehearsal is."""

    subtasks: tuple[int, ...]
    people: int
    teams: int
    uploads: int
    rows: int


@dataclass
class Upload:
    """A file that a person sends, and what the site answered."""

    at: datetime
    who: int
    subtask: int
    part: str
    answers: dict[str, Rows]
    broken: bool
    name: str
    status: int = 0
    key: str = ""
    late: bool = False


def table(columns: Sequence[str], rows: Rows) -> str:
    """A file as the task publishes its form."""
    lines = [",".join(("id", *columns))]
    for name, values in rows.items():
        lines.append(",".join((name, *map(str, values))))
    return "\n".join(lines) + "\n"


def macro_f1(gold: Rows, answers: Rows) -> float:
    """Mean F1: of the two classes of subtask 1, or of the columns of the others, by counting."""
    pairs = [(gold[name], answers[name]) for name in gold]
    width = len(pairs[0][0])
    cases = [(0, 1), (0, 0)] if width == 1 else [(column, 1) for column in range(width)]
    scores = []
    for column, positive in cases:
        both = sum(one[column] == other[column] == positive for one, other in pairs)
        marked = sum((one[column] == positive) + (other[column] == positive) for one, other in pairs)
        if marked or width > 1:
            scores.append(2 * both / marked if marked else 0.0)
    return sum(scores) / len(scores)


def is_shown(score: Any, expected: float, *, exact: bool, rows: int) -> bool:
    """Whether a page has this value or, while the labels are hidden, one within three standard errors."""
    tolerance = 1e-4 if exact else 3 * (0.25 / rows) ** 0.5
    return bool(score["value"] == pytest.approx(expected, abs=tolerance))


@dataclass
class Replay:
    """The published rules, played again over what was sent."""

    gold: dict[tuple[int, str, str], Rows]
    team_of: list[int]
    taken: list[Upload] = field(default_factory=list)
    graded: set[str] = field(default_factory=set)

    def phase(self, upload: Upload) -> str:
        return "dev" if upload.at < EVALUATION else "test"

    def is_valid(self, upload: Upload) -> bool:
        return not upload.broken and upload.part == self.phase(upload)

    def expect(self, upload: Upload) -> str:
        """ "taken", "late" or "refused"; an upload that is taken costs nothing once it is not valid."""
        used = 0
        for other in self.taken:
            same = self.team_of[other.who] == self.team_of[upload.who] and other.subtask == upload.subtask
            if same and self.phase(other) == self.phase(upload) and not other.late:
                used += other.name not in self.graded or self.is_valid(other)
        if used >= MOST[self.phase(upload)]:
            return "refused"
        return "late" if upload.at >= END else "taken"

    def scores(self, upload: Upload) -> dict[str, float]:
        """Macro F1 by language."""
        part = self.phase(upload)
        return {
            language: macro_f1(self.gold[upload.subtask, part, language], rows)
            for language, rows in upload.answers.items()
        }

    def score(self, upload: Upload) -> float | None:
        scores = self.scores(upload)
        return sum(scores.values()) / len(scores) if len(scores) == len(LANGUAGES) else None

    def finals(self, subtask: int) -> list[Upload]:
        """The last valid submission of each team, best first; incomplete ones last."""
        last: dict[int, Upload] = {}
        for upload in self.taken:
            counts = self.phase(upload) == "test" and not upload.late and self.is_valid(upload)
            if counts and upload.subtask == subtask:
                last[self.team_of[upload.who]] = upload
        return sorted(last.values(), key=lambda one: -(self.score(one) or 0))


class Task:
    """The organizers, the participants and the site."""

    def __init__(self, size: Size, clock: Clock, folder: Path) -> None:
        self.size, self.clock, self.folder = size, clock, folder
        self.draw = random.Random(9)
        self.clock.now = OPENS - timedelta(days=1)
        gold = {}
        for subtask in size.subtasks:
            for part in MOST:
                for language in LANGUAGES:
                    gold[subtask, part, language] = self.labels(subtask, part, language)
        self.replay = Replay(gold, [number % size.teams for number in range(size.people)])
        self.grace = self.account("grace")
        _, self.secret = issue(self.grace, "organizing", [Scope.ORGANIZE], timedelta(days=360))
        self.waiting: list[Upload] = []
        self.private = True
        self.seen: Counter[str] = Counter()
        for subtask in size.subtasks:
            self.add(subtask)

    def labels(self, subtask: int, part: str, language: str) -> Rows:
        width = len(SUBTASKS[subtask])
        return {
            f"{language}_{part}_{number:04d}": tuple(self.draw.choice((0, 1)) for _ in range(width))
            for number in range(self.size.rows)
        }

    def account(self, name: str) -> User:
        from allauth.account.models import EmailAddress

        user = User.objects.create_user(f"{name}@example.org", "a long password")
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
        return user

    def manifest(self, subtask: int) -> str:
        """The subtask as a benchmark whose two phases have tasks, rows and labels of their own."""
        private = "true" if self.private else "false"
        columns = SUBTASKS[subtask]
        lines = [f'[benchmark]\nname = "polar-{subtask}"\ntitle = "POLAR, subtask {subtask}"']
        for part in MOST:
            for language in LANGUAGES:
                ids = json.dumps([*self.replay.gold[subtask, part, language]])
                lines.append(f'[tasks.{part}-{language}]\ncolumns = ["text"]\nprivate = {private}')
                if subtask == 1:
                    lines.append('labels = { "0" = "no", "1" = "yes" }\nmetrics = [{ name = "macro_f1" }]')
                    answers = f'column = "{columns[0]}"'
                else:
                    lines.append(f'form = "sets"\nlabels = {json.dumps(columns)}')
                    lines.append('metrics = [{ name = "sets_macro_f1" }]')
                    answers = f"columns = {json.dumps(columns)}"
                lines.append(f"splits.test = {{ size = {self.size.rows}, ids = {ids} }}")
                member = f'member = "pred_{language}.csv"'
                lines.append(f'files = [{{ name = "{part}-{language}", id = "id", {member}, {answers} }}]')
        return "\n".join(lines)

    def prepared(self, subtask: int) -> Any:
        place = self.folder / f"polar-{subtask}"
        (place / "gold").mkdir(parents=True, exist_ok=True)
        (place / "manifest.toml").write_text(self.manifest(subtask))
        for (of, part, language), rows in self.replay.gold.items():
            if of == subtask:
                text = table(SUBTASKS[subtask], rows)
                (place / "gold" / f"{part}-{language}.csv").write_text(text)
        return prepare(str(place / "manifest.toml"), place / "gold", None)

    def organize(self, subtask: int, act: str, **values: Any) -> Any:
        """An act of the organizers' pages, by the same forms."""
        address = f"/api/v1/benchmarks/polar-{subtask}/organize{act}"
        headers = {"Authorization": f"Bearer {self.secret}"}
        files = any(isinstance(value, SimpleUploadedFile) for value in values.values())
        if files:
            answer = Client().post(address, values, headers=headers)
        else:
            answer = Client().post(address, json.dumps(values), "application/json", headers=headers)
        assert answer.status_code == 200, (act, answer.content)
        return answer.json()

    def add(self, subtask: int) -> None:
        """The benchmark with its rules, phases and files."""
        store(self.prepared(subtask), by=self.grace)
        none = dict.fromkeys(("per_day", "at_once", "invalid_per_day"), "")
        rules = {"per": "team", "merge_until": "2026-01-24", "registration": "approval", "terms": "true"}
        asks = {"ask_affiliation": "true", "consent": "Scores may be released publicly."}
        self.organize(subtask, "/texts", rules="- One team for each person.")
        self.organize(subtask, "/limits", **none, **rules, **asks)
        development = {"name": "Development", "opens": "2025-09-10T00:00", "closes": "2026-01-24T23:59"}
        evaluation = {"name": "Evaluation", "opens": "2026-01-25T00:00", "closes": "2026-02-02T23:59"}
        unseen = {"shown": "date", "shown_from": "2027-01-01T00:00"}
        last = {"shown": "closed", "counting": "last", "policy-feedback": "with-board"}
        for phase, part, more in ((development, "dev", unseen), (evaluation, "test", last)):
            tasks = "\n".join(f"{part}-{language}" for language in LANGUAGES)
            values = {**phase, **more, "zone": "AoE", "tasks": tasks, "policy-total": str(MOST[part])}
            self.organize(subtask, "/phases", **values)
        phase = Benchmark.objects.get(name=f"polar-{subtask}").phases.get(name="Evaluation").pk
        inputs = "".join(f"{name}\ta text\n" for name in self.replay.gold[subtask, "test", "eng"])
        gold = self.replay.gold[subtask, "dev", "eng"], self.replay.gold[subtask, "test", "eng"]
        for path, release, text in (
            ("test/eng.tsv", "opens", f"id\ttext\n{inputs}"),
            ("dev/labels-eng.csv", "opens", table(SUBTASKS[subtask], gold[0])),
            ("test/labels-eng.csv", "results", table(SUBTASKS[subtask], gold[1])),
        ):
            file = SimpleUploadedFile("file.tsv", text.encode())
            self.organize(subtask, f"/phases/{phase}/files", upload=file, path=path, release=release)

    def register(self) -> None:
        """Everybody registers by the page, teams form by a link, and the organizers approve most."""
        self.clock.now = datetime(2025, 11, 3, tzinfo=UTC)
        self.people = [self.account(f"person-{number}") for number in range(self.size.people)]
        self.stranger, self.spammer = self.account("stranger"), self.account("spammer")
        self.secrets = []
        for user in (*self.people, self.spammer):
            self.secrets.append(issue(user, "sending", [Scope.READ, Scope.SUBMIT], timedelta(days=360))[1])
        links: dict[int, str] = {}
        for number, user in enumerate(self.people):
            team, browser = self.replay.team_of[number], Visitor(user)
            if team not in links:
                answer = browser.post("/account/team", {"name": f"Team {team:02d}"})
                assert teams_of(user), answer.content
                links[team] = f"/account/team/join/{teams_of(user)[None].code}"
            else:
                assert browser.post(links[team]).status_code == 302
        for subtask in self.size.subtasks:
            self.approve(subtask)

    def approve(self, subtask: int) -> None:
        benchmark = Benchmark.objects.get(name=f"polar-{subtask}")
        for user in (*self.people, self.stranger, self.spammer):
            form = {"version": version_of(benchmark), "affiliation": "A university", "consent": "on"}
            page = Visitor(user).post(f"/benchmarks/polar-{subtask}/join", form, follow=True)
            assert b"An organizer looks at your registration" in page.content
        before = self.post(self.upload(OPENS, 0, subtask, "dev"))
        assert (before.status_code, before.json()["type"]) == (403, "urn:gluebench:participation")
        self.organize(subtask, f"/participants/{self.stranger.pk}/refuse", reason="No affiliation.")
        accounts = ", ".join(str(user.pk) for user in (*self.people, self.spammer))
        done = self.organize(subtask, "/participants/approve", people=accounts)
        assert done["message"] == f"{self.size.people + 1} people may take part."

    def upload(self, at: datetime, who: int, subtask: int, part: str, **more: Any) -> Upload:
        """A file whose rows are right with a chance that grows with the number of the team."""
        team = self.replay.team_of[who]
        answers: dict[str, Rows] = {}
        quality = 0.55 + 0.4 * team / self.size.teams + self.draw.uniform(-0.05, 0.05)
        for language in LANGUAGES if self.draw.random() < 0.9 else LANGUAGES[:1]:
            gold = self.replay.gold[subtask, part, language]
            answers[language] = {
                name: tuple(bit if self.draw.random() < quality else 1 - bit for bit in bits)
                for name, bits in gold.items()
            }
        facts = {"broken": self.draw.random() < 0.12, "name": f"run {at:%m-%d %H:%M:%S.%f} of {who}", **more}
        return Upload(at, who, subtask, part, answers, **facts)

    def uploads(self) -> list[Upload]:
        """Most of them in the hours around both deadlines."""
        uploads = []
        quiet = self.replay.team_of.index(self.size.teams - 1)
        for subtask in self.size.subtasks:  # the last moment that counts, and the first that is late
            for at in (END - timedelta(microseconds=1), END):
                uploads.append(self.upload(at, quiet, subtask, "test", broken=False))
        for number in range(self.size.uploads - len(uploads)):
            before = timedelta(hours=self.draw.expovariate(1 / 8))
            part = "dev" if number % 4 == 0 else "test"
            end = EVALUATION if part == "dev" else END
            at = end - before if self.draw.random() < 0.85 else end + before / 8
            at = min(max(at, OPENS if part == "dev" else EVALUATION), END + timedelta(days=1))
            who = self.draw.randrange(self.size.people)
            while part == "test" and self.replay.team_of[who] == self.size.teams - 1:
                who = self.draw.randrange(self.size.people)
            uploads.append(self.upload(at, who, self.draw.choice(self.size.subtasks), part))
        return sorted(uploads, key=lambda one: one.at)

    def post(self, upload: Upload) -> Any:
        packed, columns = io.BytesIO(), SUBTASKS[upload.subtask]
        with zipfile.ZipFile(packed, "w") as archive:
            for language, rows in upload.answers.items():
                kept = dict([*rows.items()][: -1 if upload.broken else None])
                path = f"subtask_{upload.subtask}/pred_{language}.csv"
                archive.writestr(path, table(columns, kept))
        file = SimpleUploadedFile("submission.zip", packed.getvalue())
        address = f"/api/v1/benchmarks/polar-{upload.subtask}/submissions"
        headers = {"Authorization": f"Bearer {self.secrets[upload.who]}"}
        return Client().post(address, {"name": upload.name, "model": "m", "file": file}, headers=headers)

    def send(self, upload: Upload) -> None:
        """Send one and compare what happens to it with the replay; the grader lags behind by some."""
        self.clock.now = upload.at
        expected = self.replay.expect(upload)
        answer = self.post(upload)
        self.seen[expected] += 1
        if expected == "refused":
            assert (answer.status_code, answer.json()["type"]) == (429, "urn:gluebench:quota"), upload
            return
        assert answer.status_code == 201, (upload.at, answer.content)
        facts = answer.json()
        upload.key, upload.late = facts["key"], facts["late"]
        assert upload.late is (expected == "late"), upload.at
        self.replay.taken.append(upload)
        self.waiting += [] if upload.late else [upload]
        if len(self.waiting) > 4:
            self.grade()

    def grade(self) -> None:
        for upload in self.waiting:
            assert grade(Submission.objects.get(key=upload.key).pk)
            self.replay.graded.add(upload.name)
        self.waiting = []

    def work(self) -> None:
        """What workers do until nothing waits."""
        phases_due()
        for row in Submission.objects.filter(status=Status.QUEUED).order_by("pk"):
            grade(row.pk)
        enqueue_outdated()
        for ranking in Ranking.objects.all():
            renew_ranking.call(ranking.pk)
        make_due()

    def json(self, address: str, who: int | None = None) -> Any:
        headers = {} if who is None else {"Authorization": f"Bearer {self.secrets[who]}"}
        answer = Client().get(address, headers=headers)
        assert answer.status_code == 200, (address, answer.content)
        return answer.json()

    def check_boards(self) -> None:
        """Ranks, scores and names on every form of every board are those of the replay.

        While the labels are hidden the site rounds scores, and ranks by the rounded ones.
        """
        for subtask in self.size.subtasks:
            finals = self.replay.finals(subtask)
            board = f"/benchmarks/polar-{subtask}"
            rows = self.json(f"{board}.json")["rows"]
            assert {row["name"] for row in rows} == {one.name for one in finals}
            by_name = {row["name"]: row for row in rows}
            complete = [self.shown(by_name[one.name]["score"], self.replay.score(one)) for one in finals]
            page = Client().get(board).content.decode()
            table = csv.DictReader(io.StringIO(Client().get(f"{board}.csv").content.decode("utf-8-sig")))
            lines = {line["name"]: line for line in table}
            for one in finals:
                row, score = by_name[one.name], self.replay.score(one)
                assert row["team"] == lines[one.name]["team"] == f"Team {self.replay.team_of[one.who]:02d}"
                self.check_row(row, one, complete)
                assert lines[one.name]["rank"] == ("" if row["rank"] is None else str(row["rank"]))
                if score is not None:
                    assert percent(self.shown(row["score"], score), loss=False) in page
                    assert float(lines[one.name]["score"]) == row["score"]["value"]
            for language in LANGUAGES:
                self.check_language(subtask, language, finals)

    def shown(self, score: Any, expected: float | None) -> float | None:
        """The value of the replay or, while the site rounds it, the site's, which has to be near it."""
        if expected is None:
            return None
        assert is_shown(score, expected, exact=not self.private, rows=self.size.rows), (score, expected)
        return float(score["value"]) if self.private else expected

    def check_row(self, row: Any, one: Upload, complete: list[float | None]) -> None:
        score = self.shown(row["score"], self.replay.score(one))
        if score is None:
            assert (row["rank"], row["withheld"]) == (None, "incomplete")
            return
        known = [other for other in complete if other is not None]
        assert row["rank"] == 1 + sum(other > score + 1e-9 for other in known)
        if row["rank_low"] is not None:
            assert row["rank_low"] <= row["rank"] <= row["rank_high"] <= len(known)
        for language, value in self.replay.scores(one).items():
            self.shown(row["tasks"][f"test-{language}"]["score"], value)

    def check_language(self, subtask: int, language: str, finals: list[Upload]) -> None:
        rows = self.json(f"/benchmarks/polar-{subtask}/tasks/test-{language}.json")["rows"]
        expected = {one.name: self.replay.scores(one).get(language) for one in finals}
        scores = {name: score for name, score in expected.items() if score is not None}
        assert {row["name"] for row in rows} == {*scores}
        shown = {row["name"]: self.shown(row["score"], scores[row["name"]]) for row in rows}
        for row in rows:
            mine = shown[row["name"]] or 0.0
            assert row["rank"] == 1 + sum((other or 0) > mine + 1e-9 for other in shown.values())


pytestmark = pytest.mark.slow


@pytest.fixture
def rehearsed(request: pytest.FixtureRequest, db: None, clock: Clock, tmp_path: Path, settings: Any) -> Task:
    settings.MAIL_IS_SENT = True
    return Task(request.param, clock, tmp_path)


SMALL = Size((1,), people=4, teams=2, uploads=16, rows=12)
WHOLE = Size((1, 2, 3), people=40, teams=15, uploads=1000, rows=60)


@pytest.mark.parametrize("rehearsed", [SMALL, WHOLE], indirect=True, ids=["small", "whole"])
def test_a_shared_task_of_2026(rehearsed: Task, tmp_path: Path) -> None:
    task = rehearsed
    task.register()
    refused = Visitor(task.stranger).get("/benchmarks/polar-1/join").content.decode()
    assert "No affiliation." in refused
    uploads = task.uploads()
    develop(task, [one for one in uploads if one.at < EVALUATION])
    evaluate(task, [one for one in uploads if one.at >= EVALUATION])
    task.clock.now = END + timedelta(days=2)
    task.work()
    task.check_boards()
    appeal(task)
    release(task)
    announce(task)
    check_counts(task)
    assert not [check for check in integrity.examine(files=True) if not check.ok]
    frozen(task, tmp_path / "frozen")
    assert task.seen["late"] == len(task.size.subtasks)
    assert task.seen["refused"] > 0
    print(dict(task.seen))


def develop(task: Task, uploads: list[Upload]) -> None:
    """Everybody sees their own scores alone; there is no board."""
    for upload in uploads:
        task.send(upload)
    task.grade()
    for upload in task.replay.taken:
        mine = task.json(f"/api/v1/submissions/{upload.key}", upload.who)
        expected = task.replay.score(upload) if task.replay.is_valid(upload) else None
        assert mine["status"] == ("graded" if task.replay.is_valid(upload) else "invalid")
        if expected is not None:
            report = task.json(f"/api/v1/submissions/{upload.key}/report", upload.who)
            assert is_shown(report["score"], expected, exact=False, rows=task.size.rows)
        assert Client().get(f"/submissions/{upload.key}").status_code == 404
    for subtask in task.size.subtasks:
        assert task.json(f"/benchmarks/polar-{subtask}.json")["rows"] == []


def evaluate(task: Task, uploads: list[Upload]) -> None:
    """Test inputs come at their minute; registration and teams are closed; nobody sees a score."""
    file = "/benchmarks/polar-1/data/test/eng.tsv"
    dev, labels = (
        "/benchmarks/polar-1/data/dev/labels-eng.csv",
        "/benchmarks/polar-1/data/test/labels-eng.csv",
    )
    for moment, status in ((EVALUATION - timedelta(microseconds=1), 404), (EVALUATION, 200)):
        task.clock.now = moment
        assert [Client().get(path).status_code for path in (file, dev)] == [status, status]
        assert Client().get(labels).status_code == 404
    for subtask in task.size.subtasks:
        task.organize(subtask, "/limits", registration="invitation")
    newcomer = task.account("newcomer")
    form = {"version": version_of(Benchmark.objects.get(name="polar-1")), "affiliation": "x", "consent": "on"}
    page = Visitor(newcomer).post("/benchmarks/polar-1/join", form, follow=True)
    assert b"for people who were invited" in page.content
    link = f"/account/team/join/{teams_of(task.people[0])[None].code}"
    Visitor(newcomer).post(link)
    assert not teams_of(newcomer), "a team takes in nobody after 24 January"
    spam(task)
    for upload in uploads:
        if upload.at >= END:
            break
        task.send(upload)
    for upload in task.replay.taken:
        if task.replay.phase(upload) == "test" and upload.name in task.replay.graded:
            headers = {"Authorization": f"Bearer {task.secrets[upload.who]}"}
            hidden = Client().get(f"/api/v1/submissions/{upload.key}/report", headers=headers)
            assert hidden.status_code == 404
    task.clock.now = END
    assert task.json("/benchmarks/polar-1.json")["rows"] == []
    for upload in uploads:
        if upload.at >= END:
            task.send(upload)
    task.grade()


def spam(task: Task) -> None:
    """An account that was approved by mistake is blocked, and its entry goes."""
    number = task.size.people
    task.replay.team_of.append(task.size.teams)
    task.clock.now = EVALUATION + timedelta(hours=1)
    upload = task.upload(task.clock.now, number, 1, "test", broken=False, name="Buy now")
    answer = task.post(upload)
    assert answer.status_code == 201
    grade(Submission.objects.get(key=answer.json()["key"]).pk)
    task.organize(1, f"/participants/{task.spammer.pk}/block", reason="Spam.", entries="true")
    again = task.post(upload)
    assert (again.status_code, again.json()["type"]) == (403, "urn:gluebench:participation")


def appeal(task: Task) -> None:
    """Some test labels were wrong: they are fixed, and everything is graded by the new ones."""
    gold = task.replay.gold[1, "test", "eng"]
    for name in [*gold][: task.size.rows // 3]:
        gold[name] = tuple(1 - bit for bit in gold[name])
    before = task.json("/benchmarks/polar-1.json")
    store(task.prepared(1), by=task.grace, reason="Labels of English were wrong.")
    task.work()
    task.check_boards()
    after = task.json("/benchmarks/polar-1.json")
    values = [{row["name"]: row["score"] for row in board["rows"]} for board in (before, after)]
    assert values[0] != values[1]
    assert "Labels of English were wrong." in Client().get("/benchmarks/polar-1/changes").content.decode()


def release(task: Task) -> None:
    """The test labels are public after the competition: from now on scores are exact."""
    task.private = False
    for subtask in task.size.subtasks:
        store(task.prepared(subtask), by=task.grace, reason="The labels are public.")
    task.work()
    task.check_boards()


def announce(task: Task) -> None:
    """Results day: the winners get mail, the archive has the replay's table."""
    for subtask in task.size.subtasks:
        finals = [one for one in task.replay.finals(subtask) if task.replay.score(one) is not None]
        winners = {task.replay.team_of[one.who] for one in finals[:3]}
        members = [user for number, user in enumerate(task.people) if task.replay.team_of[number] in winners]
        mail.outbox.clear()
        chosen = ", ".join(str(user.pk) for user in members)
        words = {"title": "You are among the best", "text": "Please write your paper."}
        task.organize(subtask, "/participants/mail", to="chosen", people=chosen, **words)
        while deliver():
            pass
        reached = [one.to[0] for one in mail.outbox if words["title"] in f"{one.subject} {one.body}"]
        assert sorted(reached) == sorted(user.email for user in members)
        task.organize(subtask, "/results/announce", sure="true", labels="true", reason="Results day.")
    task.work()
    for subtask in task.size.subtasks:
        answer = Client().get(f"/benchmarks/polar-{subtask}/results.zip")
        data = b"".join(answer) if answer.streaming else answer.content
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            files = {name: archive.read(name).decode() for name in archive.namelist()}
        places = list(csv.DictReader(io.StringIO(files["places.csv"])))
        finals = [one for one in task.replay.finals(subtask) if task.replay.score(one) is not None]
        assert [line["score"] for line in places] == [
            percent(task.replay.score(one), loss=False) for one in finals
        ]
        assert {line["name"] for line in places} == {one.name for one in finals}
    assert Client().get("/benchmarks/polar-1/data/test/labels-eng.csv").status_code == 200


def check_counts(task: Task) -> None:
    """The organizers' lists and the participants' own have every file once."""
    browser = Visitor(task.grace)
    for subtask in task.size.subtasks:
        here = f"/benchmarks/polar-{subtask}/organize"
        text = browser.get(f"{here}/submissions.csv").content.decode("utf-8-sig")
        listed = Counter(line["name"] for line in csv.DictReader(io.StringIO(text)))
        sent = Counter(one.name for one in task.replay.taken if one.subtask == subtask)
        assert listed - Counter(["Buy now"]) == sent
        text = browser.get(f"{here}/participants.csv").content.decode("utf-8-sig")
        people = {line["account"]: line for line in csv.DictReader(io.StringIO(text))}
        for number, user in enumerate(task.people):
            mine = [one for one in task.replay.taken if (one.who, one.subtask) == (number, subtask)]
            line = people[str(user.pk)]
            team = f"Team {task.replay.team_of[number]:02d}"
            assert (line["entries"], line["standing"], line["team"]) == (str(len(mine)), "accepted", team)
    standings = Counter(Registration.objects.values_list("standing", flat=True))
    number = len(task.size.subtasks)
    assert standings["refused"] == number
    assert standings["blocked"] == 1


def frozen(task: Task, folder: Path) -> None:
    """The frozen copy has the board of each subtask, and verifies with the scores computed again."""
    names = [f"polar-{subtask}" for subtask in task.size.subtasks]
    freeze(folder, names)
    for name in names:
        shown = json.loads((folder / "benchmarks" / f"{name}.json").read_text())["rows"]
        assert shown == task.json(f"/benchmarks/{name}.json")["rows"]
    result = commands.verify(str(folder), None, None, None, recompute=True)
    assert result.findings == []
