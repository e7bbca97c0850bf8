"""Pages of submissions, for readers, authors and organizers."""

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from gluebench.leaderboard.apps.accounts.models import SignedInRequest, User, account_name
from gluebench.leaderboard.apps.audit.models import SEAL, Entry
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import (
    OrganizerPage,
    for_organizers,
    refusals_shown,
    render_tab,
)
from gluebench.leaderboard.apps.common.formats import ENDS
from gluebench.leaderboard.apps.common.pages import account_page
from gluebench.leaderboard.apps.common.parameters import takes
from gluebench.leaderboard.apps.common.text import BYTE_ORDER_MARK, csv_text
from gluebench.leaderboard.apps.phases.models import at_phase
from gluebench.leaderboard.apps.submissions import acts, facts, forms, report, reproducing
from gluebench.leaderboard.apps.submissions.anonymity import mask
from gluebench.leaderboard.apps.submissions.grading import bound_minutes
from gluebench.leaderboard.apps.submissions.models import Submission

View = Callable[..., HttpResponseBase]
PAGE = 50
"""Rows on a page of a list."""


def visible(user: Any, key: str) -> Submission:
    """Return the submission, as the user may see it; raise Http404 if the user may not."""
    submission = Submission.objects.visible_to(user).select_related("benchmark").filter(key=key).first()
    if submission is None:
        raise Http404("There is no such submission, or it is not public.")
    if not submission.is_managed_by(user) and not submission.benchmark.has_reviewer(user):
        mask(submission.benchmark, submission)
    return submission


def own_submission(user: Any, key: str) -> Submission:
    """Return a submission of the user's own, or of the user's team; raise Http404."""
    submission = Submission.objects.managed_by(user).select_related("benchmark").filter(key=key).first()
    if submission is None:
        raise Http404("You have no such submission.")
    return submission


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The page that `?page=` asks for; the nearest one there is."""
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


@takes("page")
@login_required
@require_safe
def my_submissions(request: SignedInRequest) -> HttpResponse:
    """The submissions of the user and the user's team, newest first."""
    rows = Submission.objects.managed_by(request.user).current()
    rows = rows.select_related("benchmark", "phase", "owner").defer("report", "problems")
    context: dict[str, Any] = {"page": page_of(request, rows), "here": "mine"}
    return render(request, "submissions/mine.html", context)


@require_safe
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's page: its status, then its report."""
    submission = visible(request.user, key)
    benchmark = submission.in_phase
    mine = submission.is_managed_by(request.user)
    organized = benchmark.has_reviewer(request.user)
    private = mine or organized

    shown = submission.report
    tables = None
    provenance = []
    if shown:
        tables = report.report_tables(submission.record, shown)
        provenance = report.flat(shown["provenance"])
    check = None
    if private and submission.problems:
        check = report.check_summary(submission.problems)
    context = {
        "submission": submission,
        "benchmark": benchmark,
        "owned": mine,
        "organized": organized,
        "facts": facts.author_fields(submission, private=private),
        "tables": tables,
        "classes": report.classes_of(shown, submission.record.scored).items(),
        "mistakes": report.confusion_tables(submission.record, report.diagnosis_of(submission)),
        "check": check,
        "provenance": provenance,
        "history": facts.history_of(submission),
        "minutes": bound_minutes(),
        **facts.queue_status(submission),
        "edits": facts.edits_of(submission),
        "private": private,
        "reproduced": reproducing.with_names(submission),
        "ungraded": submission.failure == acts.UNGRADED,
    }
    return render(request, "submissions/submission.html", context)


@require_safe
def submission_json(request: HttpRequest, key: str) -> HttpResponse:
    """The page's JSON view; the problems are for its author alone."""
    submission = visible(request.user, key)
    if submission.is_managed_by(request.user):
        return JsonResponse(facts.author_facts(submission))
    return JsonResponse(facts.public_facts(submission))


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's status, for the page that waits for it."""
    return JsonResponse(facts.queue_status(visible(request.user, key)))


