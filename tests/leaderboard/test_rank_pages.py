"""Everything that a site says of ranks, read page by page: nothing contradicts the decisions."""

from __future__ import annotations

import base64
import csv
import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.test import Client
from leaderboard.many import made_up_zips

from gluebench.leaderboard import commands
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.ranks.models import Decisions, Pair, Ranking
from gluebench.leaderboard.apps.ranks.renewing import compare_pair, enqueue_outdated, renew_ranking
from gluebench.leaderboard.apps.results.acts import announce, make_due
from gluebench.leaderboard.apps.submissions.acts import forget_files
from gluebench.leaderboard.apps.submissions.grading import grade
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.uploads.accept import accept
from gluebench.leaderboard.keeping.freeze import freeze

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/sample"
FORBIDDEN = re.compile(
    r"\btied\b|\bties\b|\btie with\b|came first|error bar|equally good|rank_interval|tied_first|joint_low",
    re.IGNORECASE,
)
PLACE = re.compile(r"(\d+) · (?:(\d+)(?:–(\d+))?|([–…]))")
SKIPPED = re.compile(
    r"^/(account|admin|api|label|ledger|static|terms|privacy)|/(data|croissant|people|receipt|file)\b|\?a="
)
"""Addresses without ranks, and comparisons, which are asked for one by one."""
CATEGORY = re.compile(rf"{BOARD}/diagnostics/(\w+)/([\w-]+?)(\.json)?$")


class Truth:
    """What the stored decisions and the shown scores say, by plain loops."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.ranking = Ranking.objects.get(benchmark=benchmark)
        self.keys = {key: at for at, (_, key) in enumerate(self.ranking.systems)}
        """The tested systems, with their positions in the decisions."""
        self.better = {row.score: _bits(row.better, len(self.keys)) for row in Decisions.objects.all()}

    def places(self, score: str, values: Mapping[str, float | None]) -> dict[str, tuple[int, int, int] | int]:
        """The rank of each row with a value, and its set where its predictions are kept."""
        ranked = {key: value for key, value in values.items() if value is not None}
        places: dict[str, tuple[int, int, int] | int] = {}
        for key, value in ranked.items():
            rank = 1 + sum(other > value for other in ranked.values())
            if key not in self.keys:
                places[key] = rank
                continue
            better, at = self.better[score], self.keys[key]
            others = [self.keys[other] for other in ranked if other in self.keys]
            low = 1 + sum(better[other][at] for other in others)
            high = len(ranked) - sum(better[at][other] for other in others)
            assert low <= rank <= high
            places[key] = (rank, low, high)
        return places

    def is_better(self, score: str, a: str, b: str) -> bool:
        """Whether the first system is significantly better."""
        return self.better[score][self.keys[a]][self.keys[b]]

    def differ(self, score: str, a: str, b: str) -> bool:
        """Whether two systems differ significantly."""
        return self.is_better(score, a, b) or self.is_better(score, b, a)


def _bits(text: str, size: int) -> list[list[bool]]:
    data = zlib.decompress(base64.b64decode(text))
    bits = [bool(byte >> (7 - at) & 1) for byte in data for at in range(8)]
    return [bits[row * size : (row + 1) * size] for row in range(size)]


class Cells(HTMLParser):
    """The rows of a page's tables: the key of the first linked submission, and the text of its rank."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[tuple[str, str]] = []
        self.key, self.rank, self.open = "", "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        if tag == "tr":
            self.key, self.rank = "", ""
        elif tag == "td":
            self.open = "rank" in (values.get("class") or "").split()
        elif tag == "a" and not self.key:
            found = re.search(r"submissions/(\w+)", values.get("href") or "")
            self.key = found[1] if found else ""

    def handle_data(self, data: str) -> None:
        self.rank += data if self.open else ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self.open = False
        elif tag == "tr" and self.key and self.rank:
            self.rows.append((self.key, self.rank))


