"""The list of benchmarks of a site that has several."""

from __future__ import annotations

from django.template.loader import render_to_string

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.options import address
from gluebench.leaderboard.submissions.entries import with_systems

BENCHMARKS = 30
"""Benchmarks on a page."""


def home_page(search: str, page: int, *, signed_in: bool) -> str:
    """The page; a search looks into names and titles."""
    rows = Benchmark.objects.values_list("pk", "name", "title").order_by("added", "pk")
    words = search.casefold().split()
    found = [pk for pk, *texts in rows if all(word in "\n".join(texts).casefold() for word in words)]
    pages = max(-(-len(found) // BENCHMARKS), 1)
    page = min(page, pages)
    pks = found[(page - 1) * BENCHMARKS : page * BENCHMARKS]
    shown = {each.pk: each for each in with_systems(Benchmark.objects.all()).filter(pk__in=pks)}
    context = {
        "benchmarks": [shown[pk] for pk in pks if pk in shown],
        "number": len(rows),
        "found": len(found),
        "search": search,
        "page": page,
        "pages": pages,
        "to_previous": address(page - 1, q=search),
        "to_next": address(page + 1, q=search),
        "many": len(rows) > BENCHMARKS,
        "signed_in": signed_in,
        "here": "home",
    }
    return render_to_string("boards/home.html", context)
