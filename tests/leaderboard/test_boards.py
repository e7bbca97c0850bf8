from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st
from leaderboard.material import PREDICTIONS, zip_bytes
from leaderboard.test_pages import BASELINES, Cells, board_of

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.boards.columns import BoardEntry, BoardOptions
from gluebench.leaderboard.apps.boards.table import BoardRow, arrange
from gluebench.leaderboard.apps.common.formats import margin_text
from gluebench.leaderboard.apps.common.text import alphabetical
from gluebench.leaderboard.apps.submissions.models import Submission

Send = Callable[..., Submission]
Edit = Callable[..., None]
WORSE = {**PREDICTIONS, "Refer": "0011"}


def names(client: Client, path: str) -> list[str]:
    page = client.get(path).content.decode()
    return re.findall(r'class="name"><a href="/submissions/[^"]*">([^<]*)</a>', page)


def edit(submission: Submission, **values: Any) -> None:
    """Change a row as an organizer would, and let the board know."""
    Submission.objects.filter(pk=submission.pk).update(**values)
    type(submission.benchmark).objects.filter(pk=submission.benchmark_id).touch()


def line(name: str, score: float | None, *values: float | None, regime: str = "other") -> BoardRow:
    return BoardRow(BoardEntry(0, name, regime=regime), score, values)


def order(lines: list[BoardRow], options: BoardOptions, rows: int | None = None) -> list[str]:
    _, page = arrange(lines, ["A", "B"], options, rows)
    return [row.system.name for _, row in page]


LINES = [
    line("low", 0.2, 0.9, None),
    line("high", 0.8, 0.1, 0.3),
    line("none", None, 0.5, 0.3),
    line("published", 0.2, None, 0.7, regime=""),
]


def test_the_order_of_the_score_puts_references_below_what_equals_them_and_the_incomplete_last() -> None:
    assert order(LINES, BoardOptions()) == ["high", "low", "published", "none"]


def test_any_column_orders_both_ways_and_what_has_no_number_stays_last() -> None:
    assert order(LINES, BoardOptions(sort="A")) == ["low", "none", "high", "published"]
    assert order(LINES, BoardOptions(sort="A", turned=True)) == ["high", "none", "low", "published"]
    assert order(LINES, BoardOptions(sort="B")) == ["published", "high", "none", "low"], "ties by score"
    assert order(LINES, BoardOptions(sort="name")) == ["high", "low", "none", "published"]
    assert order(LINES, BoardOptions(sort="name", turned=True))[0] == "published"


@given(st.lists(st.one_of(st.none(), st.floats(-1, 1)), max_size=40), st.integers(1, 7), st.booleans())
def test_pages_together_are_the_whole_board(scores: list[float | None], rows: int, turned: bool) -> None:
    lines = [line(str(at), score, score, None) for at, score in enumerate(scores)]
    whole = order(lines, BoardOptions(sort="A", turned=turned))
    pages = arrange(lines, ["A", "B"], BoardOptions(), rows)[1].paginator.num_pages
    paged = [
        name
        for page in range(1, pages + 1)
        for name in order(lines, BoardOptions(sort="A", turned=turned, page=page), rows)
    ]
    assert paged == whole
    assert order(lines, BoardOptions(page=pages + 9), rows) == order(lines, BoardOptions(page=pages), rows)


def test_the_address_is_read_and_written_alike(rf: Any) -> None:
    sorts = ("name", "model", "RTE", "parameters")
    choices = ("CoLA", "RTE", "parameters", "code")
    for query in (
        "?",
        "?sort=parameters&columns=RTE%2Cparameters",
        "?training=frozen&since=2026-02-28&parameters=1.5B&team=NYU+lab&verified=1",
        "?view=training&intervals=1&sort=RTE&order=asc&q=deep+net&rows=all&page=3",
        "?sort=name&order=desc",
    ):
        options = BoardOptions.from_request(rf.get("/" + query), sorts, choices)
        assert options.query(page=options.page) == query
    odd = BoardOptions.from_request(rf.get("/?sort=password&order=up&page=-3&rows=9&view=x"), sorts)
    assert odd == BoardOptions()
    boxes = BoardOptions.from_request(
        rf.get("/?columns=code&columns=RTE&columns=password&sort=CoLA"), ("CoLA",), choices
    )
    assert (boxes.columns, boxes.sort) == (("RTE", "code"), ""), (
        "in the board's order; none by what is hidden"
    )
    wrong = rf.get("/?training=deep&since=31.1.2026&parameters=many&verified=yes")
    assert not BoardOptions.from_request(wrong, sorts, choices).is_filtered