class Site(NamedTuple):
    """A site with a board of many systems."""

    benchmark: Benchmark
    author: Any
    organizer: Any


@pytest.fixture
def site(db: None, request: pytest.FixtureRequest, sample_folder: Path, person: Any) -> Site:
    """So many systems, then one that lacks a task, and one whose file is no longer kept."""
    caches["pages"].clear()
    number: int = request.param
    author, organizer = person("ada@example.org"), person("organizer@example.org")
    benchmark = Benchmark.objects.get(name=add_benchmark("sample", sample_folder / "gold"))
    benchmark.settings = {"per_day": None, "at_once": None}
    benchmark.save()
    benchmark.organizers.add(organizer)
    zips = list(made_up_zips(sample_folder / "gold", number))
    zips += [_without(zips[1], "RTE.tsv"), next(made_up_zips(sample_folder / "gold", 1, seed=5))]
    for at, data in enumerate(zips):
        about = {"name": f"System <{at}>", "model": "GRU", "public": True, "parameters": 10 + at}
        row = Submission(owner=author, benchmark=benchmark, **about)
        grade(accept(row, ContentFile(data, name="p.zip")).pk)
    forget_files(Submission.objects.filter(name=f"System <{len(zips) - 1}>"))
    enqueue_outdated()
    renew_ranking.call(Ranking.objects.get().pk)
    assert Ranking.objects.get().failure == ""
    benchmark.refresh_from_db()
    return Site(benchmark, author, organizer)


