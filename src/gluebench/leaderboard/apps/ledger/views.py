"""Pages of the ledger: its tiles, what it is, the changes of each board; receipts of submissions."""

import json
from datetime import UTC
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.http import require_safe

from gluebench.leaderboard.apps.accounts.trust import role_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.page_cache import as_download, serve_from_cache
from gluebench.leaderboard.apps.common.parameters import takes
from gluebench.leaderboard.apps.common.text import page_number
from gluebench.leaderboard.apps.ledger import models, tree
from gluebench.leaderboard.apps.ledger.models import Leaf
from gluebench.leaderboard.apps.phases.models import Phase, tasks_of
from gluebench.leaderboard.apps.ranks.views import in_form
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.views import own_submission
from gluebench.version import __version__

PAGE = 100
"""Changes on a page."""
FOREVER = "public, max-age=31536000, immutable"
RECEIPT = "gluebench.receipt/1"
TEXT = "text/plain; charset=utf-8"
BYTES = "application/octet-stream"


@require_safe
def checkpoint(request: HttpRequest) -> HttpResponseBase:
    """The signed size and root of the tree."""
    note = models.checkpoint_note()
    return serve_from_cache(request, name="checkpoint", version=note, make=lambda: note, content_type=TEXT)


@require_safe
def tile(request: HttpRequest, level: str, path: str) -> HttpResponse:
    """A tile of hashes, or of entries: the same for ever."""
    place = tree.read_number(path)
    content = b""
    if place is not None:
        content = b"".join(_tile(level, *place))
    if not content:
        raise Http404("The ledger has no such tile.")
    return HttpResponse(content, content_type=BYTES, headers={"Cache-Control": FOREVER})


def _tile(level: str, number: int, width: int) -> list[bytes]:
    """The parts of a tile; none where it is not that wide."""
    if level == tree.ENTRIES:
        first = number * tree.WIDTH
        leaves = Leaf.objects.filter(index__gte=first, index__lt=first + width).order_by("index")
        entries = [data.encode() for data in leaves.values_list("data", flat=True)]
        return [tree.bundle(entries)] if len(entries) == width else []
    known = level.isdecimal() and str(int(level)) == level and int(level) < 8 and number < 2**40
    if not known:
        return []
    hashes = models.tile(int(level), number)[:width]
    return hashes if len(hashes) == width else []


@require_safe
def ledger(request: HttpRequest) -> HttpResponseBase:
    """What the ledger is, its key, and its last checkpoint."""
    signed_in = role_of(request.user)
    note = models.checkpoint_note()

    def render_page() -> str:
        names = Leaf.objects.exclude(benchmark="").values_list("benchmark", flat=True)
        names = names.order_by("benchmark").distinct()
        context = {"key": models.signer().key, "note": note, "benchmarks": names, "signed_in": signed_in}
        return render_to_string("ledger/ledger.html", context)

    return serve_from_cache(request, name=f"ledger {signed_in}", version=note, make=render_page)


@require_safe
def rows_json(request: HttpRequest) -> HttpResponseBase:
    """The last entry of each row that a board shows, with the names that it has the hash of."""
    return serve_from_cache(
        request,
        name="ledger rows",
        version=models.checkpoint_note(),
        make=lambda: json.dumps(current_rows()),
        content_type="application/json",
    )


def current_rows(only: str = "") -> dict[str, Any]:
    """The last entry of each row of a board, by submission: its index, and its names with their salt.

    `phases`: by benchmark, those that have boards besides the one at the benchmark's address. `only`: the
    benchmark, if not all.
    """
    chosen = {"benchmark": only} if only else {}
    leaves = Leaf.objects.exclude(submission="").filter(**chosen).order_by("index")
    last = {leaf.submission: leaf for leaf in leaves.iterator()}
    shown = {}
    for key, leaf in last.items():
        if leaf.entry.get("row") is not None:  # an altered entry may be of no submission
            shown[key] = {"index": leaf.index, "benchmark": leaf.benchmark, "texts": leaf.texts}
    about = {"schema": "gluebench.ledger-rows/1", "key": str(models.signer().key)}
    return {**about, "rows": shown, "phases": other_boards(only)}


def other_boards(only: str = "") -> dict[str, list[int]]:
    """By benchmark, the phases that have boards besides the one at its address; `only`: of this one."""
    phases: dict[str, list[int]] = {}
    named = {"benchmark__name": only} if only else {}
    public = Benchmark.objects.public().values("pk")
    for phase in Phase.objects.filter(benchmark__in=public, **named).select_related("benchmark"):
        if phase.is_shown and phase.pk != phase.benchmark.board_phase:
            phases.setdefault(phase.benchmark.name, []).append(phase.pk)
    return phases


@takes("page", forms=("", "json"))
@require_safe
def changes(request: HttpRequest, name: str, form: str = "") -> HttpResponseBase:
    """The changes of a board, newest first."""
    number = page_number(request.GET.get("page", ""))

    def make(benchmark: Benchmark) -> dict[str, Any]:
        page = Paginator(Leaf.objects.filter(benchmark=benchmark.name), PAGE).get_page(number)
        entries = [{"index": leaf.index, **leaf.entry, "texts": leaf.texts} for leaf in page]
        if not form:
            return {"page": page, "changes": entries}
        pages = {"page": page.number, "pages": page.paginator.num_pages}
        return {"schema": "gluebench.changes/1", "benchmark": benchmark.name, **pages, "changes": entries}

    key = f"changes {number}"
    return in_form(request, name, form, make, cache_key=key, template="ledger/changes.html")


@login_required
@require_safe
def receipt(request: HttpRequest, key: str) -> HttpResponse:
    """The signed receipt of one's own submission, to keep."""
    response = HttpResponse(receipt_of(own_submission(request.user, key)), content_type=TEXT)
    return as_download(response, f"receipt-{key}.txt")


def receipt_of(submission: Submission) -> str:
    """A signed note: what was received and when, and once it is graded, with which labels."""
    signer = models.signer()
    benchmark = tasks_of(submission.in_phase)
    graded = (submission.report or {}).get("provenance") or {}
    values = {
        "schema": RECEIPT,
        "site": signer.name,
        "submission": submission.key,
        "benchmark": submission.benchmark.name,
        "manifest_sha256": benchmark.manifest_texts.sha256,
        "labels": graded.get("labels"),
        "file_sha256": submission.sha256,
        "file_bytes": submission.size,
        "received": submission.submitted.astimezone(UTC).isoformat(),
        "gluebench": graded.get("version", __version__),
    }
    return signer.sign(json.dumps(values, indent=1) + "\n")
