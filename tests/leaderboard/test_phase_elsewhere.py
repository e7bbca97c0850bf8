"""Phases that use another benchmark's tasks: they are checked, graded, shown and released by that one's."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from leaderboard.material import GOLD, MANIFEST, tsv, write_gold, zip_bytes
from leaderboard.phased import BOARD, Clock, Make, Visitor
from leaderboard.sealing import catch_up

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import PolicyError, read_policy
from gluebench.leaderboard.apps.ledger.views import receipt_of
from gluebench.leaderboard.apps.limits.acts import set_policy
from gluebench.leaderboard.apps.limits.phase_acts import phase_lines, save_phase
from gluebench.leaderboard.apps.limits.phase_forms import PhaseForm
from gluebench.leaderboard.apps.organizing.acts import make_draft, open_to_participants, open_to_public
from gluebench.leaderboard.apps.organizing.copies import request_copy
from gluebench.leaderboard.apps.phases.models import Phase, at_phase, tasks_of, whole
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.results.acts import announce
from gluebench.leaderboard.apps.results.pack import pack
from gluebench.leaderboard.apps.similarity.similar import near, read_some, renew
from gluebench.leaderboard.apps.submissions import grading
from gluebench.leaderboard.apps.submissions.feedback import key_now
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.keeping import integrity
from gluebench.leaderboard.keeping.folder import SiteError
from gluebench.leaderboard.keeping.freeze import freeze
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.submission import check

API = f"/api/v1{BOARD}"
TASKS = ["Extra", "Para"]
LABELS: dict[str, Sequence[str]] = {"Para": "010011", "Extra": "1101"}
"""Of the other benchmark: one task has the name of one of this one's, and other labels; one is its own."""
ANSWERS: dict[str, Sequence[str]] = {"Para": "010001", "Extra": "1100"}
ALL: dict[str, Sequence[str]] = {**GOLD, "Extra": "0100"}
"""This benchmark's labels, and answers to the other one's own task."""


class Other:
    """The other benchmark on the site, and its files."""

    def __init__(self, folder: Path) -> None:
        self.manifest = folder / "other.toml"
        text = MANIFEST.read_text()
        task = text[text.index("[tasks.Refer]") : text.index("[tasks.DX]")].replace("Refer]", "Extra]")
        head = f'[benchmark]\nname = "other"\ntitle = "Other data"\nextends = "{MANIFEST}"'
        self.manifest.write_text(f"{head}\ntasks = {TASKS}\n{task}")
        self.gold = write_gold(folder / "other-gold")
        for path in self.gold.glob("*.tsv"):
            path.unlink()
        self.label(LABELS)

    def label(self, labels: Mapping[str, Sequence[str]]) -> None:
        for name, values in labels.items():
            (self.gold / f"{name}.tsv").write_text(tsv(values, "label"))
        add_benchmark(str(self.manifest), self.gold)

    def score(self, answers: Mapping[str, Sequence[str]], folder: Path) -> float:
        """The score of a file of predictions, of the grader alone."""
        benchmark = load_benchmark(str(self.manifest))
        file = folder / "alone.zip"
        file.write_bytes(zip_bytes(answers))
        report = grade(check(file, benchmark), read_gold(self.gold, benchmark))
        score = rounded_report(report, benchmark).score
        assert score is not None
        assert score.value is not None
        return score.value


@pytest.fixture
def other(tiny: Benchmark, tmp_path: Path) -> Other:
    return Other(tmp_path)


@pytest.fixture
def course(clock: Clock, phase: Make, other: Other) -> tuple[Phase, Phase]:
    """A phase with the benchmark's own tasks, which is open, then one with the other benchmark's."""
    clock.move("2027-05-10 00:00")
    own = phase("Own", "2027-05-01 00:00", "2027-05-31 23:59")
    owner = Benchmark.objects.get(name="other")
    return own, phase("Elsewhere", "2027-06-01 00:00", "2027-06-10 23:59", tasks_of=owner)


def columns(client: Client, query: str = "") -> list[str]:
    return [column["task"] for column in client.get(f"{BOARD}.json{query}").json()["columns"]]


