"""What other sites show of a board: badges as SVG, and its first rows as a page that may be in a frame."""

from __future__ import annotations

from typing import Any

from csp.decorators import csp_replace
from django.http import Http404, HttpRequest, HttpResponse
from django.template import Context
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.models import Benchmark, live
from gluebench.leaderboard.boards.columns import Options, scheme_of
from gluebench.leaderboard.boards.pages import at_phase, ranked, read_page, register
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.common.page_cache import cached
from gluebench.leaderboard.common.text import markdown_cell
from gluebench.leaderboard.submissions.models import Submission

ROWS = 10
"""Systems in a frame."""
LETTERS = 40
"""Most characters of a badge's title."""
WIDTH, MARGIN = 7, 12
"""Pixels of a character and around a text; the browser fits the text to its width."""


@require_safe
def row_badge(request: HttpRequest, key: str) -> HttpResponse:
    """A badge with the rank and score of a system."""
    rows = Submission.objects.public().filter(key=key, benchmark__draft=False)
    row = rows.select_related("benchmark", "phase").defer("report", "problems", "scores").first()
    if row is None:
        raise Http404("The board shows no such system.")
    return _badge(request, row.benchmark, row)


@require_safe
def badge(request: HttpRequest, name: str) -> HttpResponse:
    """A badge with the number of systems of a benchmark, and the best score."""
    return _badge(request, live(name, request.user).benchmark())


def _badge(request: HttpRequest, benchmark: Benchmark, row: Submission | None = None) -> HttpResponse:
    def make() -> str:
        return badge_svg(benchmark.title, _standing(benchmark, row) if row else _summary(benchmark))

    name = f"badge {benchmark.name} {row and row.key}"
    return cached(request, name=name, version=benchmark.version, make=make, content_type="image/svg+xml")


def _standing(benchmark: Benchmark, row: Submission) -> str:
    rows = ranked(at_phase(benchmark, row.phase))
    rank = next((each.rank_text for each in rows if each.system.pk == row.pk), "")
    return f"rank {rank}: {percent(row.value, benchmark.record.loss)}" if rank else "incomplete"


def _summary(benchmark: Benchmark) -> str:
    rows = ranked(benchmark)
    best = max((row.value for row in rows if row.value is not None), default=None)
    systems = f"{len(rows):,} system{'s' * (len(rows) != 1)}"
    return systems if best is None else f"{systems}, best {percent(best, benchmark.record.loss)}"


def badge_svg(title: str, text: str) -> str:
    """A picture of two fields side by side, for light and dark pages."""
    title = title if len(title) <= LETTERS else f"{title[: LETTERS - 1]}…"
    first, second = (WIDTH * len(part) for part in (title, text))
    left, whole = first + MARGIN, first + second + 2 * MARGIN
    return format_html(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img"'
        ' aria-label="{title}: {text}"><title>{title}: {text}</title>'
        '<rect width="{whole}" height="20" rx="3" fill="#0b6b62"/>'
        '<path d="M3 0h{edge}v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#39424e"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        '<text x="6" y="14" textLength="{first}">{title}</text>'
        '<text x="{x}" y="14" textLength="{second}">{text}</text></g></svg>\n',
        whole=whole,
        edge=left - 3,
        first=first,
        second=second,
        x=left + 6,
        title=title,
        text=text,
    )


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"], "form-action": ["'none'"], "script-src": ["'none'"]})  # type: ignore[arg-type]
@require_safe
def embed(request: HttpRequest, name: str) -> HttpResponse:
    """The first rows of a board, for a frame in any page: without scripts, forms and accounts."""

    def make(benchmark: Benchmark) -> str:
        board = read_page(benchmark, scheme_of(benchmark.record), Options())
        rows = [row for row in board.rows if not row.reference][:ROWS]
        context = {"benchmark": benchmark, "rows": rows, "systems": board.systems}
        return render_to_string("boards/embed.html", context)

    source = live(name, request.user)
    return cached(
        request, name=f"embed {name}", version=source.version, make=lambda: make(source.benchmark())
    )


@register.inclusion_tag("boards/snippets.html", takes_context=True)
def snippets(context: Context, submission: Submission) -> dict[str, Any]:
    """For the page of a system: the title, Markdown and HTML of its badge, its benchmark's, and the board."""
    request, benchmark = context["request"], submission.benchmark
    here, board = submission.get_absolute_url(), benchmark.get_absolute_url()
    pairs = {
        "This system": (here, reverse("row-badge", args=[submission.key])),
        "The benchmark": (board, reverse("badge", args=[benchmark.name])),
    }
    texts = [
        (title, *_linked(benchmark.title, *map(request.build_absolute_uri, addresses)))
        for title, addresses in pairs.items()
    ]
    frame = request.build_absolute_uri(reverse("embed", args=[benchmark.name]))
    tag = '<iframe src="{}" title="{}" width="640" height="420"></iframe>'
    texts.append(("The board", "", format_html(tag, frame, benchmark.title)))
    return {"submission": submission, "benchmark": benchmark, "snippets": texts}


def _linked(title: str, address: str, badge: str) -> tuple[str, str]:
    """A badge that links to an address, in Markdown and in HTML."""
    markdown = f"[![{markdown_cell(title)}]({badge})]({address})"
    tag = '<a href="{}"><img src="{}" alt="{}"></a>'
    return markdown, format_html(tag, address, badge, title)