def test_sorting_by_a_column_keeps_the_ranks(client: Client, graded: Send) -> None:
    graded(name="Better")
    graded(zip_bytes(WORSE), name="Worse")
    assert names(client, "/") == ["Better", "Worse"]
    assert names(client, "/?sort=Refer&order=asc") == ["Worse", "Better"]
    page = client.get("/?sort=Refer&order=asc").content.decode()
    assert 'data-sort="Refer" aria-sort="ascending"' in page
    assert [row[0][0] for row in Cells(page).rows if len(row) > 1 and "BiLSTM" in row[1]] == ["2", "1"]


def test_names_are_sorted_as_people_sort_them(client: Client, graded: Send) -> None:
    """By code point, 10 came before 9, and Ärger after Zeta."""
    texts = ["Zeta", "émile", "run 10", "Ärger", "run 9", "élan", "Run 9b", "arger 2", "10", "9", "żubr"]
    by_name = ["9", "10", "Ärger", "arger 2", "élan", "émile", "run 9", "Run 9b", "run 10", "Zeta", "żubr"]
    assert sorted(texts, key=alphabetical) == by_name
    for name in texts[:4]:
        graded(name=name)
    assert names(client, "/?sort=name") == ["Ärger", "émile", "run 10", "Zeta"]
    assert names(client, "/?sort=name&order=desc") == ["Zeta", "run 10", "émile", "Ärger"]


def test_a_search_finds_names_models_and_teams(client: Client, graded: Send) -> None:
    graded(name="Älpha", model="BiLSTM", team="North")
    graded(name="Beta", model="CNN", team="South")
    assert names(client, "/?q=äLP") == ["Älpha"]
    assert names(client, "/?q=south+cnn") == ["Beta"]
    nothing = client.get("/?q=<script>").content.decode()
    assert "No system has “&lt;script&gt;”" in nothing
    assert "<script>" not in nothing.replace('<script type="module"', "")


def test_marks_and_earlier_submissions_are_shown(client: Client, graded: Send) -> None:
    first = graded(name="First", public=False)
    second = graded(name="Second")
    edit(second, kind="baseline", verified=True)
    page = client.get("/").content.decode()
    assert '<span class="tag">baseline</span>' in page
    assert "verified" in page
    assert "2nd submission" in page
    detail = client.get(f"{second.get_absolute_url()}/detail").content.decode()
    assert "made 1 submission before this one" in detail
    edit(first, status="invalid")
    assert "2nd submission" not in client.get("/").content.decode(), "an invalid one told nothing"


def test_a_team_s_submissions_count_together(client: Client, graded: Send, person: Any) -> None:
    from gluebench.leaderboard.apps.accounts.models import Team, move_to

    team = Team.objects.create(name="Together")
    for email in ("one@example.org", "two@example.org"):
        member = person(email)
        move_to(member, team)
        graded(owner=member, name=email.split("@")[0])
    graded(owner=person("three@example.org"), name="alone")
    page = client.get("/").content.decode()
    assert page.count("2nd submission<") == 1


def test_a_new_grading_moves_a_row(client: Client, graded: Send) -> None:
    """Numbers are remembered for each grading; another one must be read again."""
    from django.utils import timezone

    better, worse = graded(name="Better"), graded(zip_bytes(WORSE), name="Worse")
    assert names(client, "/?sort=Refer") == ["Better", "Worse"]
    edit(better, scores=worse.scores, value=worse.value, finished=timezone.now())
    edit(worse, scores=better.scores, value=better.value, finished=timezone.now())
    assert names(client, "/?sort=Refer") == ["Worse", "Better"]
    assert names(client, "/") == ["Worse", "Better"]