def test_a_submission_is_checked_and_graded_by_the_other_benchmark(
    client: Client, course: tuple[Phase, Phase], clock: Clock, graded: Any, other: Other, tmp_path: Path
) -> None:
    own = graded(zip_bytes(GOLD), name="Own")
    assert own.value == 1.0
    clock.move("2027-06-02 00:00")
    row = graded(zip_bytes(ANSWERS), name="Elsewhere")
    assert (row.verdict, row.phase) == ("valid", course[1])
    assert row.value == pytest.approx(other.score(ANSWERS, tmp_path))
    assert {*row.report["tasks"]} == {*TASKS}
    mine = graded(zip_bytes(ALL), name="Labels of this one")
    assert mine.value == pytest.approx(other.score(ALL, tmp_path))
    keys = [key_now(one.benchmark, one) for one in course]
    assert keys[0].difference(keys[1]) == "labels"
    assert key_now(Benchmark.objects.get(name="other"), None) == keys[1]  # the same data there
    assert client.get("/benchmarks/other.json").json()["rows"] == []  # entries are of the phase's board


def test_a_benchmark_whose_tasks_everybody_sees_in_a_phase_is_not_hidden(
    course: tuple[Phase, Phase], person: Callable[[str], Any]
) -> None:
    borrower, lender = course[1].benchmark, Benchmark.objects.get(name="other")
    admin = person("admin@example.org")
    for hide in (make_draft, open_to_participants):
        with pytest.raises(ActError, match=r"^The phase Elsewhere of .*, uses its tasks\. Change that phase"):
            hide(lender, admin)
    lender.refresh_from_db()
    assert lender.is_public

    make_draft(borrower, admin)
    make_draft(lender, admin)
    for show in (open_to_public, open_to_participants):
        assert show(lender, admin)
    with pytest.raises(ActError, match=r"^Its phase Elsewhere uses the tasks of Other data, which not"):
        open_to_public(borrower, admin)
    open_to_public(lender, admin)
    open_to_public(borrower, admin)


def test_every_page_and_file_of_the_phase_has_the_other_tasks(
    client: Client, course: tuple[Phase, Phase], clock: Clock, graded: Any, person: Callable[[str], Any]
) -> None:
    graded(zip_bytes(GOLD), name="Own")
    clock.move("2027-06-02 00:00")
    key = graded(zip_bytes(ANSWERS), name="Elsewhere").key
    own = f"?phase={course[0].pk}"
    assert client.get(BOARD).status_code == 200  # which shows the phase from now on
    assert columns(client) == TASKS
    assert columns(client, own) == ["Para", "Sim", "Infer", "Infer", "Refer"]
    for path in ("/tasks/Sim", "/tasks/Sim.json"):
        assert [client.get(f"{BOARD}{path}{query}").status_code for query in ("", own)] == [404, 200]
    for path in ("/diagnostics/DX", "/diagnostics/DX.json"):
        assert [client.get(f"{BOARD}{path}{query}").status_code for query in ("", own)] == [404, 200]
    assert client.get(f"{API}/diagnostics/DX").status_code == 404
    assert client.get(f"{API}/diagnostics/DX{own}").status_code == 200
    for path in ("/progress", "/efficiency", "/rules", "/pairs", "/health", "/compare", "/embed"):
        assert client.get(BOARD + path).status_code == 200, path
    assert b"Other data" in client.get(f"{BOARD}/tasks/Para").content
    (row,) = client.get(f"{API}/board").json()["rows"]
    assert (row["key"], row["name"]) == (key, "Elsewhere")
    assert client.get(f"{BOARD}.csv").content.decode().count("Sim") == 0
    assert client.get(f"/submissions/{key}").status_code == 200
    visitor = Visitor(person("ann@example.org"))
    Benchmark.objects.get(name="tiny").organizers.add(visitor.user)
    lines = csv.DictReader(io.StringIO(visitor.get(f"{BOARD}/organize/submissions.csv").content.decode()))
    assert {line["name"]: line["Extra"] != "" for line in lines} == {"Own": False, "Elsewhere": True}


