"""The organizer's pages of one benchmark: its submissions, and what was done with them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest, User, account_name
from gluebench.leaderboard.audit.models import Entry, record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.submissions import acts
from gluebench.leaderboard.submissions.forms import ApproveForm, DeclineForm, FilterForm, MarkForm, ReasonForm
from gluebench.leaderboard.submissions.grading import regrade
from gluebench.leaderboard.submissions.models import LISTED, OPEN, Kind, Status, Submission
from gluebench.leaderboard.submissions.requests import organised, page_of

HERE = Q(withdrawn__isnull=True)
STATES: dict[str, tuple[str, Q]] = {
    "approve": (
        "Waiting for approval",
        HERE & Q(public=True, approved=False, declined="", status=Status.GRADED),
    ),
    "listed": ("On the board", LISTED),
    "private": ("Private", HERE & Q(public=False)),
    "declined": ("Kept off the board", HERE & Q(approved=False) & ~Q(declined="")),
    "withdrawn": ("Withdrawn", Q(withdrawn__isnull=False)),
    "open": ("Waiting or being graded", Q(status__in=OPEN)),
    "invalid": ("Not valid", Q(status=Status.INVALID)),
    "failed": ("Failed", Q(status=Status.FAILED)),
}
"""What the list can be narrowed to: a word of the address, what it is called, what it finds."""
FORMS = {"approve": ApproveForm, "decline": DeclineForm, "mark": MarkForm, "regrade": ReasonForm}
"""The form of each act."""


@login_required
@require_safe
def submissions(request: SignedInRequest, name: str) -> HttpResponse:
    """All submissions of a benchmark, narrowed by state, kind and words."""
    benchmark = organised(request, name)
    form = FilterForm(request.GET, states=[(state, title) for state, (title, _) in STATES.items()])
    current = benchmark.submissions.current()
    rows = current.select_related("owner").defer("report", "problems").order_by("-submitted")
    if form.is_valid():
        rows = rows.filter(_condition(form.cleaned_data, admin=request.user.is_superuser))
    page = page_of(request, rows)
    for row in page:
        row.account = account_name(row.owner, request.user)
    query = request.GET.copy()
    query.pop("page", None)
    counts = [(state, title, current.filter(where).count()) for state, (title, where) in STATES.items()]
    context = {
        "form": form,
        "page": page,
        "states": counts,
        "query": query.urlencode(),
        "regrade": ReasonForm(),
    }
    return render_tab(request, benchmark, "submissions", context)


def _condition(values: dict[str, Any], *, admin: bool) -> Q:
    condition = STATES[values["state"]][1] if values["state"] else Q()
    if values["kind"]:
        condition &= Q(verified=True) if values["kind"] == "verified" else Q(kind=values["kind"])
    if values["q"]:
        fields = ("name", "model", "team", "key", *(("owner__email",) if admin else ()))
        words = Q()
        for field in fields:
            words |= Q(**{f"{field}__icontains": values["q"]})
        condition &= words
    return condition


@login_required
def one(request: SignedInRequest, name: str, key: str) -> HttpResponse:
    """One submission: what an organizer may do with it, and what was done."""
    benchmark = organised(request, name)
    row = get_object_or_404(benchmark.submissions.select_related("owner", "benchmark"), key=key)
    act = request.POST.get("act") if request.method == "POST" else None
    marks = {"kind": row.kind, "verified": row.verified}
    forms = {
        name: form(request.POST if name == act else None, initial=marks, prefix=name)
        for name, form in FORMS.items()
    }
    if act in forms and forms[act].is_valid():
        messages.success(request, _act(act, row, request, forms[act].cleaned_data))
        return redirect("organise-one", benchmark.name, row.key)
    context = {
        "submission": row,
        "account": account_name(row.owner, request.user),
        "others": benchmark.submissions.filter(owner=row.owner).exclude(pk=row.pk).count(),
        "forms": forms,
        "gradable": bool(row.file) and row.status not in OPEN and row.failure != acts.UNGRADED,
        "log": _named(Entry.objects.filter(submission=row.key)[:50], request),
    }
    return render_tab(request, benchmark, "one", context, status=422 if act in forms else 200)


def _act(act: str, row: Submission, request: SignedInRequest, values: dict[str, Any]) -> str:
    """Do the act; returns a message that says what was done."""
    reason = values["reason"]
    if act == "approve":
        return f"Approved: {acts.approve(row, request.user, reason).standing.label.lower()}."
    if act == "decline":
        acts.decline(row, request.user, reason)
        return "It is off the board, and its author reads why."
    if act == "mark":
        acts.mark(row, request.user, kind=values["kind"], verified=values["verified"], reason=reason)
        return "Its marks are saved."
    return "It is graded again." if acts.grade_again(row, request.user, reason) else "It is being graded."


@login_required
@require_POST
def regrade_all(request: SignedInRequest, name: str) -> HttpResponse:
    """Grade every submission of a benchmark again, and say why."""
    benchmark = organised(request, name)
    form = ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was done: say why they are graded again.")
        return redirect("organise", benchmark.name)
    with transaction.atomic():
        reason = form.cleaned_data["reason"]
        count = regrade(benchmark, reason)
        record("regrade", actor=request.user, benchmark=benchmark, reason=reason, submissions=count)
    messages.success(request, f"{count:,} submission{'' if count == 1 else 's'} will be graded again.")
    return redirect("organise", benchmark.name)


@login_required
@require_safe
def log(request: SignedInRequest, name: str) -> HttpResponse:
    """What organizers, admins and the command line did, newest first."""
    benchmark = organised(request, name)
    page = page_of(request, Entry.objects.filter(benchmark=benchmark.name))
    return render_tab(request, benchmark, "log", {"page": page, "log": _named(page, request)})


def _named(entries: Any, request: SignedInRequest) -> list[Entry]:
    """Log entries with `who` and `name`, as this viewer may know them, and `told`, their details in words."""
    listed: list[Any] = list(entries)
    accounts = User.objects.in_bulk({entry.actor for entry in listed if entry.actor is not None})
    submissions = Submission.objects.filter(key__in={entry.submission for entry in listed})
    names = dict(submissions.values_list("key", "name"))
    for entry in listed:
        actor = accounts.get(entry.actor)
        entry.who = account_name(actor, request.user) if actor else "The site"
        entry.name = names.get(entry.submission)
        entry.told = ", ".join(f"{name}: {_detail_text(value)}" for name, value in entry.detail.items())
    return listed


def _detail_text(value: Any) -> str:
    """A detail of the log in words; a pair is what stood there before and after."""
    if isinstance(value, list):
        return (" → " if len(value) == 2 else ", ").join(map(_detail_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def render_tab(
    request: HttpRequest, benchmark: Benchmark, page: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """A tab of the organizer's pages."""
    context |= {"benchmark": benchmark, "here": "organise", "tab": page, "kinds": Kind}
    return render(request, f"organise/{page}.html", context, status=status)
