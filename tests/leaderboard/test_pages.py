from __future__ import annotations

import gzip
import hashlib
import json
import re
import tracemalloc
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes
from leaderboard.test_ranks import renewed

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.boards.columns import WIDTHS, BoardOptions, scheme_of
from gluebench.leaderboard.apps.boards.pages import BoardPage, read_page
from gluebench.leaderboard.apps.common.formats import score_text
from gluebench.leaderboard.apps.common.page_cache import serve_from_cache
from gluebench.leaderboard.apps.ranks.places import NOWHERE
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.systems.reproduce.references import SOURCE

Send = Callable[..., Submission]


class Cells(HTMLParser):
    """The rows of a page's tables as lists of their cells' text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.rows[-1][-1] = f"{self.rows[-1][-1]} {data.strip()}".strip()


def number(value: float | None) -> dict[str, Any] | None:
    return None if value is None else {"value": value, "low": value - 0.02, "high": value + 0.02, "n": 100}


def entry(name: str, score: float | None, **metrics: dict[str, float]) -> dict[str, Any]:
    """What the board reads of a submission, for the GLUE tasks that are given."""
    tasks = {
        task.replace("_", "-"): {
            "score": None,
            "metrics": {metric: number(value) for metric, value in values.items()},
        }
        for task, values in metrics.items()
    }
    scores = {"complete": score is not None, "missing": [], "score": number(score), "tasks": tasks}
    details = {"key": name.lower(), "name": name, "model": "BiLSTM", "team": "", "link": ""}
    return {**details, "regime": "multi-task", "scores": scores}


# The first two rows of the paper's Figure 1.
BASELINES = [
    entry(
        "GenSen",
        0.666,
        CoLA={"matthews_correlation": 0.077},
        MRPC={"accuracy": 0.766, "f1": 0.83},
        STS_B={"pearson": 0.793, "spearman": 0.792},
        MNLI={"matched_accuracy": 0.714, "mismatched_accuracy": 0.713},
    ),
    entry(
        "Attn",
        0.689,
        CoLA={"matthews_correlation": 0.189},
        MRPC={"accuracy": 0.773, "f1": 0.835},
        STS_B={"pearson": 0.728, "spearman": 0.711},
        MNLI={"matched_accuracy": 0.756, "mismatched_accuracy": 0.759},
    ),
]


def board_of(entries: list[dict[str, Any]], *, grouped: bool = False) -> BoardPage:
    """GLUE's board with these entries, as its page has it."""
    from django.core.cache import caches

    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.contents import read_manifest
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    caches["pages"].clear()  # keys are those of an earlier test's board
    glue = Benchmark.objects.create(name="glue", title="GLUE", manifest=read_manifest("glue").text)
    owner = User.objects.create_user("board@example.org")
    usual = {"benchmark": glue, "owner": owner, "public": True, "status": "graded", "size": 1}
    Submission.objects.bulk_create(
        Submission(**usual, **each, value=(each["scores"]["score"] or {}).get("value")) for each in entries
    )
    return read_page(glue, scheme_of(glue.record), BoardOptions(grouped=grouped))


def test_the_board_has_the_columns_of_figure_1(db: None) -> None:
    table = board_of(BASELINES)
    assert [column.file for column in table.scheme.columns] == (
        ["CoLA", "SST-2", "MRPC", "STS-B", "QQP", "MNLI-m", "MNLI-mm", "QNLI", "RTE", "WNLI"]
    )
    assert [span for _, span in table.sections] == [2, 3, 5]


def test_the_rows_are_written_as_in_figure_1(db: None) -> None:
    table = board_of(BASELINES)
    first, second = [row for row in table.rows if not row.reference]
    assert (first.rank, first.entry["name"], first.score.text) == (1, "Attn", "68.9")
    assert [first.cells[at].text for at in (0, 2, 3, 5, 6)] == (
        ["18.9", "77.3/83.5", "72.8/71.1", "75.6", "75.9"]
    )
    assert (second.rank, second.score.text, second.cells[2].text) == (2, "66.6", "76.6/83.0")
    assert first.cells[0].best
    assert second.cells[3].best


def test_reference_rows_are_placed_and_not_ranked(db: None) -> None:
    rows = [row for row in board_of(BASELINES).rows if row.entry.get("source") != SOURCE]
    assert [row.entry["name"] for row in rows] == ["Human", "Attn", "GenSen"], "without those of one task"
    human = rows[0]
    assert (human.rank, human.place.text, human.reference, human.score.text) == (None, "", True, "87.1")
    assert human.place == NOWHERE
    assert [row.place.text for row in rows[1:]] == ["1 · –", "2 · –"], "the published row takes no rank"