@login_required
@require_safe
def download(request: HttpRequest, key: str) -> FileResponse:
    """The submitted file, to its owner alone."""
    row = own_submission(request.user, key)
    if not row.file:
        raise Http404("The file is no longer kept; its scores and its hash are.")
    return file_response(row)


def file_response(row: Submission) -> FileResponse:
    """The submitted file under its own name."""
    return FileResponse(
        row.file.open("rb"), as_attachment=True, filename=row.filename, content_type="application/zip"
    )


@account_page
def edit(request: SignedInRequest, key: str) -> HttpResponse:
    """The form that edits a submission's fields; former values are kept."""
    submission = own_submission(request.user, key)
    form = forms.DetailsForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        with refusals_shown(request):
            changed = acts.edit(submission, request.user, form.cleaned_data)
            messages.success(request, "Your changes are saved." if changed else "Nothing was changed.")
        return redirect(submission)
    # The form has set its instance to the invalid values: the page shows the stored row.
    status = 200
    if form.errors:
        status = 422
        submission = own_submission(request.user, key)
    context = {"submission": submission, "benchmark": submission.benchmark, "form": form, "here": "mine"}
    return render(request, "submissions/edit.html", context, status=status)


def _button(field: str, yes: str, no: str) -> View:
    """The view of two acts of the author: it says how the submission stands then, or why one was refused."""

    @login_required
    @require_POST
    def button_view(request: SignedInRequest, key: str) -> HttpResponse:
        act = yes if request.POST.get(field) == "1" else no
        row = own_submission(request.user, key)
        with refusals_shown(request):
            after = acts.OF_AUTHORS[act](row, request.user)
            words = acts.WORDS["done"]
            messages.success(request, words.get(act) or words[after.standing])
        return redirect(row)

    return button_view


publish = _button("public", "publish", "unpublish")
withdraw = _button("undo", "restore", "withdraw")
choose = _button("chosen", "choose", "unchoose")


