"""A shared task from three CSV files to its frozen copy, by people who have browsers and no shell."""

from __future__ import annotations

import csv
import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS
from leaderboard.moved_clock import MovedClock
from leaderboard.organizer import Person
from leaderboard.served import Served
from leaderboard.test_organize_browser import ADMIN

pytestmark = [*MARKS, pytest.mark.slow]

MOST_SECONDS = 600
AOE = timedelta(hours=12)
WORDS = [
    "bright",
    "calm",
    "clean",
    "cold",
    "damp",
    "dark",
    "fresh",
    "loud",
    "plain",
    "quiet",
    "small",
    "warm",
]
TAGS = ("Logic: Conjunction", "Logic: Negation; Lexicon: Time", "Logic: Negation")
DIAGNOSTIC = range(300, 360)
HEADER = ["premise", "hypothesis", "label"]


def pair(at: int) -> tuple[str, str, str]:
    """A made sentence pair and its label."""
    one, other = WORDS[at % 12], WORDS[at // 12 % 12]
    if at % 3 == 0:
        return f"Room {at} is {one} and {other}.", f"Room {at} is {other}.", "yes"
    return f"Room {at} is {one}.", f"Room {at} is not {one}" + (" at night." if at % 3 == 1 else "."), "no"


def write_tables(folder: Path) -> list[str]:
    """Write train.csv, dev.csv, test.csv and diagnostic.csv; the labels of the test rows."""
    spans = {"train": range(120), "dev": range(120, 160), "test": range(160, 260)}
    for name, span in spans.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *map(pair, span)])
    with (folder / "diagnostic.csv").open("w", newline="") as file:
        rows = [(*pair(at), TAGS[at % 3]) for at in DIAGNOSTIC]
        csv.writer(file).writerows([[*HEADER, "phenomena"], *rows])
    return [pair(at)[2] for at in spans["test"]]


@pytest.fixture
def clock(tmp_path: Path) -> MovedClock:
    return MovedClock(tmp_path / "clock")


@pytest.fixture
def site(tmp_path: Path, clock: MovedClock) -> Iterator[Served]:
    site = Served(tmp_path / "site", environment=clock.environment)
    yield site
    site.stop()


class Task:
    """The shared task as it goes on."""

    def __init__(self, chromium: Any, site: Served, clock: MovedClock, folder: Path) -> None:
        self.site, self.clock, self.folder, self.chromium = site, clock, folder, chromium
        self.gold = write_tables(folder)
        self.people: dict[str, Person] = {}

    def person(self, name: str) -> Person:
        """A new person at a browser of their own."""
        self.people[name] = Person(self.chromium, self.site.url, name, accept_downloads=True)
        self.people[name].page.goto("/")
        return self.people[name]

    def predictions(self, wrong: int) -> Path:
        """A zip of predictions of which every so many-th is wrong."""
        path = self.folder / f"wrong-{wrong}.zip"
        flipped, labels = {"yes": "no", "no": "yes"}, [pair(at)[2] for at in DIAGNOSTIC]
        with zipfile.ZipFile(path, "w") as archive:
            for name, gold in (("rooms", self.gold), ("rooms-diagnostic", labels)):
                rows = [flipped[label] if at % wrong == 0 else label for at, label in enumerate(gold)]
                text = "".join(f"{at}\t{label}\n" for at, label in enumerate(rows))
                archive.writestr(f"{name}.tsv", f"index\tprediction\n{text}")
        return path