def test_a_reference_without_a_score_stands_on_the_boards_of_its_tasks_alone(db: None) -> None:
    from gluebench.leaderboard.apps.boards.table import references_of

    glue = load_benchmark("glue")
    assert [line.system.name for line in references_of(glue, scheme_of(glue))][:2] == [
        "Human",
        "single-task BiLSTM",
    ]
    wnli = references_of(glue, scheme_of(glue, glue.task("WNLI")))
    assert {line.system.name: line.value for line in wnli}["Majority class"] == 0.651
    mrpc = references_of(glue, scheme_of(glue, glue.task("MRPC")))[0]
    published = {each.name: each for each in glue.task("MRPC").references}["Human"].scores
    assert mrpc.value == pytest.approx(sum(published.values()) / 2), "between systems, by the task's mean"


def test_grouped_as_table_4_keeps_the_ranks(db: None) -> None:
    frozen = {**BASELINES[0], "regime": "frozen"}
    table = board_of([frozen, BASELINES[1]], grouped=True)
    assert [title for title, _ in table.groups] == [
        "Multi-task training",
        "Pre-trained sentence representations, frozen",
        "For reference",
    ]
    assert [row.rank for row in table.rows if not row.reference] == [1, 2]


def test_ties_share_a_rank_and_the_incomplete_have_none(client: Client, graded: Send, tiny: Any) -> None:
    graded(name="First")
    graded(name="Second")
    graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}), name="Third")

    def shown() -> list[tuple[str, str, str]]:
        rows = Cells(client.get("/").content.decode()).rows
        systems = [row for row in rows if "BiLSTM" in " ".join(row)]
        return [(row[0], row[1].split()[0], row[2].split()[0]) for row in systems]

    score = shown()[0][2]
    assert re.fullmatch(r"\d\d\.\d", score)
    incomplete = ("", "Third", "–")
    rank = "1 · … 1st by score; the rank set is being computed"
    assert shown() == [(rank, "First", score), (rank, "Second", score), incomplete]
    assert renewed(tiny).failure == ""
    rank = "1 · 1–2 1st by score; true rank 1 to 2"
    assert shown() == [(rank, "First", score), (rank, "Second", score), incomplete]


def test_the_one_benchmark_is_home(client: Client, graded: Send) -> None:
    graded()
    page = client.get("/").content.decode()
    header = next(row for row in Cells(page).rows if "Rank" in row)
    assert header[:2] == ["Rank", "System"]
    assert header[2].split()[0] == "Score"
    assert header[3:] == ["Para", "Sim", "Infer-m", "Infer-mm", "Refer", "Training", "Date"]
    assert "A tiny benchmark" in page


def test_the_head_of_a_board_stays_in_sight_where_the_board_is_not_too_wide(tiny: Any) -> None:
    """Otherwise the table scrolls sideways in its own box, where nothing can stay."""
    from pathlib import Path

    from django.contrib.staticfiles import finders

    table = board_of(BASELINES)
    assert table.fits
    assert not table._replace(scheme=table.scheme._replace(columns=table.scheme.columns * 2)).fits
    style = Path(finders.find("site/site.css")).read_text()
    for kind, width in WIDTHS.items():
        assert f".c-{kind} {{ width: {width}rem; }}" in style


def test_the_board_says_that_the_columns_of_a_task_count_once(client: Client, graded: Send) -> None:
    assert board_of(BASELINES).tasks_with_several_columns == ("MNLI",)
    graded()
    assert (
        "Infer has more than one column and counts once." in client.get("/benchmarks/tiny").content.decode()
    )


def test_a_number_without_interval_beside_one_with_it_is_not_taken_for_it(db: None) -> None:
    mixed = entry("Mixed", 0.5, MRPC={"accuracy": 0.76, "f1": 0.8})
    mixed["scores"]["tasks"]["MRPC"]["metrics"]["f1"].update(low=None, high=None)
    row = next(row for row in board_of([mixed]).rows if not row.reference)
    assert row.cells[2].interval == "±2.0 / –"


@pytest.mark.parametrize("path", ["/account/signup/", "/account/login/", "/nothing-here"])
def test_a_site_of_one_benchmark_leads_to_it_from_everywhere(client: Client, tiny: Any, path: str) -> None:
    page = client.get(path).content.decode()
    assert 'href="/benchmarks/tiny"' in page
    assert 'href="/benchmarks/tiny/submit"' in page


