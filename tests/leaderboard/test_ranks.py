"""Ranks with rank sets, other rules, pairs, costs: computed apart, shown when of the board."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from leaderboard.material import GOLD, PREDICTIONS, zip_bytes

from gluebench.analysis.board import TooFewSystemsError, rank_all, rounded_comparison
from gluebench.analysis.compare import compare
from gluebench.analysis.rank import rank
from gluebench.analysis.rank.rules import RULES
from gluebench.benchmark import load_benchmark
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import P_LEVELS, rounded_report
from gluebench.scoring.report import fields_of
from gluebench.submission import check

WORSE = {**PREDICTIONS, "Para": "000000", "Infer-m": ["neutral"] * 6, "Refer": "1011", "DX": ["neutral"] * 4}


@pytest.fixture
def three(graded: Callable[..., Any]) -> list[Any]:
    """Three listed systems, the second equal to the first but for one task, and the third far behind."""
    near = {**PREDICTIONS, "Refer": "0101"}
    return [
        graded(name="Ahead"),
        graded(zip_bytes(near), name="Close"),
        graded(zip_bytes(WORSE), name="Behind"),
    ]


def renewed(benchmark: Any) -> Any:
    from gluebench.leaderboard.apps.ranks.models import Ranking
    from gluebench.leaderboard.apps.ranks.renewing import enqueue_outdated, renew_ranking

    enqueue_outdated()
    ranking = Ranking.objects.get(benchmark=benchmark)
    renew_ranking.call(ranking.pk)
    ranking.refresh_from_db()
    return ranking


@pytest.mark.django_db
def test_a_system_that_the_present_checks_refuse_is_left_out(
    three: list[Any], tiny: Any, tmp_path: Path
) -> None:
    gold = read_gold(tiny.gold_path, tiny.record)
    shown = {
        row.key: {name: task["score"]["value"] for name, task in row.scores["tasks"].items()} for row in three
    }
    files = {row.key: row.file.path for row in three}
    (tmp_path / "old.zip").write_bytes(zip_bytes({**PREDICTIONS, "Para": "10"}))
    both = [
        rank_all(systems, gold, majorities=[()], shown={**shown, "old": {}})
        for systems in (files, {"old": str(tmp_path / "old.zip"), **files})
    ]
    assert both[0] == both[1]
    assert both[0]["names"] == list(files)


@pytest.mark.django_db
def test_a_board_of_which_one_system_is_valid_now_says_that_there_is_nothing_to_compare(
    client: Any, three: list[Any], tiny: Any, tmp_path: Path
) -> None:
    """It said "The grader stopped: ValueError ... Ask the organizer"."""
    broken = zip_bytes({**PREDICTIONS, "Para": "10"})
    (tmp_path / "old.zip").write_bytes(broken)
    gold = read_gold(tiny.gold_path, tiny.record)
    files = {"old": str(tmp_path / "old.zip"), three[0].key: three[0].file.path}
    with pytest.raises(TooFewSystemsError, match=r"^1 of 2 submissions are valid; .* gluebench check FILE"):
        rank_all(files, gold, majorities=[()], shown={key: {} for key in files})
    for row in three[1:]:
        Path(row.file.path).write_bytes(broken)
        row.sha256 = hashlib.sha256(broken).hexdigest()
        row.save()
    assert renewed(tiny).failure == ""
    page = client.get("/benchmarks/tiny/pairs").content.decode()
    assert "There is nothing to compare yet" in page
    assert "Error" not in page


@pytest.mark.django_db
def test_the_background_ranking_is_what_rank_says(three: list[Any], tiny: Any) -> None:
    ranking = renewed(tiny)
    gold = read_gold(tiny.gold_path, tiny.record)
    files = {row.key: check(row.file.path, tiny.record) for row in three}
    keys = [key for _, key in ranking.systems]
    for by in RULES:
        told = {each.name: fields_of(each) for each in rank(files, gold, by=by).systems}
        kept = ranking.board["boards"][""]["rules"][by]["places"]
        assert [place["rank"] for place in kept] == [told[key]["rank"] for key in keys]
        assert [place["rank_low"] for place in kept] == [told[key]["rank_low"] for key in keys]
    assert "1.48151623" not in json.dumps([ranking.board, ranking.pairs])


@pytest.mark.django_db
def test_a_ranking_is_computed_again_only_when_something_it_rests_on_changed(
    three: list[Any], tiny: Any
) -> None:
    from gluebench.leaderboard.apps.ranks.renewing import enqueue_outdated

    first = renewed(tiny)
    tiny.refresh_from_db()
    assert first.version == tiny.version
    assert enqueue_outdated() == 0
    type(tiny).objects.filter(pk=tiny.pk).touch()
    assert enqueue_outdated() == 0  # the board shows something new, but the systems and labels are the same
    first.refresh_from_db()
    tiny.refresh_from_db()
    assert first.version == tiny.version
    three[2].public = False
    three[2].save()
    type(tiny).objects.filter(pk=tiny.pk).touch()
    assert enqueue_outdated() == 1
    assert enqueue_outdated() == 0


@pytest.mark.django_db
def test_what_changes_during_a_computation_is_not_taken_for_part_of_it(
    three: list[Any], tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.ranks import renewing
    from gluebench.leaderboard.apps.submissions.process import run_grader

    def slow(job: Any, **rest: Any) -> Any:
        found = run_grader(job, **rest)
        three[2].public = False
        three[2].save()
        type(tiny).objects.filter(pk=tiny.pk).touch()
        return found

    monkeypatch.setattr(renewing, "run_grader", slow)
    ranking = renewed(tiny)
    tiny.refresh_from_db()
    assert ranking.version != tiny.version
    assert renewing.enqueue_outdated() == 1


@pytest.mark.django_db
def test_the_board_shows_rank_sets_or_why_there_are_none_once_they_are_of_it(
    client: Any, three: list[Any], tiny: Any
) -> None:
    def ranks() -> list[str]:
        page = client.get("/benchmarks/tiny").content.decode()
        cells = re.findall(r'<td class="rank"><span aria-hidden="true">(.*?)</span>', page)
        return [re.sub("<[^>]*>", "", cell) for cell in cells]

    status = "/benchmarks/tiny/ranks/status.json"
    for page in ("/benchmarks/tiny", "/benchmarks/tiny/tasks/Para", "/benchmarks/tiny/diagnostics/DX"):
        waiting = client.get(page).content.decode()
        assert "are being computed" in waiting
        assert f'id="progress" data-address="{status}"' in waiting
        assert "site/progress.js" in waiting, "which loads the page again"
    assert ranks() == ["1 · …", "2 · …", "3 · …"]
    assert client.get(status).json() == {"final": False}
    assert client.get("/benchmarks/tiny.json").json()["rows"][0]["withheld"] == "being computed"
    renewed(tiny)
    after = client.get("/benchmarks/tiny").content.decode()
    assert "are being computed" not in after
    assert "progress.js" not in after
    assert client.get(status).json() == {"final": True}
    assert ranks() == ["1 · –", "2 · –", "3 · –"]
    assert "“–”: no rank set, too few examples on" in after
    row = client.get("/benchmarks/tiny.json").json()["rows"][0]
    assert (row["rank"], row["rank_low"], row["rank_high"]) == (1, None, None)
    assert row["withheld"].startswith("too few examples on")
    type(tiny).objects.filter(pk=tiny.pk).touch()
    assert ranks() == ["1 · –", "2 · –", "3 · –"], "nothing that the ranks rest on changed"
    three[2].public = False
    three[2].save()
    type(tiny).objects.filter(pk=tiny.pk).touch()
    assert ranks() == ["1 · …", "2 · …"]


@pytest.mark.django_db
def test_a_system_whose_file_is_gone_keeps_its_rank_and_says_why_it_has_no_set(
    client: Any, three: list[Any], tiny: Any
) -> None:
    from gluebench.leaderboard.apps.submissions.acts import forget_files
    from gluebench.leaderboard.apps.submissions.models import Submission

    forget_files(Submission.objects.filter(pk=three[1].pk))
    renewed(tiny)
    rows = client.get("/benchmarks/tiny.json").json()["rows"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert rows[1]["withheld"] == "its predictions are no longer kept"
    page = client.get("/benchmarks/tiny").content.decode()
    assert "no rank set, its predictions are no longer kept (1 system)" in page


@pytest.mark.django_db
def test_a_row_changed_behind_the_site_s_back_breaks_no_board(
    client: Any, three: list[Any], tiny: Any
) -> None:
    renewed(tiny)
    type(three[0]).objects.filter(pk=three[0].pk).update(public=False)
    page = client.get("/benchmarks/tiny")
    assert page.status_code == 200
    assert "Ahead" not in page.content.decode()


@pytest.mark.django_db
def test_the_address_chooses_the_rule(client: Any, graded: Callable[..., Any], tiny: Any) -> None:
    # Infer alone speaks for the second one, by much; all others for the first, by little.
    even = {**PREDICTIONS, "Infer-m": ["neutral"] * 6, "Infer-mm": ["neutral"] * 3}
    graded(zip_bytes({**even, "Refer": "0100"}), name="Steady")
    graded(
        zip_bytes({**GOLD, "Refer": "0101", "Para": "101101", "Sim": ["1", "3", "2", "4", "3"]}), name="Lucky"
    )
    renewed(tiny)

    def first(query: str) -> str:
        page = client.get(f"/benchmarks/tiny{query}").content.decode()
        body = page.split("<tbody>")[1]
        return min(("Steady", "Lucky"), key=body.index)

    assert first("") == "Lucky"
    assert first("?by=borda") == "Steady"
    assert first("?weights=Infer:0") == "Steady"
    assert first("?weights=Infer:0&by=rank-score") == "Steady"
    assert first("?weights=infer:0,Sim:2&by=median") == "Steady"
    assert first("?by=nonsense") == "Lucky"
    for query in ("", "by=borda", "weights=Infer:0", "weights=infer:0,Sim:2&by=median", "by=nonsense"):
        file = client.get(f"/benchmarks/tiny.json?{query}").json()
        assert [file["rows"][0]["name"], file["rows"][0]["rank"]] == [first(f"?{query}"), 1], query
        table = client.get(f"/benchmarks/tiny.csv?{query}").content.decode().splitlines()
        assert first(f"?{query}") in table[1], query
    assert client.get("/benchmarks/tiny.json?by=borda").json()["ranked_by"] == "borda"
    page = client.get("/benchmarks/tiny?weights=Nothing:2,Sim:-1").content.decode()
    assert "Nothing:2" in page
    assert "Sim:-1" in page
    assert "is not a weight" in page
    assert first("?weights=Sim") == "Lucky"


@pytest.mark.django_db
def test_a_manifest_chooses_the_rule_of_its_board(
    client: Any, graded: Callable[..., Any], tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    even = {**PREDICTIONS, "Infer-m": ["neutral"] * 6, "Infer-mm": ["neutral"] * 3}
    graded(zip_bytes({**even, "Refer": "0100"}), name="Steady")
    graded(
        zip_bytes({**GOLD, "Refer": "0101", "Para": "101101", "Sim": ["1", "3", "2", "4", "3"]}), name="Lucky"
    )
    renewed(tiny)
    monkeypatch.setattr(Benchmark, "record", tiny.record._replace(rank_by="borda"))

    def page(query: str) -> str:
        text: str = client.get(f"/benchmarks/tiny{query}").content.decode()
        return text

    def first(query: str) -> str:
        return min(("Steady", "Lucky"), key=page(query).split("<tbody>")[1].index)

    assert [first(query) for query in ("", "?by=borda", "?by=mean", "?by=nonsense")] == [
        "Steady",
        "Steady",
        "Lucky",
        "Steady",
    ]
    assert "A system is ranked by the mean of its ranks" in page("")
    assert re.findall(r'<option value="(\w+)" selected', page("")) == ["borda"]
    assert re.findall(r'<option value="(\w+)" selected', page("?by=mean")) == ["mean"]
    assert "by=mean" in page("?by=mean&intervals=1").split("<thead>")[1], "its links keep the rule"


@pytest.mark.django_db
def test_files_have_the_order_and_the_ranks_of_the_board(
    client: Any, owner: Any, graded: Callable[..., Any], tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.results.pack import pack

    even = {**PREDICTIONS, "Infer-m": ["neutral"] * 6, "Infer-mm": ["neutral"] * 3}
    graded(zip_bytes({**even, "Refer": "0100"}), name="Steady")
    lucky = graded(
        zip_bytes({**GOLD, "Refer": "0101", "Para": "101101", "Sim": ["1", "3", "2", "4", "3"]}), name="Lucky"
    )
    graded(zip_bytes({"Para": PREDICTIONS["Para"]}), name="Incomplete")
    monkeypatch.setattr(Benchmark, "record", tiny.record._replace(rank_by="borda"))
    assert client.get("/benchmarks/tiny.json").json()["ranked_by"] == "mean", "until the ranks are computed"
    renewed(tiny)
    expected = [("1", "Steady"), ("2", "Lucky"), ("", "Incomplete")]

    def text(address: str) -> str:
        return str(client.get(address).content.decode())

    board = client.get("/benchmarks/tiny.json").json()
    assert board["ranked_by"] == "borda"
    assert [(str(row["rank"] or ""), row["name"]) for row in board["rows"]] == expected
    rows = csv.DictReader(io.StringIO(text("/benchmarks/tiny.csv")))
    assert [(row["rank"], row["name"]) for row in rows] == expected
    cells = [line.split(" & ") for line in text("/benchmarks/tiny.tex").splitlines() if " & " in line][1:]
    assert [(rank[0], name) for rank, name, *_ in cells if rank] == expected[:2]
    cells = [line.split(" | ") for line in text("/benchmarks/tiny.md").splitlines()][2:]
    assert [(rank.strip("| ")[0], name) for rank, name, *_ in cells if rank.strip("| ")] == expected[:2]
    assert re.findall("Steady|Lucky", text("/benchmarks/tiny/embed")) == ["Steady", "Lucky"]
    assert "rank 2 · –: " in text(f"/submissions/{lucky.key}/badge.svg")
    answer = client.get("/api/v1/benchmarks/tiny/board?per_page=1&page=2").json()
    assert [(row["rank"], row["name"]) for row in answer["rows"]] == [(2, "Lucky")]
    assert client.get(f"/api/v1/benchmarks/tiny/entries/{lucky.key}").json()["rank"] == 2
    tiny.refresh_from_db()
    assert [row["name"] for row in pack(tiny, lucky.submitted, labels=False).places] == ["Steady", "Lucky"]
    own = owner.get(lucky.get_absolute_url()).content.decode()
    assert "<b>2 · –</b> of 2: 2nd by mean rank; no rank set: no known interval" in own
    task = client.get("/benchmarks/tiny/tasks/Infer.json").json()["rows"]
    assert [(row["rank"], row["name"]) for row in task] == [(1, "Lucky"), (2, "Steady")], "by its score"


@pytest.mark.django_db
def test_the_phase_that_a_board_shows_is_the_same_board_by_its_number(
    client: Any, tiny: Any, graded: Callable[..., Any]
) -> None:
    from gluebench.leaderboard.apps.limits.phase_acts import save_phase
    from gluebench.leaderboard.apps.phases.models import Phase

    phase = Phase(benchmark=tiny, name="Only", opens=timezone.now() - timedelta(days=1))
    save_phase(phase)
    graded(name="Ahead")
    graded(zip_bytes({**PREDICTIONS, "Refer": "0101"}), name="Close")
    graded(zip_bytes(WORSE), name="Behind")
    renewed(tiny)
    pages = [client.get(f"/benchmarks/tiny{query}").content.decode() for query in ("", f"?phase={phase.pk}")]
    assert "<b>1</b><i> · </i>–" in pages[0].split("<tbody>")[1]
    assert pages[0] == pages[1]


@pytest.mark.django_db
def test_another_rule_leaves_the_scale_of_the_bars(client: Any, three: list[Any], tiny: Any) -> None:
    renewed(tiny)
    pages = [client.get(f"/benchmarks/tiny{query}").content.decode() for query in ("", "?by=borda")]
    scales = {re.search(r"on one scale from (\S+) to (\S+)\. ", page).groups() for page in pages}  # type: ignore[union-attr]
    assert len(scales) == 1
    assert len({tuple(sorted(re.findall(r'<path d="(\S+ 2v16)"', page))) for page in pages}) == 1
    assert (
        "All tasks weigh 0"
        in client.get("/benchmarks/tiny?weights=Para:0,Sim:0,Infer:0,Refer:0").content.decode()
    )


@pytest.mark.django_db
def test_the_majority_class_is_an_option_only_where_a_reference_says_so(tiny: Any) -> None:
    from gluebench.leaderboard.apps.ranks.models import majority_tasks

    assert majority_tasks(load_benchmark("glue")) == ["WNLI"]
    assert majority_tasks(tiny.record) == []


@pytest.mark.django_db
def test_pages_have_json_views_and_tables(client: Any, three: list[Any], tiny: Any) -> None:
    lines = {"rules": 4, "pairs": 4, "efficiency": 3, "progress": 4}
    waiting = {page: client.get(f"/benchmarks/tiny/{page}").status_code for page in lines}
    assert waiting == dict.fromkeys(lines, 200)
    for row, cost in zip(three, (110_000_000, 1_000_000, None), strict=True):
        row.parameters = cost
        row.save()
    renewed(tiny)
    lines["pairs"] = 1  # the test sets are too small for any test
    assert "No pair is tested: too few examples" in client.get("/benchmarks/tiny/pairs").content.decode()
    numbers = {"rules": 2, "pairs": 2, "efficiency": 1, "progress": 1}
    for page in lines:
        html = client.get(f"/benchmarks/tiny/{page}").content.decode()
        assert "Ahead" in html or page == "pairs", page
        assert "style=" not in html, page
        schema = client.get(f"/benchmarks/tiny/{page}.json").json()["schema"]
        assert schema == f"gluebench.{page}/{numbers[page]}"
    texts = {page: client.get(f"/benchmarks/tiny/{page}.csv").content.decode() for page in lines}
    assert {page: len(text.splitlines()) for page, text in texts.items()} == lines


@pytest.mark.django_db
def test_systems_of_one_name_are_told_apart_by_their_models(
    client: Any, graded: Callable[..., Any], tiny: Any
) -> None:
    even = {**PREDICTIONS, "Infer-m": ["neutral"] * 6, "Infer-mm": ["neutral"] * 3}
    graded(zip_bytes(even), name="Ours", model="Model of one", parameters=5)
    graded(zip_bytes({**GOLD, "Refer": "0101"}), name="Ours", model="Model of two", parameters=9)
    renewed(tiny)
    rules = client.get("/benchmarks/tiny/rules").content.decode()
    assert "What depends on the rule" in rules
    assert rules.count("Model of one") == rules.count("Model of two") == 2
    chart = client.get("/benchmarks/tiny/efficiency").content.decode()
    assert "Model of one, Ours" in chart
    one, two = tiny.submissions.order_by("pk")
    compared = client.get(f"/benchmarks/tiny/compare?a={one.key}&b={two.key}").content.decode()
    assert "<h1>Model of one, Ours and Model of two, Ours</h1>" in compared


@pytest.mark.django_db
def test_the_best_score_over_time_is_that_of_those_who_led(
    client: Any, graded: Callable[..., Any], tiny: Any
) -> None:
    """Sent in the order of the days, so that the second and the fourth raise the best score."""
    worse, none = {**GOLD, "Refer": "0011"}, {"Refer": GOLD["Refer"]}
    files = [{**worse, "Para": "000000"}, worse, {**worse, "Para": "000000"}, GOLD, none]
    for day, values in enumerate(files, start=1):
        row = graded(zip_bytes(values), name=f"Day {day}", model="m", team="Us")
        row.submitted = f"2026-0{day}-01T12:00:00Z"
        row.save()
    tiny.submissions.filter(name="Day 3").update(public=False)
    type(tiny).objects.filter(pk=tiny.pk).touch()
    rows = client.get("/benchmarks/tiny/progress.json").json()["rows"]
    assert [(row["name"], row["led"]) for row in rows] == [("Day 1", True), ("Day 2", True), ("Day 4", True)]
    tiny.submissions.filter(name="Day 3").update(public=True)
    type(tiny).objects.filter(pk=tiny.pk).touch()
    rows = client.get("/benchmarks/tiny/progress.json").json()["rows"]
    assert [row["led"] for row in rows] == [True, True, False, True]
    assert rows[3]["score"] == client.get("/benchmarks/tiny.json").json()["rows"][0]["score"]
    page = client.get("/benchmarks/tiny/progress").content.decode()
    over_time = page.split("Best score over time</title>")[1].split("</svg>")[0]
    assert over_time.count('class="chart-mark chart-ink-0"') == 3
    assert over_time.count('class="chart-mark chart-ink-1"') == 1
    assert "<title>Day 4: 2026-04-01, 100</title>" in page
    assert [name for name in ("Day 4", "Day 5") if f"{name}</a>" in page] == ["Day 4"], "with a score"
    assert 'href="/benchmarks/tiny/progress"' in client.get("/benchmarks/tiny").content.decode()


@pytest.mark.django_db
def test_a_comparison_is_computed_in_the_background_and_kept(
    client: Any, three: list[Any], tiny: Any
) -> None:
    from django_tasks_db.models import DBTaskResult

    from gluebench.leaderboard.apps.ranks.models import Pair
    from gluebench.leaderboard.apps.ranks.renewing import compare_pair

    a, b = three[0], three[2]
    address = f"/benchmarks/tiny/compare?a={a.key}&b={b.key}"
    assert "is being computed" in client.get(address).content.decode()
    assert client.get(address.replace("?", ".json?")).status_code == 202
    pair = Pair.objects.get()
    assert DBTaskResult.objects.filter(task_path__endswith="compare_pair").count() == 1
    assert compare_pair.call(pair.pk)
    assert not compare_pair.call(pair.pk)
    page = client.get(address).content.decode()
    twin = client.get(address.replace("?", ".json?")).json()
    gold = read_gold(tiny.gold_path, tiny.record)
    systems = [check(row.file.path, tiny.record) for row in (a, b)]
    told = compare(*systems, gold, names=(a.name, b.name))
    reports = [rounded_report(grade(system, gold), tiny.record) for system in systems]
    shown = rounded_comparison(told, reports, tiny.record, smallest=30)
    assert twin["comparison"]["conclusion"] == shown.conclusion != told.conclusion
    assert a.name in shown.conclusion
    type(a).objects.filter(pk=a.pk).update(name="Renamed since")
    renamed = client.get(address.replace("?", ".json?")).json()["comparison"]
    assert renamed["conclusion"] == shown.conclusion.replace(a.name, "Renamed since")
    assert twin["comparison"]["overall"] == json.loads(json.dumps(shown.as_dict()["overall"]))
    tasks = [each["score"] for each in twin["comparison"]["tasks"].values()]
    for part in (twin["comparison"]["overall"], *tasks):
        assert part["low"] is part["high"] is part["error"] is None
        assert part["p"] in P_LEVELS
        assert not part.keys() & {"only_a", "only_b", "detectable"}
    assert "Negation" in page
    assert "Logic" in page
    assert "In examples" in page
    assert client.get(f"/benchmarks/tiny/compare?a={b.key}&b={a.key}").url.endswith(f"a={a.key}&b={b.key}")
    rows = client.get(address.replace("?", ".csv?")).content.decode().splitlines()
    assert rows[1].startswith(",average,")


@pytest.mark.django_db
def test_what_the_policy_hides_is_not_compared(client: Any, three: list[Any], tiny: Any) -> None:
    from gluebench.leaderboard.apps.ranks.models import Pair

    renewed(tiny)
    tiny.refresh_from_db()
    tiny.settings = {"feedback": "ladder"}
    tiny.save()
    type(tiny).objects.filter(pk=tiny.pk).touch()
    a, b = three[0], three[2]
    for page in ("rules", "pairs", f"compare?a={a.key}&b={b.key}"):
        shown = client.get(f"/benchmarks/tiny/{page}").content.decode()
        assert "would reveal the rows that are held back" in shown
    assert renewed(tiny).board is None
    assert not Pair.objects.exists()
    assert client.get("/benchmarks/tiny/rules.json").json()["rows"] == []


@pytest.mark.django_db
def test_a_private_entry_is_not_compared_nor_named(
    client: Any, three: list[Any], tiny: Any, ada: Any
) -> None:
    renewed(tiny)
    three[2].public = False
    three[2].save()
    type(tiny).objects.filter(pk=tiny.pk).touch()
    client.force_login(ada)
    for page in ("rules", "pairs", "rules.json", "pairs.csv"):
        assert "Behind" not in client.get(f"/benchmarks/tiny/{page}").content.decode()
    assert client.get(f"/benchmarks/tiny/compare?a={three[0].key}&b={three[2].key}").status_code == 404


@pytest.mark.django_db
def test_small_private_categories_are_left_out_of_a_comparison(three: list[Any], tiny: Any) -> None:
    from gluebench.analysis.board import compare_two

    record = tiny.record
    a, b = three[0].file.path, three[2].file.path
    public = compare_two(a, b, read_gold(tiny.gold_path, record), smallest=30)
    assert public["comparison"]["diagnostics"]["DX"]["categories"]
    text = tiny.manifest.replace("private = false", "private = true")
    type(tiny).objects.filter(pk=tiny.pk).update(manifest=text)
    tiny.refresh_from_db()
    gold = read_gold(tiny.gold_path, load_benchmark(tiny.manifest_path))
    told = compare_two(a, b, gold, smallest=3)["comparison"]["diagnostics"]["DX"]["categories"]
    assert {each["name"] for each in told} == {"Logic", "Negation"}


@pytest.mark.django_db
def test_the_interface_has_the_same(client: Any, three: list[Any], tiny: Any) -> None:
    renewed(tiny)
    for page in ("rules", "pairs", "efficiency"):
        site = client.get(f"/benchmarks/tiny/{page}.json").json()
        assert client.get(f"/api/v1/benchmarks/tiny/{page}").json() == site
    answer = client.get(f"/api/v1/benchmarks/tiny/compare?a={three[1].key}&b={three[0].key}")
    assert answer.status_code == 202
    assert answer.json()["a"]["key"] == three[0].key
    assert client.get("/api/v1/benchmarks/tiny/compare?a=nobody&b=nothing").status_code == 404


@pytest.mark.django_db
def test_no_order_tells_what_rounding_hides(client: Any, graded: Callable[..., Any], tiny: Any) -> None:
    """Two entries whose scores differ by less than is shown have one rank, and no test tells them apart."""
    rows = [graded(), graded(zip_bytes({**PREDICTIONS, "Sim": ["1.6", "2.5", "0.5", "4", "3.5"]}), name="B")]
    exact = {row.results.get().report["score"]["value"] for row in rows}
    assert len(exact) == 2
    assert rows[0].value == rows[1].value
    ranking = renewed(tiny)
    places = ranking.board["boards"][""]["rules"]["mean"]["places"]
    assert [place["rank"] for place in places] == [1, 1]
    assert {place["value"] for place in places} == {rows[0].value}
    assert [row["rank"] for row in client.get("/benchmarks/tiny.json").json()["rows"]] == [1, 1]
