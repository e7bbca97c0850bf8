"""Charts as text: the same bytes as those looked at, well-formed, without style or script, and readable."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.analysis.charts import (
    QUIET,
    STYLE,
    ChartPoint,
    Scale,
    as_file,
    heat_chart,
    interval_chart,
    scale_over,
    tick_text,
)
from gluebench.analysis.scatter import scatter_chart
from gluebench.scoring.plots import HeatCell, HeatRow

GOLDEN = Path(__file__).parent / "charts"
NASTY = 'a <b> & "c"'
SVG = "{http://www.w3.org/2000/svg}"


def charts() -> dict[str, str]:
    cells = (HeatCell("36.1", 4, "one: 36.1 [30.8, 41.3]"), HeatCell("0.0", 0), HeatCell("-"))
    return {
        "heat": heat_chart(
            "By phenomenon",
            "Darker is higher within a row.",
            ("one", NASTY, "three"),
            [HeatRow("Logic (364)", cells, heading=True), HeatRow("Négation (82)", cells[::-1])],
        ),
        "intervals": interval_chart(
            "Coarse",
            [
                ChartPoint(NASTY, 0.39, 0.31, 0.47, "/systems/1?a=1&b=2"),
                ChartPoint("below zero", -0.08, -0.4, 0.29, ink=QUIET),
            ],
            axis="R3",
            zero=True,
        ),
        "scatter": scatter_chart(
            "Cost",
            [ChartPoint(NASTY, 55, 53, 57, x=1e6), ChartPoint("large", 80.5, ink=1, x=3e8)],
            x_title="parameters",
            y_title="score",
            front=[(3e8, 80.5), (1e6, 55)],
            logarithmic=True,
        ),
    }


@pytest.mark.parametrize("name", ["heat", "intervals", "scatter"])
def test_a_chart_is_the_one_that_was_looked_at(name: str) -> None:
    assert as_file(charts()[name]) == (GOLDEN / f"{name}.svg").read_text("utf-8")


@pytest.mark.parametrize("name", ["heat", "intervals", "scatter"])
def test_a_chart_is_well_formed_and_obeys_a_strict_content_policy(name: str) -> None:
    root = ET.fromstring(charts()[name])
    classes = set()
    for node in root.iter():
        assert node.tag in {SVG + tag for tag in ("svg", "title", "desc", "rect", "path", "text", "g", "a")}
        assert "style" not in node.attrib
        assert not [key for key in node.attrib if key.startswith("on") or key in {"fill", "stroke"}]
        assert "href" not in node.attrib or node.tag == f"{SVG}a"
        classes |= set(node.get("class", "").split())
    assert {each for each in classes if f".{each}" not in STYLE} <= {
        "chart-on-none",
        *map("chart-on-{}".format, range(3)),
    }
    assert root.get("role") == ("group" if root.find(f"{SVG}a") is not None else "img")
    assert [child.tag for child in root][:2] == [SVG + "title", SVG + "desc"]
    assert NASTY in [node.text for node in root.iter()]


def test_of_many_rows_only_marks_remain_and_the_tab_key_stops_at_none() -> None:
    rows = [ChartPoint(f"system {at}", at, at - 9, at + 9, f"/{at}") for at in range(300)]
    root = ET.fromstring(interval_chart("Rank sets", rows, axis="True rank"))
    links = root.findall(f"{SVG}a")
    assert [link.find(f"{SVG}title").text for link in links[:2]] == [
        "system 0: 0, -9 to 9",
        "system 1: 1, -8 to 10",
    ]
    assert {link.get("tabindex") for link in links} == {"-1"}
    assert not [text for text in root.iter(f"{SVG}text") if "system" in text.text]


def test_ten_thousand_rows_are_one_band_whose_edge_is_the_widest_row_of_each_pixel() -> None:
    rows = [ChartPoint(f"system {at}", at, at - 9, at + 9, f"/{at}") for at in range(1, 10_001)]
    rows[5000] = ChartPoint("wide", 5001, 1, 10_000)
    svg = interval_chart("Rank sets", rows, axis="True rank", ranks=True)
    assert len(svg) < 60_000
    root = ET.fromstring(svg)
    assert not root.findall(f"{SVG}a")
    assert float(root.get("height")) < 1200
    [band] = [each for each in root.iter(f"{SVG}path") if each.get("class") == "chart-band"]
    corners = [tuple(map(float, corner.split())) for corner in band.get("d")[1:].split(" L")]
    lows, highs = corners[: len(corners) // 2], corners[len(corners) // 2 :][::-1]
    widths = [high[0] - low[0] for low, high in zip(lows, highs, strict=True)]
    assert widths.index(max(widths)) == pytest.approx(len(widths) / 2, abs=1)
    assert [low[1] for low in lows] == [high[1] for high in highs]


def test_a_cloud_has_a_square_wherever_there_is_a_point() -> None:
    points = [ChartPoint("best", 10, x=10)]
    cloud = [(x / 100, x % 7) for x in range(1000)]
    svg = scatter_chart("t", points, x_title="x", y_title="y", cloud=cloud)
    assert "of 1001 points" in svg
    [drawn] = re.findall(r'class="chart-cloud" d="([^"]*)"', svg)
    squares = set()
    for x, y, run in re.findall(r"M(\d+) (\d+)h(\d+)", drawn):
        squares |= {(int(x) + at, int(y)) for at in range(0, int(run) + 1, 4)}
    rows = {y for _, y in squares}
    assert len(rows) == 7
    assert len(squares) < len(cloud) * 2
    widest = max(x for x, _ in squares) - min(x for x, _ in squares)
    assert widest == pytest.approx((640 - 62 - 24) / 1.1, abs=8)


def test_a_date_that_several_ticks_share_is_written_once() -> None:
    points = [ChartPoint("one", 1, x=0), ChartPoint("two", 2, x=1)]
    root = ET.fromstring(scatter_chart("t", points, x_title="x", y_title="y", x_words=lambda _: "11-27"))
    assert [text.text for text in root.iter(f"{SVG}text")].count("11-27") == 1


def test_a_chart_as_a_file_brings_its_style_with_it() -> None:
    root = ET.fromstring(as_file(charts()["heat"]))
    assert root.find(f"{SVG}style").text.strip() == STYLE.strip()
    assert "http" not in STYLE
    assert "href=" in charts()["intervals"]
    assert "href=" not in as_file(charts()["intervals"]), "nobody serves a system's page beside the file"


def shades(dark: bool) -> list[tuple[str, str]]:
    """The ground and the ink of each level, as the style sheet has them."""
    light, _, night = STYLE.partition("@media")
    sheet = night if dark else light
    ink = re.search(r"\.chart text \{ fill: (#\w+)", sheet).group(1)
    bright = re.search(r"chart-on-4 \{ fill: (#\w+)", sheet).group(1)
    grounds = [re.search(rf"\.chart-heat-{level} \{{ fill: (#\w+)", sheet).group(1) for level in range(5)]
    return [(ground, bright if level > 2 else ink) for level, ground in enumerate(grounds)]


def luminance(color: str) -> float:
    """Relative luminance, as WCAG 2 defines it."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_shades_differ_in_lightness_and_their_numbers_can_be_read(dark: bool) -> None:
    found = shades(dark)
    lights = [luminance(ground) for ground, _ in found]
    assert lights == sorted(lights, reverse=not dark)  # told apart with any color vision, or none
    for ground, ink in found:
        low, high = sorted((luminance(ground), luminance(ink)))
        assert (high + 0.05) / (low + 0.05) >= 4.5