def test_reports_are_read_once_for_each_version_of_a_board(client: Client, graded: Send) -> None:
    submission = graded(name="First")

    def reads(word: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get("/benchmarks/tiny", {"q": word})
        return sum('"scores"' in query["sql"] for query in queries)

    searched = [reads("First"), reads("Fir")]
    edit(submission, name="Second")
    assert reads("Second") == searched[0] == searched[1] + 1, "what is shown, and once what places it"


def test_a_task_s_board_ranks_the_incomplete_too(client: Client, graded: Send) -> None:
    graded(zip_bytes(WORSE), name="Whole")
    graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}), name="Part")
    assert names(client, "/benchmarks/tiny/tasks/Refer") == ["Part", "Whole"]
    assert names(client, "/benchmarks/tiny/tasks/Para") == ["Whole"]
    twin = client.get("/benchmarks/tiny/tasks/Refer.json").json()
    assert [(row["rank"], row["name"]) for row in twin["rows"]] == [(1, "Part"), (2, "Whole")]
    assert client.get("/benchmarks/tiny/tasks/DX").status_code == 404
    assert client.get("/benchmarks/tiny/tasks/Nothing").status_code == 404


def test_each_task_says_whether_its_labels_are_private(client: Client, tiny: Any) -> None:
    from gluebench.leaderboard.apps.boards.pages import task_line

    glue = {task.name: task_line(task)["labels"] for task in load_benchmark("glue").tasks}
    assert [name for name, labels in glue.items() if labels == "private"] == ["CoLA", "QQP", "MNLI", "WNLI"]
    assert glue["AX"] == "public"
    assert client.get("/").content.decode().count("not stated</span>") == 4, (
        "tests/tiny.toml says it of DX only"
    )


@pytest.mark.parametrize(
    ("low", "high", "text"), [(0.48, 0.52, "±2.0"), (0.479, 0.52, "±2.1"), (0.47, 0.51, "−3.0 +1.0")]
)
def test_how_far_an_interval_reaches(low: float, high: float, text: str) -> None:
    assert margin_text({"value": 0.5, "low": low, "high": high}) == text


def test_references_are_searched_and_sorted_too(db: None) -> None:
    table = board_of(BASELINES)
    names = [row.entry["name"] for row in table.rows]
    assert names[:3] == ["Human", "multi-task +Attn, ELMo", "Attn"]
    assert len(names) == 2 + 1 + 17, "the systems, Human, and Table 4"


def test_a_hundred_benchmarks_are_paged_and_found(client: Client, tiny: Any) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    values = {"manifest": tiny.manifest, "gold": tiny.gold, "gold_digest": tiny.gold_digest}
    Benchmark.objects.bulk_create(
        Benchmark(name=f"bench-{at}", title=f"Benchmark {at}", **values) for at in range(99)
    )
    page = client.get("/").content.decode()
    assert page.count('class="name"><a href="/benchmarks/') == 30
    assert "Page 1 of 4" in page
    assert client.get("/?q=benchmark+77").content.decode().count('class="name"><a href="/benchmarks/') == 1


def test_the_diagnostics_page_is_paged(client: Client, graded: Send, monkeypatch: Any) -> None:
    from gluebench.leaderboard.apps.boards import diagnostics

    monkeypatch.setattr(diagnostics, "ROWS", 1)
    graded(name="One")
    graded(name="Two")
    first = client.get("/benchmarks/tiny/diagnostics/DX").content.decode()
    second = client.get("/benchmarks/tiny/diagnostics/DX?page=2").content.decode()
    assert "Page 1 of 2" in first
    assert ("One" in first, "Two" in first, "One" in second, "Two" in second) == (True, False, False, True)


def test_whoever_has_the_page_is_told_so_until_something_shows(
    client: Client, ada: Any, graded: Send
) -> None:
    path = "/benchmarks/tiny"
    graded()
    tag = client.get(path)["ETag"]
    again = client.get(path, headers={"if-none-match": tag})
    assert (again.status_code, again["ETag"], again["Vary"]) == (304, tag, "Accept-Encoding, Cookie")
    signed_in = Client()
    signed_in.force_login(ada)
    assert signed_in.get(path, headers={"if-none-match": tag}).status_code == 200, "another header"
    assert client.get(path, headers={"if-none-match": signed_in.get(path)["ETag"]}).status_code == 200
    graded(name="New")
    assert "New" in client.get(path, headers={"if-none-match": tag}).content.decode()


