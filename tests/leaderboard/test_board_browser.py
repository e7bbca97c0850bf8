"""Boards and charts of 7, 30 and 300 systems in Chromium: what fits the first screen, and what overlaps."""

from __future__ import annotations

import gzip
import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import MARKS, Tab, axe_finds, shown
from django.contrib.staticfiles import finders
from leaderboard.test_pages import board_of, entry

pytestmark = [*MARKS, pytest.mark.django_db]

SITE = "http://board.test"
BOARD = "/benchmarks/glue"
SIZES = (7, 30, 300)
SHOWN_SIZES = [7, pytest.param(30, marks=pytest.mark.slow), 300]
"""The least and the most by default."""
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
WIDE = {"width": 1440, "height": 900}
A4 = {"width": 717, "height": 1046}
"""Upright, in the pixels of a browser, with its usual margins."""
NAMES = ("Juniper-XL", "Kestrel-Large ensemble", "Open Meadow 7B, adapters of rank 16", "Tern")
TEAMS = ("Quarry Labs", "Lakeside Natural Language Processing", "")
SET = 9
"""How many neighbors on either side each system does not differ from."""


def made_up(number: int) -> list[dict[str, Any]]:
    """Entries of so many systems, evenly apart, whose names and teams have usual lengths."""
    entries = []
    for at in range(number):
        score = 0.91 - 0.4 * at / number
        metrics: dict[str, dict[str, float]] = {
            "CoLA": {"matthews_correlation": score - 0.2},
            "STS_B": {"pearson": score, "spearman": score - 0.01},
            "MNLI": {"accuracy_matched": score, "accuracy_mismatched": score - 0.02},
        }
        metrics |= {task: {"accuracy": score, "f1": score - 0.03} for task in ("MRPC", "QQP")}
        metrics |= {task: {"accuracy": score} for task in ("SST_2", "QNLI", "RTE", "WNLI")}
        made = entry(f"{NAMES[at % len(NAMES)]} {at}", score, **metrics)
        made |= {"key": f"key{at:03}", "team": TEAMS[at % len(TEAMS)], "parameters": 10 ** (5 + at % 6)}
        entries.append(made)
    return entries


def rank_them(number: int) -> None:
    """Store rank sets of the systems of `made_up`, each of which may change places with its neighbors."""
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.ranks.models import Decisions, Ranking
    from gluebench.leaderboard.apps.submissions.models import Submission

    Benchmark.objects.filter(name="glue").update(gold="here")
    glue = Benchmark.objects.get(name="glue")
    pairs = list(Submission.objects.filter(benchmark=glue).order_by("-value").values_list("pk", "key"))
    ranking = Ranking.objects.create(benchmark=glue, version=glue.version, systems=pairs)
    counts = [[max(at - SET, 0), max(number - at - 1 - SET, 0)] for at in range(number)]
    Decisions.objects.create(ranking=ranking, score="", counts=counts, better="")