def create(task: Task, grace: Person) -> None:
    """From tables to a rehearsed draft."""
    password = task.site.python(ADMIN, str(task.site.folder)).split()[-1]
    grace.look("01-empty-site")
    grace.click("link", "Sign in", "header")
    grace.fill("Email", "root@example.org")
    grace.fill("Password", password)
    grace.click("button", "Sign in")
    grace.look("02-signed-in")
    grace.click("link", "Organize")
    grace.click("link", "New benchmark")
    grace.look("03-new")
    grace.fill("Name", "rooms")
    grace.fill("Title", "Rooms 2027")
    names = ("train", "dev", "test", "diagnostic")
    grace.choose("Tables with labels", *(task.folder / f"{name}.csv" for name in names))
    grace.click("button", "Look at it first")
    grace.sees("Detected in rooms")
    grace.look("04-preview")
    grace.click("button", "Create as a draft")
    grace.look("05-setup")
    grace.click("button", "Start a dry run")
    grace.look("06-dry-run-waits")
    expected = grace.page.get_by_text("as expected", exact=True)
    until(lambda: expected.count() == 3)
    grace.look("07-dry-run")


def until(done: Callable[[], bool], seconds: float = 120) -> None:
    """Wait until it is done: the page shows it by itself."""
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.5)


def describe(grace: Person) -> None:
    """Texts, limits and rules."""
    grace.click("link", "Texts")
    grace.fill("Overview", "Does a sentence follow from what guests say of **rooms**?")
    grace.fill("Rules", "- No hand labeling of the test set.\n- Teams describe their system.")
    grace.look("08-texts")
    grace.click("button", "Save")
    grace.click("link", "Limits and feedback")
    grace.check("Ask people to accept the rules before they submit")
    grace.check("a team (people without one count for themselves)")
    grace.look("09-limits")
    grace.click("button", "Save")
    grace.look("10-limits-saved")


def schedule(task: Task, grace: Person) -> list[datetime]:
    """Three phases; the moments in UTC at which each opens and closes."""
    day = task.clock.now.replace(hour=0, minute=0, second=0, microsecond=0)
    starts = [day, day + timedelta(days=3), day + timedelta(days=8)]
    ends = [day + timedelta(days=2, hours=18, minutes=30), day + timedelta(days=5, hours=23, minutes=59)]
    form = "%Y-%m-%dT%H:%M"
    grace.click("link", "Phases")
    grace.look("11-phases-empty")
    grace.fill("Name", "Development")
    grace.fill("Opens", starts[0].strftime(form))
    grace.fill("Closes", ends[0].strftime(form))
    grace.check("the best one")
    grace.click("button", "Preview what participants read")
    grace.look("12-phase-preview")
    grace.click("button", "Add")
    grace.sees("Development is saved.")
    grace.fill("Name", "Test")
    grace.fill("Time zone", "AoE")
    grace.fill("Opens", starts[1].strftime(form))
    grace.fill("Closes", ends[1].strftime(form))
    grace.check("those that its author chooses")
    grace.check("with the systems' names from its start, with scores once it is closed")
    grace.click("button", "Add")
    grace.sees("Test is saved.")
    grace.fill("Name", "Post-evaluation")
    grace.fill("Opens", starts[2].strftime(form))
    grace.check("from its start, beside the board of the phase before it")
    grace.click("button", "Add")
    grace.sees("Post-evaluation is saved.")
    grace.look("13-phases")
    grace.click("link", "Setup")
    grace.click("button", "Open to the public")
    grace.look("14-open")
    return [starts[0], ends[0], starts[1] + AOE, ends[1] + AOE, starts[2] + AOE]


def join(task: Task, name: str, invitation: str = "") -> Person:
    """Sign up and accept the rules; in a team by its invitation, if there is one."""
    person = task.person(name)
    if invitation:
        person.page.goto(invitation)
    else:
        person.look(f"20-{name}-home")
        person.page.get_by_role("link", name="Rooms 2027").first.click()
        person.look(f"21-{name}-board")
        person.click("link", "Submit predictions")
    person.page.locator("main").get_by_role("link", name="Sign up").click()
    person.fill("Email address", f"{name}@example.org")
    person.fill("Password", "a long password")
    person.click("button", "Sign up")
    return person