def test_people_read_where_the_data_are(ada: Any, course: tuple[Phase, Phase], clock: Clock) -> None:
    visitor = Visitor(ada)
    page = visitor.get(f"{BOARD}/data").content.decode()
    assert 'The phase Elsewhere uses the tasks of Other data: <a href="/benchmarks/other/data">' in page
    (line,) = visitor.get(f"{BOARD}/data.json").json()["elsewhere"]
    assert line == {
        "phase": "Elsewhere",
        "benchmark": "other",
        "title": "Other data",
        "url": "/benchmarks/other/data",
    }
    assert "Sim.tsv" in visitor.get(f"{BOARD}/submit").content.decode()
    clock.move("2027-06-02 00:00")
    page = visitor.get(f"{BOARD}/submit").content.decode()
    assert "Sim.tsv" not in page
    assert "--benchmark http://testserver/benchmarks/other<" in page
    facts = visitor.get(API).json()
    assert [file["task"] for file in facts["files"]] == TASKS
    assert [one["tasks_of"] for one in facts["phases"]] == [None, "other"]
    there = Benchmark.objects.get(name="other")
    in_phase = visitor.get(f"{API}?phase={course[1].pk}").json()
    assert (in_phase["manifest"], in_phase["parents"]) == (there.manifest, there.parents)
    assert [task["name"] for task in in_phase["tasks"]] == TASKS
    assert {file["url"].partition("/data/")[0] for file in in_phase["data"]} == {"/benchmarks/other"}
    assert (facts["manifest"], len(facts["tasks"])) == (Benchmark.objects.get(name="tiny").manifest, 5)
    assert visitor.get(f"{API}?phase=99").status_code == 404
    assert "It uses the tasks and test rows of Other data." in facts["phases"][1]["sentences"]


def test_some_of_the_other_benchmark_s_tasks(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, other: Other
) -> None:
    row = Phase.objects.get(pk=course[1].pk)
    row.tasks = ["Extra"]
    save_phase(row)
    clock.move("2027-06-02 00:00")
    sent = graded(zip_bytes({"Extra": "1101"}), name="One task")
    assert (sent.verdict, sent.value, {*sent.report["tasks"]}) == ("valid", 1.0, {"Extra"})
    benchmark = Benchmark.objects.get(name="tiny")
    there = at_phase(benchmark, row)
    assert [task.name for task in there.record.tasks] == ["Extra"]
    assert there.gold == Benchmark.objects.get(name="other").gold
    assert (whole(there), tasks_of(there).name, tasks_of(benchmark)) == (benchmark, "other", benchmark)
    assert at_phase(there, course[0]).gold == benchmark.gold


def test_new_labels_there_mean_another_grading_here(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, other: Other, tmp_path: Path
) -> None:
    own = graded(zip_bytes(GOLD), name="Own")
    clock.move("2027-06-02 00:00")
    row = graded(zip_bytes(ANSWERS), name="Elsewhere")
    before = row.value
    other.label({"Para": "110111"})
    row.refresh_from_db()
    own.refresh_from_db()
    assert (row.status, row.apart, row.value) == ("queued", "labels", None)
    assert (own.status, own.value) == ("graded", 1.0)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert (row.status, row.apart) == ("graded", "")
    assert row.value == pytest.approx(other.score(ANSWERS, tmp_path))
    assert row.value != before