DAY = "2026-03-0{}T12:00:00+00:00"


@pytest.fixture
def four(graded: Send) -> dict[str, Submission]:
    """Systems that differ in all that a board filters by."""
    facts: dict[str, dict[str, Any]] = {
        "Frozen": {"regime": "frozen", "parameters": 90_000_000, "team": "North", "submitted": DAY.format(1)},
        "Large": {"regime": "multi-task", "parameters": 1_500_000_000, "submitted": DAY.format(2)},
        "Silent": {"regime": "multi-task", "parameters": None, "submitted": DAY.format(3)},
        "Checked": {
            "parameters": 2_000_000,
            "verified": True,
            "team": "Far North",
            "submitted": DAY.format(4),
        },
    }
    rows = {name: graded(name=name) for name in facts}
    facts["Checked"]["submitted"] = DAY.format(4)
    for name, values in facts.items():
        edit(rows[name], **values)
    return rows


FILTERED: dict[str, set[str]] = {
    "training=multi-task": {"Large", "Silent"},
    "since=2026-03-03": {"Silent", "Checked"},
    "parameters=90M": {"Frozen", "Checked"},
    "parameters=1500000000": {"Frozen", "Large", "Checked"},
    "parameters=0.09b": {"Frozen", "Checked"},
    "team=north": {"Frozen", "Checked"},
    "verified=1": {"Checked"},
    "team=north&parameters=10M": {"Checked"},
    "verified=1&q=large": set(),
}
"""Queries to the systems of `four` that they leave."""


def test_filters_leave_the_systems_that_meet_all_of_them(client: Client, four: dict[str, Submission]) -> None:
    assert {query: set(names(client, f"/?{query}")) for query in FILTERED} == FILTERED
    for query, expected in FILTERED.items():
        page = client.get(f"/?{query}").content.decode()
        assert f"{len(expected)} of 4 systems" in page, query
        assert ("Show all 4" in page) == (not expected), query
        assert "data-whole" not in page, f"{query}: the browser has not all rows to search"
        for board in ("/benchmarks/tiny", "/benchmarks/tiny/tasks/Refer"):
            rows = client.get(f"{board}.json?{query}").json()["rows"]
            assert {row["name"] for row in rows} == expected, query
            table = client.get(f"{board}.csv?{query}").content.decode("utf-8-sig").splitlines()
            assert len(table) == 1 + len(expected), query


FILES = re.compile(r'href="(/benchmarks/tiny(?:/tasks/Refer)?(?:\.\w+|/embed|/badge\.svg)(?:\?[^"]*)?)"')


@pytest.mark.parametrize("board", ["/benchmarks/tiny", "/benchmarks/tiny/tasks/Refer"])
def test_the_files_that_a_page_offers_are_of_the_systems_that_it_shows(
    client: Client, four: dict[str, Submission], board: str
) -> None:
    for query, expected in FILTERED.items():
        page = client.get(f"{board}?{query}&sort=submitted&columns=Refer").content.decode()
        links = [html.unescape(link) for link in FILES.findall(page)]
        endings = {"json", "csv", "tex", "md"} | ({"svg", "embed"} if "tasks" not in board else set())
        assert {re.split("[./]", link.partition("?")[0])[-1] for link in links} == endings
        for link in links:
            text = client.get(link).content.decode()
            if ".svg" in link:
                assert f"{len(expected)} system" in text, link
            else:
                shown = {name for name in four if re.search(rf"\b{name}\b", text)}
                assert shown == expected, link


def test_the_files_that_a_page_offers_are_by_its_rule(client: Client, four: dict[str, Submission]) -> None:
    query = "by=borda&weights=Refer:2,Para:0&training=frozen"
    page = client.get(f"/benchmarks/tiny?{query}").content.decode()
    for link in map(html.unescape, FILES.findall(page)):
        asked = dict(parse_qsl(link.partition("?")[2]))
        rule = {} if ".svg" in link else {"by": "borda", "weights": "Refer:2,Para:0"}
        assert asked == {**rule, "training": "frozen"}, link
        assert client.get(link).status_code == 200