def test_names_break_where_they_are_joined_and_stay_escaped(client: Client, graded: Send) -> None:
    graded(name="BiLSTM+ELMo+<b>", model="A/B")
    page = client.get("/").content.decode()
    assert "BiLSTM+<wbr>ELMo+<wbr>&lt;b&gt;" in page
    assert "A/<wbr>B" in page
    assert "<b>" not in page.split("BiLSTM+<wbr>")[1].split("</a>")[0]


def test_my_submissions_say_score_and_state(client: Client, ada: Any, graded: Send) -> None:
    graded(name="Whole", public=False)
    graded(zip_bytes({"Refer": PREDICTIONS["Refer"]}), name="Part")
    client.force_login(ada)
    _, part, whole = Cells(client.get("/submissions").content.decode()).rows
    assert part[:4] == ["Part BiLSTM", "–", "Graded, incomplete", "On the board"]
    assert whole[0] == "Whole BiLSTM"
    assert whole[2:4] == ["Graded", "Private"]


def test_what_the_check_found_does_not_stand_before_the_result(
    client: Client, ada: Any, graded: Send
) -> None:
    submission = graded(zip_bytes({**PREDICTIONS, "Sim": ["-1", "2.5", "0.5", "4", "3.5"]}))
    client.force_login(ada)
    page = client.get(submission.get_absolute_url()).content.decode()
    assert page.index("<h2>Tasks</h2>") < page.index("What the check found")
    assert "<summary>1 warning</summary>" in page


def test_the_sign_in_page_asks_once_about_the_password(client: Client, tiny: Any) -> None:
    assert client.get("/account/login/").content.decode().count('href="/account/password/reset/"') == 1


def test_several_benchmarks_are_a_list(client: Client, tiny: Any, tmp_path: Any, graded: Send) -> None:
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    values = {"manifest": tiny.manifest, "gold": tiny.gold, "gold_digest": tiny.gold_digest}
    Benchmark.objects.create(name="other", title="Another benchmark", **values)
    graded()
    graded(public=False)
    page = client.get("/").content.decode()
    assert 'href="/benchmarks/tiny"' in page
    assert 'href="/benchmarks/other"' in page
    rows = [row for row in Cells(page).rows if "open" in row]
    assert [row[2:4] for row in rows] == [["1", "First by score: A system."], ["0", "–"]]
    assert [door in page for door in (">Read</a>", ">Take part</a>", ">Organize</a>")] == [True] * 3


def test_whoever_organizes_something_finds_it_from_every_page(client: Client, tiny: Any, ada: Any) -> None:
    """The link was missing on boards, even for their organizers."""
    client.force_login(ada)
    pages = ("/", "/benchmarks/tiny/progress", "/ledger", "/submissions", "/benchmarks/tiny/data")
    link = 'href="/organize"'
    assert not [path for path in pages if link in client.get(path).content.decode()]
    assert "You organize no benchmark." in client.get("/organize").content.decode()
    tiny.organizers.add(ada)
    assert [path for path in pages if link in client.get(path).content.decode()] == [*pages]
    assert 'href="/benchmarks/tiny/organize">A tiny benchmark' in client.get("/organize").content.decode()


def test_an_empty_site_and_an_empty_board_teach(client: Client, db: None) -> None:
    assert "gluebench leaderboard add" in client.get("/").content.decode()


def test_an_empty_board_says_how_to_be_first(client: Client, tiny: Any) -> None:
    assert "yours can be the first" in client.get("/").content.decode()


def test_the_interval_of_the_score_is_always_shown_and_those_of_the_tasks_on_request(
    client: Client, db: None
) -> None:
    board_of(BASELINES)
    pages = [client.get(f"/benchmarks/glue{query}").content.decode() for query in ("", "?intervals=1")]
    rows = [page.split("/submissions/attn")[1].split("</tr>")[0] for page in pages]
    assert [row.count("±2.0") for row in rows] == [1, 8]
    assert ", 95 % interval 66.9 to 70.9<" in rows[0], "for those who cannot see the line"


def test_after_a_hundred_rows_the_rest_is_behind_a_link(client: Client, graded: Send) -> None:
    first = graded()
    copies = [
        Submission(**{**values, "key": f"copy{at}", "name": f"Copy {at}"})
        for at, values in enumerate(
            [{f.attname: getattr(first, f.attname) for f in Submission._meta.fields if f.name != "id"}] * 104
        )
    ]
    Submission.objects.bulk_create(copies)
    type(first.benchmark).objects.touch()
    page = client.get("/").content.decode()
    assert page.count('<th scope="row" class="name"><a href="/submissions/') == 100
    assert 'href="?rows=all"' in page
    assert "Rows 1 to 100 of 105" in page
    last = client.get("/?page=2").content.decode()
    assert "Rows 101 to 105 of 105" in last
    assert last.count('class="name"><a href="/submissions/') == 5
    assert client.get("/?rows=all").content.decode().count('class="name"><a href="/submissions/') == 105


