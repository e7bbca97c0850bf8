"""The picture: every task is there, axes are named, and no words lie over others."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from gluebench.benchmark import Benchmark
from gluebench.data.stats.describe import TaskStats, describe, on_disk

pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
from gluebench.data.stats.plot import draw, figure

TASKS = ["CoLA", "STS-B", "MNLI", "RTE", "AX"]


@pytest.fixture(scope="module")
def found(sample: Benchmark, sample_folder: Path) -> list[TaskStats]:
    return [describe(sample.task(name), on_disk(sample_folder, sample, sample.task(name))) for name in TASKS]


@pytest.mark.parametrize(
    ("name", "start"), [("stats.png", b"\x89PNG"), ("stats.svg", b"<?xml"), ("stats.pdf", b"%PDF")]
)
def test_the_ending_names_the_format(
    found: list[TaskStats], sample: Benchmark, tmp_path: Path, name: str, start: bytes
) -> None:
    draw(found[:1], sample, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["stats.png", "stats.svg", "stats.pdf"])
def test_the_same_data_give_the_same_bytes(
    found: list[TaskStats], sample: Benchmark, tmp_path: Path, name: str
) -> None:
    (tmp_path / "again").mkdir()
    for path in (tmp_path / name, tmp_path / "again" / name):
        draw(found[:1], sample, path)
    assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_every_task_has_a_row_and_every_axis_a_name_and_a_unit(
    found: list[TaskStats], sample: Benchmark
) -> None:
    sizes, labels, lengths = figure(found, sample).axes
    assert [tick.get_text() for tick in sizes.get_yticklabels()] == TASKS
    assert [axes.get_xlabel() for axes in (sizes, labels, lengths)] == [
        "examples (logarithmic)",
        "% of the split",
        "tokens in a text",
    ]
    assert all(axes.get_title() for axes in (sizes, labels, lengths))
    written = {text.get_text() for text in labels.texts}
    assert {"0 = unacceptable", "entailment", "neutral", "0 to 1", "labels hidden", "train"} <= written
    assert {"sentence1", "premise", "hypothesis"} <= {text.get_text() for text in lengths.texts}


@pytest.mark.parametrize("count", [1, len(TASKS)])
def test_no_words_lie_over_others_or_beyond_the_picture(
    found: list[TaskStats], sample: Benchmark, count: int
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    drawn = figure(found[:count], sample)
    canvas = FigureCanvasAgg(drawn)
    canvas.draw()
    words: list[Any] = [drawn._suptitle, *drawn.axes[0].get_yticklabels()]
    for axes in drawn.axes:
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        within = [label for at, label in ticks if axes.get_xlim()[0] <= at <= axes.get_xlim()[1]]
        words += [axes.title, axes.xaxis.label, *axes.texts, *within]
        words += axes.get_legend().get_texts() if axes.get_legend() else []
    boxes = [
        (text.get_text(), text.get_window_extent(canvas.get_renderer()))
        for text in words
        if text.get_text() and text.get_visible()
    ]
    assert len(boxes) > 10
    assert not [(one, two) for (one, a), (two, b) in combinations(boxes, 2) if a.overlaps(b)]
    width = drawn.bbox.width
    assert not [text for text, box in boxes if box.x0 < 0 or box.x1 > width]