@takes(*forms.FilterForm.base_fields, "page")
@for_organizers(require_safe, reviewers=True)
def organize(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """All submissions of a benchmark, narrowed by state, kind and words."""
    form, rows = _filter_submissions(request, benchmark)
    current = benchmark.submissions.current()
    page = page_of(request, rows)
    for row in page:
        row.account = account_name(row.owner, request.user)
    query = request.GET.copy()
    query.pop("page", None)
    states = []
    for state, (title, where) in forms.STATES.items():
        states.append((state, title, current.filter(where).count()))
    context = {"form": form, "page": page, "states": states, "query": query.urlencode()}
    context["regrade"] = forms.ReasonForm(benchmark)
    return render_tab(request, benchmark, "submissions", context)


def _filter_submissions(
    request: HttpRequest, benchmark: Benchmark
) -> tuple[forms.FilterForm, QuerySet[Submission]]:
    """The form and the submissions that its values in the address select, newest first."""
    form = forms.FilterForm(request.GET)
    rows = benchmark.submissions.current().select_related("owner", "phase").defer("report", "problems")
    if form.is_valid():
        rows = rows.filter(form.condition(admin=request.user.is_superuser))
    return form, rows.order_by("-submitted")


COLUMNS = ["key", "name", "model", "team", "account", "kind", "state", "board", "phase", "late", "submitted"]
"""Columns of the organizer's CSV before the scores."""


def csv_response(request: HttpRequest, benchmark: Benchmark) -> HttpResponse:
    """All pages of the organizer's list as CSV; scores are fractions, as in a board's CSV."""
    tasks = dict.fromkeys(task.name for task in benchmark.record.tasks)
    for phase in benchmark.phases.exclude(tasks_of=None):
        tasks |= dict.fromkeys(task.name for task in at_phase(benchmark, phase).record.tasks)
    head = list(COLUMNS)
    for name in ["score"] + list(tasks):
        head += [name, f"{name}_low", f"{name}_high"]
    _, selected = _filter_submissions(request, benchmark)
    rows = (_csv_cells(row, tasks, request.user) for row in selected.iterator(500))
    text = BYTE_ORDER_MARK + csv_text(head, rows)
    disposition = f'attachment; filename="{benchmark.name}-submissions.csv"'
    return HttpResponse(text, "text/csv; charset=utf-8", headers={"Content-Disposition": disposition})


organize_csv = takes(*forms.FilterForm.base_fields)(
    for_organizers(require_safe, reviewers=True)(csv_response)
)


def _csv_cells(row: Submission, tasks: Iterable[str], viewer: Any) -> list[Any]:
    """The cells of `COLUMNS`, then the score and that of each task, each with its interval."""
    cells: list[Any] = [row.key, row.name, row.model, row.team, account_name(row.owner, viewer)]
    cells += [row.kind, row.status, row.standing.value]
    cells += [str(row.phase or ""), row.late, row.submitted.isoformat(timespec="seconds")]
    scores = row.scores or {"score": None, "tasks": {}}
    numbers = [scores["score"]] + [scores["tasks"].get(task, {}).get("score") for task in tasks]
    for score in numbers:
        cells += [score and score[end] for end in ENDS]
    return cells


def _submission_context(row: Submission, viewer: User) -> dict[str, Any]:
    gradable = bool(row.file) and not row.is_open and row.failure != acts.UNGRADED
    return {
        "submission": row,
        "account": account_name(row.owner, viewer),
        "others": row.benchmark.submissions.filter(owner=row.owner).exclude(pk=row.pk).count(),
        "gradable": gradable and row.benchmark.has_organizer(viewer),
        "log": _with_names(Entry.objects.filter(submission=row.key)[:50], viewer),
    }


ONE = OrganizerPage.from_toml(
    "organize-one",
    {
        "approve": (acts.approve, forms.ApproveForm),
        "decline": (acts.decline, forms.DeclineForm),
        "mark": (acts.mark, forms.MarkForm),
        "regrade": (acts.grade_again, forms.ReasonForm),
    },
    find=lambda request, benchmark, key: get_object_or_404(
        benchmark.submissions.select_related("owner", "benchmark"), key=key
    ),
    context=_submission_context,
)
REGRADE = OrganizerPage.from_toml("organize-regrade", {"": (acts.grade_all_again, forms.ReasonForm)})


@takes("page")
@for_organizers(require_safe)
def log(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """What organizers, admins and the command line did, newest first."""
    page = page_of(request, Entry.objects.filter(benchmark=benchmark.name).exclude(action=SEAL))
    return render_tab(request, benchmark, "log", {"page": page, "log": _with_names(page, request.user)})


def _with_names(entries: Any, viewer: User) -> list[Entry]:
    """Log entries with `who` and `name`, as this viewer may know them, and `details` in words."""
    listed: list[Any] = list(entries)
    accounts = User.objects.in_bulk({entry.actor for entry in listed if entry.actor is not None})
    submissions = Submission.objects.filter(key__in={entry.submission for entry in listed})
    names = dict(submissions.values_list("key", "name"))
    for entry in listed:
        actor = accounts.get(entry.actor)
        entry.who = "The site"
        if actor is not None:
            entry.who = account_name(actor, viewer)
        entry.name = names.get(entry.submission)
        entry.detail.pop("sealed", None)  # for `verify`
        entry.details = ", ".join(f"{name}: {_detail_text(value)}" for name, value in entry.detail.items())
    return listed


def _detail_text(value: Any) -> str:
    """A detail of the log in words; a pair is the values before and after."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {_detail_text(of_name)}" for name, of_name in value.items())
    if isinstance(value, list):
        separator = " → " if len(value) == 2 else ", "
        return separator.join(map(_detail_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "none"
    return str(value)