def test_pages_are_cached_compressed_and_answered_with_304(
    client: Client, graded: Send, django_assert_max_num_queries: Any
) -> None:
    graded()
    plain = client.get("/")
    zipped = client.get("/", headers={"accept-encoding": "gzip"})
    assert zipped["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.content) == plain.content
    assert "Accept-Encoding" in plain["Vary"]
    with django_assert_max_num_queries(1):
        again = client.get("/", headers={"if-none-match": plain["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        *[(text, "") for text in ("gzip;q=0", "br, GZIP ; q=0.000", "gzip;q=0, deflate", "identity", "")],
        *[(text, "gzip") for text in ("gzip;q=0.5", "br;q=0, gzip", "GZIP, br;q=0", "gzip;q=1.0")],
    ],
)
def test_a_page_is_compressed_for_those_who_take_that(
    client: Client, graded: Send, accepted: str, encoding: str
) -> None:
    graded()
    for _ in range(2):
        answer = client.get("/", headers={"accept-encoding": accepted})
        assert answer.get("Content-Encoding", "") == encoding
        assert answer.content.startswith(b"<!doctype" if not encoding else b"\x1f\x8b")


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
def test_a_large_page_is_made_and_sent_in_parts(rf: Any, accepted: str) -> None:
    """All pairs of 2,000 systems are 200 MB, which were in memory several times."""
    part = "".join(f'{{"a": {at}, "p": {at % 997 / 997}}},' for at in range(20_000))

    def make() -> Iterator[str]:
        yield from (part for _ in range(60))

    request = rf.get("/pairs.json", headers={"accept-encoding": accepted})
    tracemalloc.start()
    try:
        answer = serve_from_cache(request, name=accepted, version=1, make=make)
        digest, last = hashlib.sha256(), b""
        for piece in answer:
            last = piece
            digest.update(piece)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        caches["pages"].clear()
    whole = 60 * part.encode()
    assert len(whole) > 40e6
    assert peak < len(whole) * 2 / 3, "it was more than twice the page"
    if accepted == "gzip":
        assert gzip.decompress(last) == whole
    else:
        assert digest.hexdigest() == hashlib.sha256(whole).hexdigest()


def test_the_second_visitor_of_a_board_gets_the_first_one_s_page(
    client: Client, graded: Send, django_assert_num_queries: Any
) -> None:
    graded()
    first = client.get("/benchmarks/tiny")
    with django_assert_num_queries(1):
        second = Client().get("/benchmarks/tiny")
    assert second.content == first.content
    for answer in (first, second):
        del answer["X-Request-ID"]
    assert dict(second.items()) == dict(first.items())
    assert Client().get("/benchmarks/tiny", headers={"host": "elsewhere.example"}).status_code == 400
    graded(name="Newer")
    assert "Newer" in Client().get("/benchmarks/tiny").content.decode()


@pytest.mark.parametrize("path", ["/", "/benchmarks/tiny.json", "/benchmarks/tiny/diagnostics/DX"])
def test_every_change_that_shows_makes_the_page_new(
    client: Client, ada: Any, graded: Send, path: str
) -> None:
    client.force_login(ada)
    submission = graded(public=False, name="Zebra")
    seen = [client.get(path)["ETag"]]
    for public in ("1", "0"):
        client.post(f"/submissions/{submission.key}/publish", {"public": public})
        seen.append(client.get(path)["ETag"])
    graded(name="Another")
    seen.append(client.get(path)["ETag"])
    assert len(set(seen)) == 4
    assert "Zebra" not in client.get(path).content.decode()


def test_a_cached_board_is_the_same_for_everybody(client: Client, ada: Any, graded: Send) -> None:
    graded()
    client.force_login(ada)
    page = client.get("/").content.decode()
    assert "My submissions" in page
    assert "ada@example.org" not in page
    assert "Sign in" in Client().get("/").content.decode()


def test_the_json_twin_of_the_board(client: Client, graded: Send, tiny: Any) -> None:
    submission = graded(team="A team", regime="frozen", parameters=12)
    twin = graded(name="Its twin")
    assert renewed(tiny).failure == ""
    board = client.get("/benchmarks/tiny.json").json()
    assert board["schema"] == "gluebench.board/2"
    assert [column["file"] for column in board["columns"]] == ["Para", "Sim", "Infer-m", "Infer-mm", "Refer"]
    row, other = board["rows"]
    assert (row["rank"], row["name"], row["team"], row["regime"]) == (1, "A system", "A team", "frozen")
    for each in (row, other):
        assert (each["rank"], each["rank_low"], each["rank_high"], each["withheld"]) == (1, 1, 2, None)
    assert board["may_be_best"] == [submission.key, twin.key]
    assert row["parameters"] == {"total": 12, "shared": None}
    assert row["score"] == submission.report["score"]
    assert row["tasks"] == submission.report["tasks"]


def test_the_submission_page_shows_every_metric_with_its_interval(client: Client, graded: Send) -> None:
    submission = graded(parameters=110_000_000)
    page = client.get(submission.get_absolute_url()).content.decode()
    texts = [text for row in Cells(page).rows for text in row]
    for task in submission.report["tasks"].values():
        for score in task["metrics"].values():
            assert f"{100 * score['value']:.1f}" in texts
            if score["low"] is not None:
                shown = f"{100 * score['low']:.1f} to {100 * score['high']:.1f}".replace("-", "−")
                assert shown in texts
    assert "110 million" in page
    assert submission.report["provenance"]["labels"] in page


def test_the_diagnostics_page_by_category(client: Client, graded: Send, tiny: Any) -> None:
    submission = graded()
    graded(name="Its twin")
    assert renewed(tiny).failure == ""
    coarse = Cells(client.get("/benchmarks/tiny/diagnostics/DX").content.decode()).rows
    head = ["Rank by “All”", "System", "All"]
    assert [cell.split(" n =")[0] for cell in coarse[0]] == [*head, "Logic"]
    assert [row[0] for row in coarse[1:]] == ["1 · 1–2 1st by score; true rank 1 to 2"] * 2
    overall = submission.report["diagnostics"]["DX"]["overall"]["value"]
    assert coarse[1][2].startswith(f"{100 * overall:.1f}")
    page = client.get("/benchmarks/tiny/diagnostics/DX?category=Logic").content.decode()
    fine = Cells(page).rows
    assert [cell.split(" n =")[0] for cell in fine[0]] == [*head, "Negation", "Conjunction"]
    withheld = submission.report["diagnostics"]["DX"]["fine"]["Conjunction"]["withheld"]
    assert f"<small>{withheld}</small>" in page
    assert "not comparable" in page
    twin = client.get("/benchmarks/tiny/diagnostics/DX.json").json()
    assert twin["schema"] == "gluebench.diagnostics/2"
    assert twin["rows"][0]["diagnostic"] == submission.report["diagnostics"]["DX"]
    assert [twin["rows"][0][end] for end in ("rank", "rank_low", "rank_high")] == [1, 1, 2]


def test_the_human_reference_stands_on_the_diagnostics_page() -> None:
    from gluebench.leaderboard.apps.boards.diagnostics import table_of

    table = table_of(load_benchmark("glue").task("AX"), [])
    assert (table["lines"][0]["name"], score_text(table["lines"][0]["scores"][0])) == ("Human", "80.0")
    assert [title for title, *_ in table["headings"]] == [
        "All",
        "Lexical Semantics",
        "Predicate-Argument Structure",
        "Logic",
        "Knowledge",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/benchmarks/none",
        "/benchmarks/none.json",
        "/benchmarks/tiny/diagnostics/Para",
        "/benchmarks/tiny/diagnostics/X",
        "/submissions/none",
        "/submissions/none.json",
    ],
)
def test_what_is_not_there_is_404(client: Client, tiny: Any, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_detail_is_a_fragment(client: Client, graded: Send) -> None:
    submission = graded(description="Two *layers*.", parameters=5, shared_parameters=3)
    page = client.get(f"{submission.get_absolute_url()}/detail").content.decode()
    assert "<em>layers</em>" in page
    assert "<html" not in page


def test_json_is_json(client: Client, graded: Send) -> None:
    submission = graded()
    twin = json.loads(client.get(f"{submission.get_absolute_url()}.json").content)
    assert twin["report"] == submission.report


def test_the_manifest_is_kept_with_what_it_extends(db: None, tmp_path: Any, gold_folder: Any) -> None:
    from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark

    home = tmp_path / "mine"
    home.mkdir()
    (home / "parent.toml").write_text(MANIFEST.read_text())
    (home / "part.toml").write_text(
        '[benchmark]\nname = "part"\nextends = "./parent.toml"\ntasks = ["Refer", "DX"]\n'
    )
    add_benchmark(str(home / "part.toml"), gold_folder)
    for path in home.iterdir():
        path.unlink()
    record = Benchmark.objects.get(name="part").record
    assert [task.name for task in record.tasks] == ["Refer", "DX"]
