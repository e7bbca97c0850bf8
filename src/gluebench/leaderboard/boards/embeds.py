"""What other sites show of a board: badges as SVG, and its first rows as a page that may be in a frame."""

from functools import partial

from csp.decorators import csp_replace
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.boards.columns import Options, scheme_of
from gluebench.leaderboard.boards.pages import places_of, ranked, read_page
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.page_cache import cached
from gluebench.leaderboard.phases.models import at_phase
from gluebench.leaderboard.ranks.places import LEGEND, NOWHERE
from gluebench.leaderboard.ranks.views import in_form
from gluebench.leaderboard.submissions.models import Submission

ROWS = 10
"""Systems in a frame."""
LETTERS = 40
"""Most characters of a badge's title."""
WIDTH, MARGIN = 7, 12
"""Pixels of a character, and around a text; the browser fits each text to its width."""


@require_safe
def badge(request: HttpRequest, name: str = "", key: str = "") -> HttpResponseBase:
    """A badge of a system with its rank and score; or of a benchmark with its systems and the best score."""
    rows = Submission.objects.visible_to(request.user).public().select_related("benchmark", "phase")
    row = None if name else get_object_or_404(rows, key=key)
    benchmark = row.benchmark if row else live(name, request.user).benchmark()
    make = partial(_badge, benchmark, row)
    kind, name = "image/svg+xml", f"badge {name} {key}"
    return cached(request, name=name, version=benchmark.version, make=make, content_type=kind)


def _badge(benchmark: Benchmark, row: Submission | None) -> str:
    return badge_svg(benchmark.title, _standing(benchmark, row))


def _standing(benchmark: Benchmark, row: Submission | None) -> str:
    """The text of a badge."""
    loss = benchmark.record.loss
    if row is not None:
        place = places_of(at_phase(benchmark, row.phase)).get(row.pk, NOWHERE)
        return f"rank {place.text}: {percent(row.value, loss)}" if place.rank else "incomplete"
    rows = ranked(benchmark)
    best = max((each.value for each in rows if each.value is not None), default=None)
    systems = f"{len(rows):,} system{'s' * (len(rows) != 1)}"
    return systems if best is None else f"{systems}, best {percent(best, loss)}"


def badge_svg(title: str, text: str) -> str:
    """A picture of two fields side by side, for light and dark pages."""
    title = title if len(title) <= LETTERS else f"{title[: LETTERS - 1]}…"
    first, second = (WIDTH * len(part) for part in (title, text))
    places = {"edge": first + MARGIN, "after": first + 3 * MARGIN // 2, "whole": first + second + 2 * MARGIN}
    values = {"title": title, "text": text, "first": first, "second": second, **places}
    return render_to_string("boards/badge.svg", values)


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"], "form-action": ["'none'"], "script-src": ["'none'"]})  # type: ignore[arg-type]
@require_safe
def embed(request: HttpRequest, name: str) -> HttpResponseBase:
    """The first rows of a board, for a frame in any page: without scripts, forms and accounts."""

    def make(benchmark: Benchmark) -> dict[str, object]:
        board = read_page(benchmark, scheme_of(benchmark.record), Options())
        rows = [row for row in board.rows if not row.reference][:ROWS]
        return {"rows": rows, "systems": board.systems, "leaders": board.leaders, "legend": LEGEND}

    source = live(name, request.user)
    return in_form(request, source, "", make, cache_key="embed", template="boards/embed.html")
