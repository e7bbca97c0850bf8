"""Phases with tasks of their own: what is checked, graded and ranked, and every page, goes by the phase."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from leaderboard.material import GOLD, MANIFEST, PREDICTIONS, zip_bytes
from leaderboard.phased import BOARD, Clock, Make, Visitor
from leaderboard.sealing import catch_up

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import PolicyError, read_policy
from gluebench.leaderboard.apps.limits.acts import set_policy
from gluebench.leaderboard.apps.limits.phase_acts import phase_lines, save_phase
from gluebench.leaderboard.apps.phases.models import Phase, at_phase, on_board, whole
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.grading import follow_clock
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.keeping.freeze import freeze

API = f"/api/v1{BOARD}"
DEV, TEST = ["Refer"], ["Sim", "Para"]


def with_tasks(*names: str) -> bytes:
    """Perfect predictions of these tasks alone."""
    return zip_bytes({name: GOLD[name] for name in names})


@pytest.fixture
def course(clock: Clock, phase: Make, tiny: Benchmark) -> tuple[Phase, Phase]:
    """A development phase, which is open, and a test phase, each with tasks of its own."""
    clock.move("2027-05-10 00:00")
    development = phase("Development", "2027-05-01 00:00", "2027-05-31 23:59", tasks=DEV)
    return development, phase("Test", "2027-06-01 00:00", "2027-06-10 23:59", tasks=TEST)


def columns(client: Client, query: str = "") -> list[str]:
    return [column["task"] for column in client.get(f"{BOARD}.json{query}").json()["columns"]]


def test_a_submission_has_the_tasks_of_its_phase_and_is_complete_with_them(
    client: Client, course: tuple[Phase, Phase], clock: Clock, graded: Any
) -> None:
    first = graded(with_tasks(*DEV), name="Dev")
    assert (first.verdict, first.value, first.phase) == ("valid", 1.0, course[0])
    assert {name for name, task in first.report["tasks"].items() if task} == {*DEV}
    other = graded(with_tasks(*TEST), name="Of the other phase")
    assert other.verdict == "invalid"
    clock.move("2027-06-02 00:00")
    second = graded(with_tasks(*TEST), name="Test")
    assert (second.verdict, second.value, second.phase) == ("valid", 1.0, course[1])
    everything = graded(zip_bytes(PREDICTIONS), name="All tasks")
    assert {*everything.report["tasks"]} == {*TEST}
    assert client.get(BOARD).status_code == 200  # which shows the phase from now on
    page = client.get(f"/submissions/{second.key}").content.decode().partition("<main")[2]
    assert [name in page for name in ("Sim", "Para", "Refer")] == [True, True, False]


def test_boards_exports_and_the_interface_are_of_the_phase_that_the_address_names(
    client: Client, course: tuple[Phase, Phase], clock: Clock, graded: Any
) -> None:
    dev = f"?phase={course[0].pk}"
    graded(with_tasks(*DEV), name="Dev")
    assert columns(client) == DEV
    clock.move("2027-06-02 00:00")
    graded(with_tasks(*TEST), name="Test")
    assert columns(client) == TEST
    assert columns(client, dev) == DEV
    badges = [client.get(f"{BOARD}/badge.svg{query}").content.decode() for query in (dev, "", "?phase=99")]
    assert ["1 system, best 100.0" in badge for badge in badges] == [True, True, False]
    for form in ("csv", "tex", "md"):
        of_test, of_dev = (client.get(f"{BOARD}.{form}{query}").content.decode() for query in ("", dev))
        assert ("Dev" in of_dev, "Dev" in of_test) == (True, False)
    assert "Refer.accuracy" in client.get(f"{BOARD}.csv{dev}").content.decode()
    for path in ("/tasks/Refer", "/tasks/Refer.json", "/tasks/Refer.csv"):
        assert [client.get(f"{BOARD}{path}{query}").status_code for query in ("", dev)] == [404, 200]
    assert [row["name"] for row in client.get(f"{BOARD}/tasks/Refer.json{dev}").json()["rows"]] == ["Dev"]
    pages = ("/progress", "/efficiency", "/rules", "/pairs", "/health", "/compare", "/embed")
    files = ("/progress.json", "/pairs.csv", "/rules.json", "/health.json")
    for path in (*pages, *files):
        for query in ("", dev):
            assert client.get(f"{BOARD}{path}{query}").status_code == 200, path
        assert client.get(f"{BOARD}{path}?phase=999").status_code == 404, path
        assert client.get(f"{BOARD}{path}?phase=first").status_code == 404, path
    for query, name in (("", "Test"), (dev, "Dev")):
        progress = client.get(f"{BOARD}/progress.csv{query}").content.decode()
        assert (f",{name}," in progress, len(progress.splitlines())) == (True, 2)
    for path in ("/board", "/rules", "/pairs", "/health", "/efficiency"):
        assert client.get(f"{API}{path}{dev}").status_code == 200, path
    (row,) = client.get(f"{API}/board{dev}").json()["rows"]
    entry = f"{API}/entries/{row['key']}"
    assert [client.get(entry + query).status_code for query in ("", dev)] == [404, 200]
    facts = client.get(API).json()
    assert len(facts["tasks"]) == 5  # the benchmark's
    assert [file["task"] for file in facts["files"]] == TEST  # of a submission now
    assert "Its submissions have these tasks: Sim, Para." in facts["phases"][1]["sentences"]


def test_the_free_check_and_the_form_are_of_the_phase_that_a_file_would_be_for(
    ada: Any, course: tuple[Phase, Phase]
) -> None:
    owner = Visitor(ada)
    page = owner.get(f"{BOARD}/submit").content.decode()
    assert "Refer.tsv" in page
    assert "Sim.tsv" not in page
    upload = SimpleUploadedFile("p.zip", with_tasks(*DEV))
    answer = owner.post(f"{BOARD}/submit", {"upload": upload, "action": "check"})
    assert "The file is valid." in answer.content.decode()


def test_other_tasks_mean_another_grading_and_no_rank_until_it_is_done(
    course: tuple[Phase, Phase], graded: Any
) -> None:
    row = graded(zip_bytes(GOLD), name="All")
    phase = Phase.objects.get(pk=course[0].pk)
    phase.tasks = ["Para", "Refer"]
    save_phase(phase)
    row.refresh_from_db()
    assert (row.status, row.apart, row.value) == ("queued", "tasks", None)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert (row.status, row.apart, row.value) == ("graded", "", 1.0)
    assert {*row.report["tasks"]} == {"Para", "Refer"}


def test_an_entry_whose_file_is_gone_keeps_what_is_shown_of_it_after_a_change_of_tasks(
    client: Client, course: tuple[Phase, Phase], graded: Any
) -> None:
    row = graded(zip_bytes(GOLD), name="Gone")
    acts.forget_files(Submission.objects.filter(pk=row.pk))
    phase = Phase.objects.get(pk=course[0].pk)
    phase.tasks = ["Para"]
    save_phase(phase)
    phase.counting = "best"
    save_phase(phase)  # everything is shown again
    row.refresh_from_db()
    assert (row.status, row.apart, row.value, {*row.scores["tasks"]}) == ("graded", "tasks", None, {*DEV})
    here = row.get_absolute_url()
    for path in (
        BOARD,
        f"{BOARD}.json",
        f"{BOARD}.csv",
        here,
        f"{here}.json",
        f"{here}/detail",
        f"{API}/board",
    ):
        assert client.get(path).status_code == 200, path


def test_a_copy_of_the_benchmark_in_a_phase_goes_to_another_phase_and_back(
    course: tuple[Phase, Phase],
) -> None:
    benchmark = Benchmark.objects.get()
    development = at_phase(benchmark, course[0])
    assert [task.name for task in development.record.tasks] == DEV
    assert at_phase(development, course[0]).manifest == development.manifest
    assert [task.name for task in at_phase(development, course[1]).record.tasks] == TEST
    assert whole(development).record == benchmark.record
    assert [task.name for task in on_board(benchmark).record.tasks] == DEV
    assert development.record.name != benchmark.record.name


@pytest.mark.parametrize(
    ("tasks", "sentence"),
    [
        (["Reference"], "There is no task 'Reference'; expected some of Para, Sim, Infer, Refer, DX."),
        (["DX"], "None of these tasks is scored"),
    ],
)
def test_tasks_that_do_not_fit_are_refused(
    tiny: Benchmark, tmp_path: Path, tasks: list[str], sentence: str
) -> None:
    with pytest.raises(PolicyError, match=sentence):
        set_policy("tiny", policy_file(tmp_path, tasks))


def policy_file(folder: Path, tasks: list[str]) -> Any:
    file = folder / "policy.toml"
    file.write_text(f"[[phases]]\nname = 'Test'\nopens = 2027-05-01 00:00:00\ntasks = {tasks}\n")
    return read_policy(file)


def test_a_policy_file_names_tasks_and_prints_them(tiny: Benchmark, tmp_path: Path) -> None:
    set_policy("tiny", policy_file(tmp_path, TEST))
    assert Phase.objects.get().tasks == TEST
    assert 'tasks = ["Sim", "Para"]' in list(phase_lines(tiny))


def test_a_manifest_without_a_task_of_a_phase_is_refused(
    course: tuple[Phase, Phase], gold_folder: Path, tmp_path: Path
) -> None:
    text = MANIFEST.read_text()
    start, end = text.index("[tasks.Refer]"), text.index("[tasks.DX]")
    (tmp_path / "tiny.toml").write_text(text[:start] + text[end:])
    with pytest.raises(SiteError, match="The phase Development has the task Refer"):
        add_benchmark(str(tmp_path / "tiny.toml"), gold_folder)
    assert Benchmark.objects.get().manifest == text


def test_an_edit_of_the_tasks_in_the_database_is_found(course: tuple[Phase, Phase], graded: Any) -> None:
    catch_up()
    assert not [check for check in integrity.examine() if not check.ok]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE phases_phase SET tasks = '[]' WHERE name = 'Test'")
    (check,) = [check for check in integrity.examine() if not check.ok]
    assert f"phases {course[1].pk} of tiny" in check.state


def test_a_frozen_copy_releases_what_the_board_s_phase_was_graded_by(
    course: tuple[Phase, Phase], graded: Any, tmp_path: Path
) -> None:
    graded(with_tasks(*DEV), name="Dev")
    freeze(tmp_path / "copy", ["tiny"])
    assert not commands.verify(str(tmp_path / "copy"), recompute=True).findings
    assert Submission.objects.get().is_listed


def test_links_and_pairs_of_systems_stay_in_the_phase(
    client: Client, course: tuple[Phase, Phase], clock: Clock, graded: Any
) -> None:
    keys = [graded(with_tasks(*DEV), name=f"Dev {number}").key for number in range(2)]
    clock.move("2027-06-02 00:00")
    dev = f"?phase={course[0].pk}"
    for page in (BOARD, f"{BOARD}/progress", f"{BOARD}/rules", f"{BOARD}/pairs", f"{BOARD}/health"):
        links = re.findall(r'href="([^"]+)"', client.get(page + dev).content.decode())
        of_board = [
            link for link in links if re.search(r"/(progress|pairs|rules|health)(\.\w+)?(\?|$)", link)
        ]
        assert of_board
        assert not [link for link in of_board if not link.endswith(dev)], page
    # Their keys say which phase two systems are of.
    address = f"{BOARD}/compare?a={keys[0]}&b={keys[1]}"
    assert client.get(address).status_code == 200
    assert client.get(f"{BOARD}/compare?pin={keys[0]}&pin={keys[1]}", follow=True).status_code == 200
    Phase.objects.filter(pk=course[0].pk).update(shown="date", shown_from="2999-01-01T00:00Z")
    follow_clock(course[0].benchmark)
    assert client.get(address).status_code == 404


def test_a_frozen_copy_has_the_board_of_a_phase_to_which_nobody_sent_anything(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, tmp_path: Path
) -> None:
    clock.move("2027-06-02 00:00")
    graded(with_tasks(*TEST), name="Test")
    freeze(tmp_path / "copy", ["tiny"])
    assert not commands.verify(str(tmp_path / "copy"), recompute=True).findings
    rows = (tmp_path / "copy" / f"benchmarks/tiny@phase={course[0].pk}.json").read_text()
    assert '"rows": []' in rows.replace('"rows":[]', '"rows": []')