def test_labels_that_change_while_it_is_graded_mean_another_grading(
    course: tuple[Phase, Phase],
    clock: Clock,
    send: Any,
    other: Other,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock.move("2027-06-02 00:00")
    row = send(zip_bytes(ANSWERS), name="Elsewhere")
    run = grading.run_grader

    def changed_meanwhile(*arguments: Any, **options: Any) -> Any:
        result = run(*arguments, **options)
        monkeypatch.setattr(grading, "run_grader", run)
        other.label({"Para": "110111"})
        return result

    monkeypatch.setattr(grading, "run_grader", changed_meanwhile)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert row.status == "queued"
    grading.grade(row.pk)
    row.refresh_from_db()
    assert row.value == pytest.approx(other.score(ANSWERS, tmp_path))


def test_a_phase_that_goes_to_other_tasks_is_graded_again(
    course: tuple[Phase, Phase], graded: Any, other: Other, tmp_path: Path
) -> None:
    row = graded(zip_bytes(ALL), name="Own")
    phase = Phase.objects.get(pk=course[0].pk)
    phase.tasks_of = Benchmark.objects.get(name="other")
    save_phase(phase)
    row.refresh_from_db()
    assert (row.status, row.apart, row.value) == ("queued", "labels", None)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert row.value == pytest.approx(other.score(ALL, tmp_path))
    phase.tasks_of = None
    save_phase(phase)
    grading.grade(row.pk)
    row.refresh_from_db()
    assert (row.value, row.apart) == (1.0, "")


@pytest.mark.parametrize("change", ["no labels", "no task"])
def test_the_other_benchmark_keeps_what_the_phase_needs(
    course: tuple[Phase, Phase], other: Other, change: str
) -> None:
    gold: Path | None = other.gold
    if change == "no labels":
        gold, sentence = None, "The phase Elsewhere of A tiny benchmark uses its labels"
    else:
        row = Phase.objects.get(pk=course[1].pk)
        row.tasks = ["Para"]
        save_phase(row)
        other.manifest.write_text(other.manifest.read_text().replace(", 'Para'", ""))
        sentence = "The phase Elsewhere of A tiny benchmark has the task Para, which the new manifest lacks"
    before = Benchmark.objects.get(name="other").manifest
    with pytest.raises(SiteError, match=sentence):
        add_benchmark(str(other.manifest), gold)
    assert Benchmark.objects.get(name="other").manifest == before


def test_labels_of_a_benchmark_that_uses_another_one_s_stay_here(course: tuple[Phase, Phase]) -> None:
    with pytest.raises(SiteError, match="The phase Elsewhere is graded with labels on this site"):
        add_benchmark(str(MANIFEST), None)
    assert Benchmark.objects.get(name="tiny").gold


def form_errors(row: Phase | None = None, **values: str) -> Mapping[str, Any]:
    row = row or Phase(benchmark=Benchmark.objects.get(name="tiny"))
    sent = {"name": "Test", "opens": "2027-06-01 00:00", "zone": "UTC", "rows": "all", "shown": "always"}
    sent |= {"counting": "every", "most": "1", "otherwise": "best", "late": "kept"}
    return PhaseForm(row, sent | values).errors


def test_only_benchmarks_of_the_same_organizers_and_readers_are_offered(
    tiny: Benchmark, other: Other, person: Callable[[str], Any]
) -> None:
    benchmark, owner = Benchmark.objects.get(name="tiny"), Benchmark.objects.get(name="other")
    ann, bob = person("ann@example.org"), person("bob@example.org")
    assert not form_errors(tasks_of="other")  # only admins run both
    refused = "other is no benchmark whose tasks a phase of this one may use"
    benchmark.organizers.add(ann, bob)
    owner.organizers.add(ann)
    assert refused in form_errors(tasks_of="other")["tasks_of"][0]
    owner.organizers.add(bob)
    assert not form_errors(tasks_of="other")
    for hidden in ("draft", "restricted"):
        Benchmark.objects.filter(pk=owner.pk).update(**{hidden: True})
        assert refused in form_errors(tasks_of="other")["tasks_of"][0]
        Benchmark.objects.filter(pk=benchmark.pk).update(draft=True)
        assert not form_errors(tasks_of="other")
        Benchmark.objects.filter(pk=benchmark.pk).update(draft=False)
        Benchmark.objects.filter(pk=owner.pk).update(**{hidden: False})
    assert form_errors(tasks_of="tiny")["tasks_of"]
    assert form_errors(tasks_of="nothing")["tasks_of"]
    assert form_errors(tasks_of="other", tasks="Sim")["tasks"] == [
        "There is no task 'Sim'; expected some of Extra, Para."
    ]


def test_phases_with_the_same_labels_have_the_same_public_share(course: tuple[Phase, Phase]) -> None:
    Phase.objects.filter(pk=course[1].pk).update(rows="both", share=0.5)
    there = Phase(benchmark=Benchmark.objects.get(name="other"), name="Test")
    shares = {"rows": "public", "share": "0.3", "opens": "2028-06-01 00:00"}
    assert "The phase Elsewhere has 0.5" in form_errors(there, **shares)["share"][0]
    assert not form_errors(there, **shares | {"share": "0.5"})
    assert not form_errors(**shares)  # of this benchmark's own labels
    assert form_errors(**shares, tasks_of="other")["share"]


def test_an_organizer_chooses_it_in_the_browser_and_reads_what_follows(
    course: tuple[Phase, Phase], person: Callable[[str], Any]
) -> None:
    ann = person("ann@example.org")
    for benchmark in Benchmark.objects.all():
        benchmark.organizers.add(ann)
    visitor = Visitor(ann)
    page = f"{BOARD}/organize/phases/{course[1].pk}"
    assert '<option value="other" selected>Other data</option>' in visitor.get(page).content.decode()
    sent = {"name": "Elsewhere", "opens": "2027-06-01 00:00", "closes": "2027-06-10 23:59", "zone": "UTC"}
    sent |= {"rows": "all", "shown": "always", "counting": "every", "most": "1", "otherwise": "best"}
    sent |= {"late": "kept", "tasks_of": "other", "tasks": "Extra", "reason": "Fewer"}
    page_there = visitor.get("/benchmarks/other/organize/phases").content.decode()
    assert 'The phase Elsewhere of <a href="/benchmarks/tiny">A tiny benchmark</a> uses' in page_there
    preview = visitor.post(page, sent | {"act": "preview"}).content.decode()
    assert "It uses the tasks and test rows of Other data." in preview
    assert visitor.post(page, sent).status_code == 302
    row = Phase.objects.get(pk=course[1].pk)
    assert (row.tasks, row.tasks_of and row.tasks_of.name) == (["Extra"], "other")


def test_labels_are_published_by_those_alone_who_organize_their_benchmark(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, person: Callable[[str], Any]
) -> None:
    clock.move("2027-06-02 00:00")
    graded(zip_bytes(ANSWERS), name="Elsewhere")
    benchmark = Benchmark.objects.get(name="tiny")
    ann, bob = person("ann@example.org"), person("bob@example.org")
    benchmark.organizers.add(ann, bob)
    Benchmark.objects.get(name="other").organizers.add(ann)
    with pytest.raises(ActError, match="labels of Other data, which you do not organize"):
        announce(benchmark, bob, labels=True)
    with pytest.raises(ActError, match="labels of Other data, which you do not organize"):
        request_copy(benchmark, bob, labels=True)
    announce(benchmark, ann, labels=True)
    archive = pack(Benchmark.objects.get(name="tiny"), clock.now, labels=True)
    with zipfile.ZipFile(io.BytesIO(archive.data)) as packed:
        assert packed.read("labels/Para.tsv").decode() == tsv(LABELS["Para"], "label")
        assert "labels/Sim.tsv" not in packed.namelist()


def test_a_policy_file_names_it_and_prints_it(tiny: Benchmark, other: Other, tmp_path: Path) -> None:
    def policy(name: str) -> Any:
        file = tmp_path / "policy.toml"
        file.write_text(f"[[phases]]\nname = 'Test'\nopens = 2027-05-01 00:00:00\ntasks_of = '{name}'\n")
        return read_policy(file)

    with pytest.raises(PolicyError, match="phase Test: tasks_of: others is no benchmark"):
        set_policy("tiny", policy("others"))
    set_policy("tiny", policy("other"))
    assert 'tasks_of = "other"' in list(phase_lines(Benchmark.objects.get(name="tiny")))
    file = tmp_path / "again.toml"
    file.write_text("[[phases]]\nname = 'Test'\nopens = 2027-05-02 00:00:00\n")
    set_policy("tiny", read_policy(file))
    assert Phase.objects.get().tasks_of == Benchmark.objects.get(name="other")


def test_an_edit_in_the_database_is_found(course: tuple[Phase, Phase]) -> None:
    catch_up()
    assert not [check for check in integrity.examine() if not check.ok]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE phases_phase SET tasks_of_id = NULL WHERE name = 'Elsewhere'")
    (failed,) = [check for check in integrity.examine() if not check.ok]
    assert f"phases {course[1].pk} of tiny" in failed.state


def test_a_frozen_copy_releases_the_labels_that_its_board_was_graded_by(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, tmp_path: Path
) -> None:
    graded(zip_bytes(GOLD), name="Own")
    clock.move("2027-06-02 00:00")
    graded(zip_bytes(ANSWERS), name="Elsewhere")
    freeze(tmp_path / "copy", ["tiny"], only="tiny")
    assert not commands.verify(str(tmp_path / "copy"), recompute=True).findings
    assert (tmp_path / "copy/release/tiny/gold/Para.tsv").read_text() == tsv(LABELS["Para"], "label")


def test_receipts_and_the_report_on_duplicates_go_by_the_data(
    course: tuple[Phase, Phase], clock: Clock, graded: Any, send: Any, person: Callable[[str], Any]
) -> None:
    graded(zip_bytes(GOLD | ANSWERS), name="Own")
    clock.move("2027-06-02 00:00")
    row = graded(zip_bytes(ANSWERS), name="Elsewhere")
    Submission.objects.filter(pk=row.pk).update(owner=person("bob@example.org"))
    receipt = json.loads(receipt_of(row).partition("}")[0] + "}")
    other = Benchmark.objects.get(name="other")
    assert (receipt["benchmark"], receipt["manifest_sha256"]) == ("tiny", other.manifest_texts.sha256)
    benchmark = Benchmark.objects.get(name="tiny")
    while read_some(benchmark.pk):
        pass
    assert {*row.sample.files} == {"Para", "Extra"}
    renew(benchmark.pk)
    assert near(benchmark)[1] == []  # equal answers, but to other rows