def test_the_form_of_a_board_says_what_the_address_says(client: Client, four: dict[str, Submission]) -> None:
    page = client.get(
        "/?training=frozen&since=2026-02-28&parameters=1.5b&team=a%22b&verified=1"
    ).content.decode()
    assert '<option value="frozen" selected>' in page
    assert 'name="since" value="2026-02-28"' in page
    assert 'name="parameters" value="1.5B"' in page
    assert 'name="team" value="a&quot;b"' in page
    assert 'name="verified" value="1" checked' in page
    assert "5 set" in page


def header(client: Client, path: str) -> list[str]:
    return next(row for row in Cells(client.get(path).content.decode()).rows if "Rank" in row)


def test_columns_are_chosen_by_the_address_and_those_without_a_value_are_left_out(
    client: Client, four: dict[str, Submission]
) -> None:
    assert header(client, "/")[3:] == [
        *("Para", "Sim", "Infer-m", "Infer-mm", "Refer", "Training", "Params", "Date")
    ]
    assert header(client, "/?columns=Refer&columns=submitted&columns=code")[3:] == ["Refer", "Date"]
    edit(four["Large"], code="https://example.org/code")
    assert header(client, "/?columns=Refer,code")[3:] == ["Refer", "Code"]
    page = client.get("/?columns=Refer,code").content.decode()
    assert 'href="https://example.org/code" rel="nofollow noopener ugc" aria-label="Code"' in page
    rows = {row[1].split()[0]: row for row in Cells(client.get("/").content.decode()).rows if len(row) > 8}
    assert rows["Large"][-3:] == ["multi-task", "1.5B", "2026-03-02"]
    assert rows["Silent"][-2:] == ["", "2026-03-03"]


def test_a_board_is_sorted_by_date_and_parameters(client: Client, four: dict[str, Submission]) -> None:
    assert names(client, "/?sort=submitted") == ["Checked", "Silent", "Large", "Frozen"]
    assert names(client, "/?sort=parameters&order=asc") == ["Checked", "Frozen", "Large", "Silent"]


def test_no_cache_holds_what_visitors_type(client: Client, four: dict[str, Submission]) -> None:
    from django.core.cache import caches

    def kept(path: str) -> bool:
        caches["pages"].clear()
        client.get(path)
        before = client.get(path)["ETag"][3:-1]
        return before in caches["pages"]

    assert kept("/")
    assert kept("/?intervals=1")
    assert not any(map(kept, ("/?team=x", "/?parameters=7M", "/?since=2026-01-01", "/?columns=Refer")))


def bars(page: str) -> list[tuple[float, float, float]]:
    """Low end, value and high end of each bar, in the units of its picture."""
    found = re.findall(r'd="M(\d+) 10H(\d+)M(\d+) 2v16"', page)
    return [(float(low), float(at), float(high)) for low, high, at in found]


def test_each_row_has_its_interval_on_one_scale(db: None) -> None:
    table = board_of(BASELINES)
    assert table.scale is not None
    ends = (table.scale.low, table.scale.high)
    assert ends == (55, 90), "whole fives around 58.9, CBoW of Table 4, to 87.1, the human reference"
    [attn, gensen] = bars(" ".join(f'd="{row.score.bar}"' for row in table.rows if not row.reference))
    unit = 86 / 35
    for bar, value in ((attn, 68.9), (gensen, 66.6)):
        assert bar == pytest.approx([2 + unit * (value + side - 55) for side in (-2, 0, 2)], abs=0.51)
    human = next(row.score.bar for row in table.rows if row.reference)
    assert human == f"M{round(2 + unit * 32.1)} 2v16"


def test_a_legend_explains_only_the_marks_on_the_page(client: Client, graded: Send, tiny: Any) -> None:
    graded(name="Alone")
    page = client.get("/").content.decode()
    for words in (
        "Verified:",
        "incomplete submission",
        "4th submission”",
        "reference is",
    ):
        assert words not in page
    graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}), name="Part")
    edit(graded(name="Equal"), verified=True)
    page = client.get("/").content.decode()
    for words in ("Verified:", "incomplete submission", "4th submission”"):
        assert words in page
    assert "true rank 1 to 6" not in page, "no rank set is computed yet"