def start_team(person: Person, team: str) -> str:
    """Start a team; the address of its invitation."""
    person.click("link", "Account", "header")
    person.click("link", "Team", "main")
    person.fill("Name", team)
    person.click("button", "Start the team")
    person.look(f"23-team-{team}")
    return str(person.page.get_by_label("Link").input_value())


def accept_rules(person: Person) -> None:
    person.page.get_by_role("link", name="accept the rules").click()
    person.look(f"22-{person.name}-rules")
    person.click("button", "Accept the rules")


def submit(task: Task, person: Person, name: str, wrong: int) -> str:
    """Send a file; the address of its page."""
    person.page.goto("/benchmarks/rooms")
    person.click("link", "Submit predictions")
    person.choose("Submission", task.predictions(wrong))
    person.fill("Name", name)
    person.fill("Model", "a model")
    person.look(f"30-submit-{name}")
    person.click("button", "Submit")
    person.page.get_by_role("heading", name=name).wait_for()
    person.page.locator("#progress").wait_for(state="detached")  # the page changes by itself
    person.look(f"31-sent-{name}")
    return str(person.page.url)


def scores(task: Task, query: str = "") -> list[str]:
    """The names on a board in their order."""
    return [row["name"] for row in task.site.json(f"/benchmarks/rooms.json{query}")["rows"]]


def run_phases(task: Task, grace: Person, times: list[datetime]) -> None:
    """Two teams through three phases and a deadline."""
    ada = join(task, "ada")
    accept_rules(ada)
    bob = join(task, "bob", start_team(ada, "Owls"))
    bob.look("24-bob-invited")
    bob.click("button", "Join Owls")
    cleo = join(task, "cleo")
    accept_rules(cleo)
    dan = join(task, "dan", start_team(cleo, "Larks"))
    dan.click("button", "Join Larks")
    for person in (bob, dan):
        person.page.goto("/benchmarks/rooms/submit")
        accept_rules(person)
    ada.page.goto("/benchmarks/rooms/submit")
    assert ada.page.get_by_label("Team").input_value() == "Owls"
    submit(task, ada, "Owl dev", 10)
    submit(task, cleo, "Lark dev", 20)
    assert scores(task) == ["Lark dev", "Owl dev"]
    grace.page.goto("/benchmarks/rooms")
    grace.look("40-board-development")

    task.clock.set(times[1] + timedelta(minutes=1, seconds=1))
    address = submit(task, bob, "Owl late", 50)
    assert "after the deadline" in bob.page.locator("main").inner_text()
    assert scores(task) == ["Lark dev", "Owl dev"], address
    grace.page.goto("/benchmarks/rooms/organize")
    grace.look("41-late-seen-by-organizer")

    task.clock.set(times[2] + timedelta(hours=1))
    submit(task, ada, "Owl test A", 9)
    submit(task, bob, "Owl test B", 25)
    bob.click("button", "Let it count")
    bob.look("42-chosen")
    assert "does not show the scores of the phase Test yet" in bob.page.locator("#standing").inner_text()
    submit(task, cleo, "Lark test", 15)
    submit(task, dan, "Lark test 2", 12)
    grace.page.goto("/benchmarks/rooms")
    grace.look("43-board-test-hidden")
    task.clock.set(times[3] - timedelta(seconds=20))
    assert scores(task)[:2] != ["Owl test B", "Lark test"]
    task.clock.set(times[3] + timedelta(minutes=1, seconds=1))
    until(lambda: scores(task) == ["Owl test B", "Lark test"])
    grace.page.goto("/benchmarks/rooms")
    grace.look("44-board-test")
    ada.page.goto("/benchmarks/rooms")
    ada.look("45-board-test-ada")