@pytest.fixture(scope="module", autouse=True)
def _database_beside_a_browser() -> Iterator[None]:
    """Django refuses a database where a loop runs, as the browser's does; no test here asks both at once."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        yield


@pytest.fixture(scope="module")
def pages(django_db_setup: None, django_db_blocker: Any) -> dict[str, bytes]:
    """The pages of boards of so many systems, by the number and the rest of the address."""
    from django.core.cache import caches
    from django.db import transaction
    from django.test import Client

    made = {}
    with django_db_blocker.unblock():
        for number in SIZES:
            with transaction.atomic():
                board_of(made_up(number))
                rank_them(number)
                for path in (
                    "",
                    "?pin=key005",
                    "?sort=RTE",
                    "?sort=RTE&order=asc",
                    "/progress",
                    "/efficiency",
                ):
                    answer = Client().get(f"{BOARD}{path}")
                    assert answer.status_code == 200, path
                    made[f"/{number}{path}"] = answer.content
                transaction.set_rollback(True)
        caches["pages"].clear()
    return made


@pytest.fixture(scope="module")
def browser(pages: dict[str, bytes], chromium: Any) -> Any:
    """A browser that is started after the pages are made; see `chromium`."""
    return chromium


@pytest.fixture
def show(browser: Any, pages: dict[str, bytes]) -> Iterator[Any]:
    """Open one of the pages; returns it."""
    tabs = []

    def answer(route: Any) -> None:
        path = route.request.url.removeprefix(SITE)
        if path.startswith("/static/"):
            file = Path(finders.find(path.removeprefix("/static/")))
            kind = "font/woff2" if file.suffix == ".woff2" else mimetypes.guess_type(file)[0]
            route.fulfill(body=file.read_bytes(), content_type=kind)
        else:
            route.fulfill(body=pages.get(path, b"<title>Elsewhere</title>"), content_type="text/html")

    def opened(path: str, size: dict[str, int], **context: Any) -> Any:
        tab = Tab(browser, SITE, viewport=size, **context)
        tabs.append(tab)
        tab.page.route("**/*", answer)
        tab.page.goto(path)
        return tab.page

    yield opened
    for tab in tabs:
        tab.context.close()
        assert not tab.complaints


VISIBLE = """() => [...document.querySelectorAll("#board tbody tr")].filter((row) => {
  const { bottom, height } = row.getBoundingClientRect();
  return height && bottom <= window.innerHeight && row.querySelector("a[href*='/submissions/']");
}).length"""
TOO_WIDE = "() => document.documentElement.scrollWidth - window.innerWidth"


@pytest.mark.parametrize("java_script", [True, False])
@pytest.mark.parametrize(("size", "least"), [(DESKTOP, 16), (PHONE, 8)])
def test_the_first_screen_has_many_systems(
    show: Any, size: dict[str, int], least: int, java_script: bool
) -> None:
    page = show("/300", size, java_script_enabled=java_script)
    if java_script:  # a page cannot be asked without
        assert page.evaluate(VISIBLE) >= least
        assert page.evaluate(TOO_WIDE) <= 0
    else:
        boxes = [row.bounding_box() for row in page.locator("#board tbody tr").all()[: least + 3]]
        bottoms = [box["y"] + box["height"] for box in boxes if box]
        assert sum(bottom <= size["height"] for bottom in bottoms) >= least


@pytest.mark.parametrize("size", [DESKTOP, WIDE, PHONE], ids=["1280", "1440", "390"])
@pytest.mark.parametrize("number", SHOWN_SIZES)
def test_a_board_fits_and_stands_out_nowhere(show: Any, number: int, size: dict[str, int]) -> None:
    page = show(f"/{number}", size)
    assert page.evaluate(TOO_WIDE) <= 0
    if size is not PHONE:
        assert page.locator(".scroll.fits").evaluate("(box) => box.scrollWidth - box.clientWidth") <= 0
    heights = "() => [...document.querySelectorAll('#board tbody tr')].map((row) => row.offsetHeight)"
    assert max(page.evaluate(heights)) <= (54 if size is PHONE else 32), "no row has a further line"
    if number == 7:  # a board of 300 has the same marks, and takes axe ten times as long
        assert not [shown(each) for each in axe_finds(page)]


OVERLAPS = """() => {
  const found = [];
  for (const chart of document.querySelectorAll("svg.chart")) {
    const texts = [...chart.querySelectorAll("text")];
    const boxes = texts.map((text) => text.getBoundingClientRect());
    for (let one = 0; one < boxes.length; one += 1) for (let two = 0; two < one; two += 1) {
      const [a, b] = [boxes[one], boxes[two]];
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 0 && down > 3) found.push(`${texts[one].textContent} / ${texts[two].textContent}`);
    }
    const whole = chart.getBoundingClientRect();
    boxes.forEach((box, at) => {
      const isCut = box.left < whole.left - 1 || box.right > whole.right + 1;
      if (isCut) found.push(`cut: ${texts[at].textContent}`);
    });
  }
  return found;
}"""


@pytest.mark.parametrize("page_name", ["progress", "efficiency"])
@pytest.mark.parametrize("number", SHOWN_SIZES)
def test_no_text_of_a_chart_covers_another(show: Any, number: int, page_name: str) -> None:
    for size in (DESKTOP, PHONE):
        page = show(f"/{number}/{page_name}", size)
        assert page.locator("svg.chart").count() >= 1
        assert page.evaluate(OVERLAPS) == []
        assert page.evaluate(TOO_WIDE) <= 0
    if number == 7:
        assert not [shown(each) for each in axe_finds(page)]


def test_points_of_a_chart_lead_to_their_systems_by_keyboard_too(show: Any) -> None:
    page = show("/300/progress", DESKTOP)
    charts = page.locator("svg.chart:visible")
    assert charts.count() == 4
    assert page.locator("svg.chart a[tabindex='-1']").count() > 300, "the mouse reaches all"
    named = charts.nth(1).locator("a:not([tabindex])")
    assert named.count() == 30
    named.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{SITE}/submissions/key000")


def test_each_row_says_its_rank_set_and_interval(show: Any) -> None:
    row = show("/300", DESKTOP).locator("#board tbody tr").nth(11)
    assert row.locator("td.rank [aria-hidden] >> text=12").count() == 1
    heard = row.evaluate("""(row) => {
      const copy = row.cloneNode(true);
      for (const hidden of copy.querySelectorAll("[aria-hidden]")) hidden.remove();
      return [...copy.cells].slice(0, 3).map((cell) => cell.textContent.trim());
    }""")
    assert heard[0] == "12th by score; true rank 3 to 21"
    assert heard[2] == "89.5, 95 % interval 87.5 to 91.5"
    assert row.locator("svg").count() == 2


def test_rows_are_selected_to_compare_or_to_pin(show: Any) -> None:
    page = show("/30", DESKTOP)
    tray = page.get_by_role("button", name="Compare")
    assert not tray.is_visible()
    page.get_by_role("checkbox", name="Select Juniper-XL 4").check()
    page.get_by_role("checkbox", name="Select Tern 7").check()
    assert page.locator("#picked").inner_text() == "2 selected: Juniper-XL 4, Tern 7"
    page.get_by_role("button", name="Pin to top").click()
    assert page.url.endswith("/30?pin=key004%2Ckey007")
    page.go_back()
    for name in ("Juniper-XL 4", "Tern 7"):
        page.get_by_role("checkbox", name=f"Select {name}").check()
    tray.click()
    assert page.url == f"{SITE}{BOARD}/compare?pin=key004&pin=key007"


def test_a_pinned_row_stays_in_sight_below_the_head(show: Any) -> None:
    page = show("/300?pin=key005", DESKTOP)
    pinned = page.locator(".pinned tr")
    assert pinned.locator("a").first.inner_text() == "Kestrel-Large ensemble 5"
    assert page.locator("#board tbody a[href$='/key005']").count() == 1
    page.locator("#board tbody tr").nth(60).scroll_into_view_if_needed()
    head, row = page.locator("#board thead").bounding_box(), pinned.bounding_box()
    assert head["y"] == 0
    assert row["y"] == pytest.approx(head["height"], abs=12)


def test_what_is_sorted_and_searched_in_place_is_in_the_address(show: Any) -> None:
    page = show("/30", DESKTOP)
    page.get_by_role("columnheader", name="RTE").get_by_role("button").click()
    assert page.url.endswith("/30?sort=RTE")
    page.get_by_role("columnheader", name="RTE").get_by_role("button").click()
    assert page.url.endswith("/30?sort=RTE&order=asc")
    files = page.locator("[data-files] a")
    whole = [link.get_attribute("href") for link in files.all()]
    page.get_by_role("searchbox").fill("kestrel")
    assert page.url.endswith("/30?sort=RTE&order=asc&q=kestrel")
    narrowed = [link.get_attribute("href") for link in files.all()]
    assert narrowed == [f"{SITE}{link}?q=kestrel" for link in whole], "the files are of what is shown"
    page.get_by_role("searchbox").fill("")
    assert page.url.endswith("/30?sort=RTE&order=asc")
    assert [link.get_attribute("href") for link in files.all()] == [f"{SITE}{link}" for link in whole]


@pytest.mark.parametrize("number", SIZES)
def test_a_printed_board_fits_an_upright_page_with_its_tasks(show: Any, number: int) -> None:
    page = show(f"/{number}", DESKTOP)
    page.emulate_media(media="print")
    page.set_viewport_size(A4)
    assert page.evaluate(TOO_WIDE) <= 0
    heads = page.locator("#board thead th:visible").all_inner_texts()
    assert {"CoLA", "MNLI-mm", "WNLI", "Params"} <= {head.strip() for head in heads}


def test_a_phone_sorts_by_a_column_that_it_leaves_out(show: Any) -> None:
    page = show("/7", PHONE)
    column = page.get_by_role("columnheader", name="RTE")
    assert column.count() == 0
    for order, rank in (("", "1st"), ("asc", "7th")):
        page.locator("summary", has_text="Filters").click()
        page.get_by_label("Sort by").select_option("RTE")
        page.get_by_label("From", exact=True).select_option(order)
        page.get_by_role("button", name="Apply").click()
        page.wait_for_url(f"**/7?sort=RTE{order and '&order=asc'}")
        assert column.is_visible()
        first = page.locator("#board tbody tr:not(.reference)").first
        assert rank in first.locator(".rank").text_content()
        assert first.locator("td:visible").count() == 3, "rank, score, RTE"
        assert page.evaluate(TOO_WIDE) <= 0
        if order:
            break
        assert not [shown(each) for each in axe_finds(page)]


def test_a_row_opened_on_a_phone_leaves_the_others_as_they_are(show: Any) -> None:
    page = show("/7", PHONE)
    name = page.locator("#board tbody th.name").first
    before = name.bounding_box()
    page.locator("#board button.expand").first.click()
    page.locator(".detail-row").wait_for()
    assert name.bounding_box() == before


WAITING = b"""<!doctype html><title>Waits</title>
<div id="progress" data-address="/waits" data-stay="It is there."><p>It waits.</p></div>
<input><script type="module" src="/static/site/progress.js"></script>"""


@pytest.mark.parametrize("used", [False, True])
def test_a_page_that_waits_shows_what_came_unless_somebody_types(
    show: Any, pages: dict[str, bytes], used: bool
) -> None:
    pages["/waits"] = WAITING
    page = show("/waits", DESKTOP)
    if used:
        page.locator("input").fill("words")
    pages["/waits"] = b"<title>Came</title>"
    if used:
        page.get_by_text("It is there. Load the page again").wait_for()
        assert page.locator("input").input_value() == "words"
        page.get_by_role("link").click()
    page.wait_for_function("document.title === 'Came'")


def test_pages_are_light(pages: dict[str, bytes]) -> None:
    """100 rows of 300 were 95 kB, and 15 kB compressed, before rows had pictures of their rank sets."""
    page = pages["/300"]
    assert len(page) < 120_000
    assert len(gzip.compress(page)) < 14_800, "with the form that sorts on a phone"
    style = Path(finders.find("site/site.css")).parent
    assert sum((style / name).stat().st_size for name in ("inter.woff2", "board.js", "progress.js")) < 60_000