def _without(data: bytes, name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
    return packed.getvalue()


def crawl(client: Client, seeds: Sequence[str]) -> dict[str, str]:
    """Every page and file that can be reached from there, by address."""
    waiting, pages = list(seeds), {}
    while waiting:
        address = waiting.pop()
        if address in pages or SKIPPED.search(address):
            continue
        answer = client.get(address)
        body = b"".join(answer) if answer.streaming else answer.content
        if answer.status_code != 200 or answer["Content-Type"].startswith(("application/zip", "image/png")):
            continue
        pages[address] = body.decode("utf-8-sig")
        if answer["Content-Type"].startswith("text/html"):
            waiting += _links(address, pages[address])
    return pages


def _links(address: str, text: str) -> Iterator[str]:
    for link in re.findall(r'\s(?:href|src)="([^"#]*)', text):
        parts = urlsplit(urljoin(address, unescape(link)))
        sorted_or_typed = re.search(r"(sort|order|q|columns|intervals)=", parts.query)
        if not parts.netloc and not sorted_or_typed:
            yield f"{parts.path}?{parts.query}" if parts.query else parts.path


@pytest.mark.parametrize(
    "site",
    [12, pytest.param(31, marks=pytest.mark.slow), pytest.param(300, marks=pytest.mark.slow)],
    indirect=True,
    ids=lambda number: f"{number}",
)
def test_every_page_says_the_same_of_ranks(site: Site, tmp_path: Path) -> None:
    visitor, author, organizer = Client(), Client(), Client()
    author.force_login(site.author)
    organizer.force_login(site.organizer)
    truth = Truth(site.benchmark)
    board = visitor.get(f"{BOARD}.json").json()
    names = {row["key"]: row["name"] for row in board["rows"]}
    values = {row["key"]: (row["score"] or {}).get("value") for row in board["rows"]}
    places = truth.places("", values)
    assert sum(isinstance(place, int) for place in places.values()) == 1, "the one whose file is gone"

    pages = crawl(visitor, [BOARD, f"{BOARD}/embed", f"{BOARD}?rows=all", *_api_addresses(board)])
    own = [f"/submissions/{key}" for key in names]
    pages |= {f"own {address}": text for address, text in crawl(author, own[:5]).items() if address in own}
    for text in pages.values():
        assert not FORBIDDEN.search(text)
    _check_tables(pages, truth, places, visitor)
    _check_files(pages, places)
    _check_pairs(pages, truth, names)
    _check_systems(pages, truth, places, names)
    best = [key for key, place in places.items() if isinstance(place, tuple) and place[1] == 1]
    _check_best(pages, best, names)
    _check_comparisons(visitor, truth, list(names))
    _check_filter(visitor, truth, board)
    _check_results(site, visitor, organizer, places, tmp_path)


def _api_addresses(board: Mapping[str, Any]) -> list[str]:
    keys = [row["key"] for row in board["rows"]]
    api = "/api/v1/benchmarks/sample"
    # The crawler leaves the interface out: these are the answers of it that have ranks.
    return [f"{BOARD}.json", f"{BOARD}/pairs.json", *(f"/submissions/{key}/badge.svg" for key in keys), api]


def _text(rank: int | tuple[int, int, int]) -> str:
    if isinstance(rank, int):
        return f"{rank} · –"
    observed, low, high = rank
    return f"{observed} · {low}" if low == high else f"{observed} · {low}–{high}"


def _check_tables(pages: Mapping[str, str], truth: Truth, places: Mapping[str, Any], visitor: Client) -> None:
    """The rank cells of every table, of the average, tasks and phenomena, and the places in JSON views."""
    seen, by_score = 0, {}
    for address, text in pages.items():
        path, _, query = address.partition("?")
        if not path.startswith(BOARD) or "by=" in query or not text.startswith("<!"):
            continue
        rows = Cells(text).rows
        if path in (BOARD, f"{BOARD}/embed"):
            expected = places
        elif path.startswith((f"{BOARD}/tasks/", f"{BOARD}/diagnostics/")):
            if path not in by_score:
                by_score[path] = _places_of(visitor, f"{path}.json", truth)
            expected = by_score[path]
        else:
            assert not [rank for _, rank in rows if PLACE.search(rank)], address
            continue
        for key, rank in rows:
            assert rank.startswith(_text(expected[key])), (address, key)
            seen += 1
    assert seen > 20 * len(places)


def _places_of(visitor: Client, address: str, truth: Truth) -> dict[str, Any]:
    """The places of a task or phenomenon by its JSON view, each checked with the decisions."""
    found = visitor.get(address).json()
    score = found["task"]
    if "phenomenon" in found:
        score = f"{score}:{found['kind']}:{found['phenomenon']}"

    def value(row: Mapping[str, Any]) -> float | None:
        scores = row["diagnostic"]["overall"] if "diagnostic" in row else row["score"]
        return scores and scores["value"]  # type: ignore[no-any-return]

    places = truth.places(score, {row["key"]: value(row) for row in found["rows"]})
    for row in found["rows"]:
        _check_place(row, places.get(row["key"]))
    return places


def _check_place(row: Mapping[str, Any], place: Any) -> None:
    told = (row["rank"], row["rank_low"], row["rank_high"])
    assert told == (place if isinstance(place, tuple) else (place, None, None)), row["name"]
    assert bool(row["withheld"]) == (not isinstance(place, tuple)), row["name"]


def _check_files(pages: Mapping[str, str], places: Mapping[str, Any]) -> None:
    """JSON, CSV, LaTeX, Markdown and badges."""
    for row in json.loads(pages[f"{BOARD}.json"])["rows"]:
        _check_place(row, places.get(row["key"]))
    for row in csv.DictReader(io.StringIO(pages[f"{BOARD}.csv"])):
        told = tuple(int(row[name]) if row[name] else None for name in ("rank", "rank_low", "rank_high"))
        place = places.get(row["key"])
        assert told == (place if isinstance(place, tuple) else (place, None, None))
    texts = sorted(map(_text, places.values()))
    cells = [line.split(" | ") for line in pages[f"{BOARD}.md"].splitlines()[2:]]
    assert sorted(cell for cell in (line[0].strip("| ") for line in cells) if cell) == texts
    cells = [line.split(" & ") for line in pages[f"{BOARD}.tex"].splitlines() if " & " in line]
    told = [line[0].replace("--", "–") for line in cells if PLACE.match(line[0].replace("--", "–"))]
    assert sorted(told) == texts
    for key, place in places.items():
        assert f"rank {_text(place)}: " in pages[f"/submissions/{key}/badge.svg"]


def _check_pairs(pages: Mapping[str, str], truth: Truth, names: Mapping[str, str]) -> None:
    """Pairs in JSON, CSV and every window of the page: bold, adjusted p and decisions agree."""
    found = json.loads(pages[f"{BOARD}/pairs.json"])["pairs"]
    tested = {key for pair in found for key in (pair["a"], pair["b"])}
    assert len(found) == len(tested) * (len(tested) - 1) // 2 >= 66
    for pair in found:
        assert pair["significant"] == truth.differ("", pair["a"], pair["b"]) == (pair["adjusted"] <= 0.05)
        assert not pair["significant"] or pair["difference"] > 0
        assert pair["p"] <= pair["adjusted"]
    rows = list(csv.DictReader(io.StringIO(pages[f"{BOARD}/pairs.csv"])))
    assert [(row["a"], row["b"], float(row["adjusted"])) for row in rows] == [
        (pair["a"], pair["b"], pair["adjusted"]) for pair in found
    ]
    cells = {}
    for address, text in pages.items():
        if address.partition("?")[0] == f"{BOARD}/pairs":
            for a, b, cell in re.findall(r'href="compare\?a=(\w+)&amp;b=(\w+)"[^>]*>(.*?)</a>', text):
                cells[a, b] = cell.startswith("<b>")
    assert len(cells) == len(tested) * (len(tested) - 1)
    assert all(bold == truth.differ("", a, b) for (a, b), bold in cells.items())


def _check_systems(
    pages: Mapping[str, str], truth: Truth, places: Mapping[str, Any], names: Mapping[str, str]
) -> None:
    """Each system's page, to visitors and to its author: its rank, and from whom it does not differ."""
    for address, text in pages.items():
        page = re.match(r"(?:own )?/submissions/(\w+)$", address)
        if page is None:
            continue
        key = page[1]
        section = text.partition('<section id="rank">')[2].partition("</section>")[0]
        if key not in places:
            assert not section
            continue
        assert f"<b>{_text(places[key])}</b> of {len(places)}" in section
        similar = section.partition("not significantly different from:")[2].partition("All pairs")[0]
        told = re.findall(r"/submissions/(\w+)", similar)
        more = re.search(r"and (\d+) more", similar)
        if key in truth.keys:
            others = [other for other in truth.keys if other in places and other != key]
            equal = {other for other in others if not truth.differ("", key, other)}
            assert {*told} <= equal
            assert len(told) + int(more[1] if more else 0) == len(equal)
        else:
            assert not told
        distances = re.findall(
            r"/submissions/(\w+)\">(?:.(?!</tr>))*?<td>(?:<a.*?</a>)? ?([^<]*)</td></tr>", text
        )
        assert distances
        for other, test in distances:
            if key in truth.keys and other in truth.keys:
                assert test.startswith("significant") == truth.differ("", key, other), (address, test)


def _check_best(pages: Mapping[str, str], best: Sequence[str], names: Mapping[str, str]) -> None:
    for address in (BOARD, f"{BOARD}/embed"):
        text = unescape(re.sub(r"<wbr>|\u200b|<[^>]*>", "", re.sub(r"&lt;|&gt;", "", pages[address])))
        sentence = re.search(r"May be the best: (.*?)\. 1 system has no rank set", text)
        assert sentence, address
        told = sentence[1].partition(" and ")[0].split(", ")
        plain = {re.sub("[<>]", "", names[key]) for key in best}
        assert {*told} <= plain
        assert len(told) == min(len(plain), 12)
    assert json.loads(pages[f"{BOARD}.json"])["may_be_best"] == [
        row["key"] for row in json.loads(pages[f"{BOARD}.json"])["rows"] if row["key"] in best
    ]


def _check_comparisons(visitor: Client, truth: Truth, keys: Sequence[str]) -> None:
    """The comparison of two rows names both families, and has the board's decision."""
    tested = [key for key in keys if key in truth.keys][:4]
    for a, b in pairwise(tested):
        address = f"{BOARD}/compare?a={a}&b={b}"
        visitor.get(address, follow=True)
        compare_pair.call(Pair.objects.get(a__key__in=(a, b), b__key__in=(a, b)).pk)
        text = visitor.get(address, follow=True).content.decode()
        assert "one pair named beforehand" in text
        assert ("not significantly different. Ranks follow" in text) != truth.differ("", a, b)
        answer = visitor.get(address.replace("?", ".json?"), follow=True).json()
        assert answer["board"]["significant"] == truth.differ("", a, b)
        assert answer["board"]["family"] == "all pairs of the board at once"


def _check_filter(visitor: Client, truth: Truth, board: Mapping[str, Any]) -> None:
    """A filtered board ranks its rows among themselves, by the same decisions, and says so."""
    kept = [row for row in board["rows"] if row["parameters"]["total"] <= 21]
    places = truth.places("", {row["key"]: (row["score"] or {}).get("value") for row in kept})
    text = visitor.get(f"{BOARD}?parameters=21").content.decode()
    assert f"those among these {len(kept)} systems" in text
    rows = Cells(text).rows
    assert {key: rank.partition("by")[0] for key, rank in rows if key in places}.keys() == places.keys()
    for key, rank in rows:
        if key in places:
            assert re.match(rf"{re.escape(_text(places[key]))}(?=\d+(st|nd|rd|th))", rank), (
                rank,
                places[key],
            )


def _check_results(
    site: Site, visitor: Client, organizer: Client, places: Mapping[str, Any], tmp_path: Path
) -> None:
    """Results day, its archive with certificates, a frozen copy, and `verify --recompute` of it."""
    announce(site.benchmark, site.organizer, labels=True)
    enqueue_outdated()
    for ranking in Ranking.objects.all():
        renew_ranking.call(ranking.pk)
    make_due()
    page = visitor.get(f"{BOARD}/results").content.decode()
    assert not FORBIDDEN.search(page)
    rows = Cells(page).rows
    assert len(rows) == 10
    assert all(rank == _text(places[key]) for key, rank in rows)
    data = b"".join(visitor.get(f"{BOARD}/results.zip"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        texts = {name: archive.read(name).decode("utf-8-sig") for name in archive.namelist()}
    for name, text in texts.items():
        assert name.startswith("labels/") or not FORBIDDEN.search(text), name
    for row in csv.DictReader(io.StringIO(texts["places.csv"])):
        place = places[row["key"]]
        if isinstance(place, tuple):
            observed, low, high = place
            span = f"{low}" if low == high else f"{low}–{high}"
            expected = rf"{observed}(st|nd|rd|th) by score of {len(places)}, true rank {span}$"
        else:
            expected = rf"{place}(st|nd|rd|th) by score of {len(places)}; no rank set: its predictions are"
        assert re.match(expected, row["certificate"])
    assert "May be the best: " in texts["README.txt"]
    freeze(tmp_path / "frozen", ["sample"])
    for file in (tmp_path / "frozen").rglob("*"):
        if file.suffix in (".html", ".json", ".csv", ".md", ".tex") and "release" not in file.parts:
            assert not FORBIDDEN.search(file.read_text()), file
    frozen = Cells((tmp_path / "frozen" / "benchmarks" / "sample.html").read_text()).rows
    assert frozen
    result = commands.verify(str(tmp_path / "frozen"), None, None, None, recompute=True)
    assert result.findings == []
    assert any("same ranks and rank sets" in text for text in result.checked)
