"""Scatter charts: points with names where there is room for them, and a cloud of all others."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from gluebench.analysis.charts import (
    BOTTOM,
    LEFT,
    MOST_NAMED,
    QUIET,
    RIGHT,
    TOP,
    WIDTH,
    ChartPoint,
    Scale,
    dots,
    element,
    ink,
    label,
    linked,
    mark,
    path,
    picture,
    scale_over,
    tick_text,
    width_of,
    x_axis,
    y_axis,
)

GRID = 4
"""Side of a square of a cloud of points."""


def scatter_chart(
    title: str,
    points: Sequence[ChartPoint],
    *,
    x_title: str,
    y_title: str,
    front: Sequence[tuple[float, float]] = (),
    cloud: Sequence[tuple[float, float]] = (),
    logarithmic: bool = False,
    width: float = WIDTH,
    height: float = 400,
    x_words: Callable[[float], str] = tick_text,
    is_small: bool = False,
) -> str:
    """Points with names where there is room for them; every point says its name on hover.

    In one that `is_small`, for phones, grey points lead nowhere and say nothing.
    `front` is drawn as steps from left to right, such as a Pareto front, and `cloud`, of more points than can
    have a mark each, as one shape below the others. `logarithmic` applies to x, whose
    ticks `x_words` formats. Raises ValueError without points.
    """
    every_x = [point.x for point in points] + [x for x, _ in cloud]
    across = scale_over(every_x, LEFT, width - RIGHT, logarithmic=logarithmic)
    heights = [y for _, y in cloud]
    for point in points:
        heights.append(point.value)
        if point.ink != QUIET:
            heights += [end for end in (point.low, point.high) if end is not None]
    up = scale_over(heights, height - BOTTOM, TOP)
    parts = x_axis(across, up.start, x_title, top=TOP, words=x_words)
    parts += y_axis(up, LEFT, y_title, right=width - RIGHT)
    parts += _cloud([(across.position(x), up.position(y)) for x, y in cloud])
    taken = []
    if len(front) > 1:
        corners = [(across.position(x), up.position(y)) for x, y in sorted(front)]
        steps = corners[:1]
        for (_, y), (x, next_y) in pairwise(corners):
            steps += [(x, y), (x, next_y)]
        parts.append(path(steps, "chart-front"))
        taken += [_box_around(first, second) for first, second in pairwise(steps)]
    places = [(across.position(point.x), up.position(point.value)) for point in points]
    taken += [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    for point, (x, _) in zip(points, places, strict=True):
        if point.ink != QUIET and point.low is not None and point.high is not None:
            taken.append(_box_around((x, up.position(point.low)), (x, up.position(point.high))))
    room = (LEFT, TOP, width - 4, up.start)
    # Grey ones first, so that they lie below the others.
    placed = sorted(zip(points, places, strict=True), key=lambda pair: pair[0].ink != QUIET)
    if is_small:
        parts.append(dots([place for point, place in placed if point.ink == QUIET]))
        placed = [(point, place) for point, place in placed if point.ink != QUIET]
    for point, (x, y) in placed:
        note = f"{point.label}: {x_words(point.x)}, {point.value:.4g}"
        inside = mark(x, y, point.ink)
        if point.ink != QUIET:
            name, boxes = _place_label(point.label, x, y, taken, room)
            inside = _whisker(point, x, up) + inside + name
            taken += boxes
        parts.append(linked(inside, point.link, note, is_stop=point.ink != QUIET))
    named = [point for point in points if point.ink != QUIET][:MOST_NAMED]
    texts = [f"{point.label} ({x_words(point.x)}, {point.value:.4g})" for point in named]
    desc = f"{y_title} by {x_title} of {len(every_x)} points: " + "; ".join(texts)
    return picture(title, desc, width=width, height=height, parts=parts)


def _whisker(point: ChartPoint, x: float, up: Scale) -> str:
    """The interval of a point, if it has one."""
    if point.low is None or point.high is None:
        return ""
    line = [(x, up.position(point.low)), (x, up.position(point.high))]
    return path(line, f"chart-whisker {ink(point.ink)}")


Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
_SIDES = (
    (1, -1, "start"),
    (-1, -1, "end"),
    (1, 1, "start"),
    (-1, 1, "end"),
    (0, -1, "middle"),
    (0, 1, "middle"),
)
"""Sides of a mark in the order in which a label tries them: across, down, and how the text is anchored."""


def _box_around(first: tuple[float, float], second: tuple[float, float]) -> Box:
    (x, y), (next_x, next_y) = first, second
    return min(x, next_x) - 2, min(y, next_y) - 2, max(x, next_x) + 2, max(y, next_y) + 2


def _place_label(words: str, x: float, y: float, taken: Sequence[Box], room: Box) -> tuple[str, list[Box]]:
    """A label beside a mark that covers nothing, with a line to it where it is far, and the boxes of both.

    Empty where there is no place.
    """
    width = width_of(words)
    for distance in (8, 16, 28, 42):
        for across, down, anchor in _SIDES:
            middle = y + down * distance
            start = x + across * distance
            left = {"start": start, "end": start - width, "middle": x - width / 2}[anchor]
            box = (left - 2, middle - 8, left + width + 2, middle + 8)
            inside = box[0] >= room[0] and box[1] >= room[1] and box[2] <= room[2] and box[3] <= room[3]
            boxes = [box]
            name = label(start, middle + 4, words, anchor=anchor, kind="chart-name")
            if distance > 16:
                line = [(x + across * 8, y + down * 8), (start, middle - down * 8)]
                boxes.append(_box_around(*line))
                name += path(line, "chart-leader")
            if inside and not any(_overlap(own, other) for own in boxes for other in taken):
                return name, boxes
    return "", []


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _cloud(places: Sequence[tuple[float, float]]) -> list[str]:
    """Very many points as one shape, if there are any: squares of a grid, neighbors as one line."""
    if not places:
        return []
    rows: dict[int, set[int]] = {}
    for x, y in places:
        rows.setdefault(round(y / GRID), set()).add(round(x / GRID))
    drawn = ""
    for row, columns in sorted(rows.items()):
        start = 0
        for column in sorted(columns):
            if column - 1 not in columns:
                start = column
            if column + 1 not in columns:
                drawn += f"M{start * GRID} {row * GRID}h{(column - start) * GRID}"
    return [element("path", {"class": "chart-cloud", "d": drawn})]