def test_a_scale_puts_values_between_its_ends() -> None:
    assert [Scale(0, 10, 100, 200).position(value) for value in (0, 2.5, 10)] == [100, 125, 200]
    assert Scale(1, 100, 0, 200, logarithmic=True).position(10) == pytest.approx(100)
    assert Scale(0, 1, 300, 0).position(0.5) == 150


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_ticks_are_round_few_and_within_the_scale(low, width, count) -> None:
    scale = Scale(low, low + width, 0, 1)
    ticks = scale.ticks(count)
    assert len(ticks) <= count + 1
    slack = 1e-6 * max(1, abs(low) + width)
    assert all(low - slack <= tick <= low + width + slack for tick in ticks)
    if len(ticks) > 1:
        step = f"{ticks[1] - ticks[0]:.3e}"
        assert step[0] in "1259"  # 1, 2 or 5 times a power of ten, but for rounding


def test_ticks_worked_by_hand() -> None:
    assert Scale(0, 1, 0, 1).ticks() == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert Scale(1e4, 5e8, 0, 1, logarithmic=True).ticks() == [1e4, 1e5, 1e6, 1e7, 1e8]
    assert [tick_text(value) for value in (0.30000000000000004, -0.0, 1e6, 3e5, 1.2e9)] == [
        "0.3", "0", "1M", "300K", "1.2B",
    ]  # fmt: skip


def test_what_has_no_place_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        scale_over([], 0, 1)
    with pytest.raises(ValueError, match="logarithmic"):
        scale_over([0, 1], 0, 1, logarithmic=True)