def finish(task: Task, grace: Person, times: list[datetime]) -> Path:
    """Announce, let the last phase begin, make the results, and read their archive."""
    grace.page.goto("/")
    grace.click("link", "My submissions", "header")
    grace.look("50-my-submissions")
    grace.click("link", "Rooms 2027")
    grace.click("link", "News")
    grace.fill("Title", "The test phase is over")
    grace.fill("Text", "Thank you. Results come **soon**.")
    grace.click("button", "Preview")
    grace.look("51-news-preview")
    grace.click("button", "Publish")
    grace.look("52-news")
    task.clock.set(times[4] + timedelta(hours=1))
    submit(task, task.people["dan"], "Lark after", 40)
    task.people["dan"].click("button", "Publish it on the board")
    grace.click("link", "Results")
    grace.look("53-results-day")
    grace.check("Publish the test labels in the archive")
    grace.check("No more submissions are taken from now on")
    grace.click("button", "Close and make the results")
    grace.look("54-results-waits")
    until(lambda: grace.page.get_by_role("link", name="final results").count() > 0)
    grace.look("55-results-made")
    grace.click("link", "final results")
    grace.look("56-results-public")
    with grace.page.expect_download() as download:
        grace.click("link", "Download the archive")
    path = task.folder / "results.zip"
    download.value.save_as(path)
    task.people["ada"].page.goto("/benchmarks/rooms")
    task.people["ada"].look("57-board-at-the-end")
    task.people["ada"].sees("The organizers published the test labels")
    after = task.people["ada"].page.get_by_role("link", name="Board of Post-evaluation").get_attribute("href")
    assert scores(task) == ["Owl test B", "Lark test"]
    assert scores(task, after[after.index("?") :]) == ["Lark after"]
    return path


def read(archive: Path) -> None:
    """The archive says who is first, and has the labels that were to be published."""
    with zipfile.ZipFile(archive) as opened:
        files = {name.rpartition("/")[2]: opened.read(name).decode() for name in opened.namelist()}
    rows = list(csv.DictReader(io.StringIO(files["table.csv"])))
    assert [(row["name"], row["team"]) for row in rows] == [("Owl test B", "Owls"), ("Lark test", "Larks")]
    assert files["rooms.tsv"].count("yes") == 33


def freeze(task: Task, grace: Person) -> None:
    """Make and download a frozen copy, which verifies with the ranks of the board."""
    grace.page.goto("/benchmarks/rooms/organize/results")
    grace.look("58-results-to-freeze")
    grace.click("link", "make a frozen copy")
    grace.check("With the test labels and the files that the public systems were scored on")
    grace.look("59-frozen-copy")
    grace.click("button", "Make the copy")
    grace.look("60-frozen-copy-waits")
    until(lambda: grace.page.get_by_role("link", name="Download the copy").count() > 0)
    grace.look("61-frozen-copy-made")
    with grace.page.expect_download() as download:
        grace.click("link", "Download the copy")
    path = task.folder / "frozen.zip"
    download.value.save_as(path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(task.folder)
    copy = task.folder / "rooms-frozen"
    code = "from gluebench.__main__ import main; main()"
    assert "Nothing was altered." in task.site.python(code, "leaderboard", "verify", str(copy), "--recompute")
    shown = json.loads((copy / "benchmarks" / "rooms.json").read_text())["rows"]
    assert [row["name"] for row in shown] == ["Owl test B", "Lark test"]
    grace.page.goto((copy / "index.html").as_uri())
    grace.look("62-frozen")
    grace.page.get_by_role("link", name="Owl test B", exact=True).wait_for()


def test_a_shared_task_is_run_from_browsers(
    chromium: Any, site: Served, clock: MovedClock, tmp_path: Path
) -> None:
    task = Task(chromium, site, clock, tmp_path)
    grace = task.person("grace")
    start = time.monotonic()
    create(task, grace)
    describe(grace)
    times = schedule(task, grace)
    run_phases(task, grace, times)
    read(finish(task, grace, times))
    freeze(task, grace)
    print(f"walked in {time.monotonic() - start:.0f} s")
    for person in task.people.values():
        print(person.report())
    assert grace.seconds <= MOST_SECONDS
