"""Pages of submissions, for readers, authors and organizers."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.forms import BaseForm
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template.response import TemplateResponse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gluebench.leaderboard.accounts.models import SignedInRequest, User, account_name
from gluebench.leaderboard.accounts.trust import may_create
from gluebench.leaderboard.audit.models import SEAL, Entry, record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.formats import ENDS
from gluebench.leaderboard.common.parameters import takes
from gluebench.leaderboard.common.text import csv_text
from gluebench.leaderboard.health import stalled
from gluebench.leaderboard.phases.table import ActError
from gluebench.leaderboard.submissions import acts, facts, forms, report, reproducing
from gluebench.leaderboard.submissions.anonymity import mask
from gluebench.leaderboard.submissions.grading import bound_minutes, regrade
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.queries import OPEN, Standing

View = Callable[..., HttpResponseBase]
PAGE = 50
"""Rows on a page of a list."""
MESSAGES = {
    Standing.LISTED: "It is on the board now.",
    Standing.UNGRADED: "It will be on the board once it is graded.",
    Standing.UNSCORED: "It has no score, so the board does not show it.",
    Standing.WAITING: "It will be on the board once an organizer has approved it.",
    Standing.DECLINED: "It stays off the board: an organizer declined it.",
    Standing.PRIVATE: "It is private now.",
    Standing.REPRODUCTION: "It is a reproduction; it has no row of its own.",
    Standing.WITHDRAWN: "It is withdrawn, and on no board.",
    Standing.LATE: "It is late, and on no board.",
    Standing.HIDDEN: "It will be on the board once the board shows its phase.",
    Standing.ANOTHER: "Another one counts, so the board does not show it.",
}
FORMS = {
    "approve": forms.ApproveForm,
    "decline": forms.DeclineForm,
    "mark": forms.MarkForm,
    "regrade": forms.ReasonForm,
}
"""The form of each act of an organizer."""


def visible(user: Any, key: str) -> Submission:
    """Return the submission, as the user may see it; raise Http404 if the user may not."""
    submission = Submission.objects.visible_to(user).select_related("benchmark").filter(key=key).first()
    if submission is None:
        raise Http404("There is no such submission, or it is not public.")
    if submission.owner_id != user.pk and not submission.benchmark.reviewed_by(user):
        mask(submission.benchmark, submission)
    return submission


def owned(user: Any, key: str) -> Submission:
    """Return the user's own submission, or raise Http404."""
    submission = Submission.objects.owned_by(user).select_related("benchmark").filter(key=key).first()
    if submission is None:
        raise Http404("You have no such submission.")
    return submission


def for_organizers(
    methods: Callable[[View], View] = lambda view: view, *, reviewers: bool = False
) -> Callable[[View], View]:
    """Decorator of a page for organizers, which gets the row of the benchmark `name`.

    `methods`: Django's decorator that restricts the HTTP methods. `reviewers`: it is for reviewers too.
    """

    def decorate(view: View) -> View:
        @login_required
        @methods
        @wraps(view)
        def checked(request: HttpRequest, name: str, **options: Any) -> HttpResponseBase:
            benchmark = get_object_or_404(Benchmark.objects.visible_to(request.user), name=name)
            allowed = benchmark.reviewed_by if reviewers else benchmark.organized_by
            if not allowed(request.user):
                raise PermissionDenied
            return view(request, benchmark, **options)

        return checked

    return decorate


def page_of(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    """The page that `?page=` asks for; the nearest one there is."""
    return Paginator(rows, PAGE).get_page(request.GET.get("page"))


@takes("page")
@login_required
@require_safe
def mine(request: SignedInRequest) -> HttpResponse:
    """The user's submissions, newest first, and the benchmarks that the user organizes."""
    rows = Submission.objects.owned_by(request.user).current()
    rows = rows.select_related("benchmark", "phase").defer("report", "problems")
    organizes = Benchmark.objects.run_by(request.user)
    context: dict[str, Any] = {"page": page_of(request, rows), "organizes": organizes[:100], "here": "mine"}
    context["may_create"] = may_create(request.user)
    return render(request, "submissions/mine.html", context)


@require_safe
def submission(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's page: its status, then its report."""
    submission = visible(request.user, key)
    benchmark, shown = submission.benchmark, submission.report
    mine = submission.owner_id == request.user.pk
    organized = benchmark.reviewed_by(request.user)
    private = mine or organized
    context = {
        "submission": submission,
        "benchmark": benchmark,
        "owned": mine,
        "organized": organized,
        "facts": facts.listed_facts(submission, private=private),
        "tables": report.report_tables(benchmark.record, shown) if shown else None,
        "mistakes": report.confusion_tables(benchmark.record, report.diagnosis_of(submission)),
        "check": report.check_summary(submission.problems) if private and submission.problems else None,
        "provenance": report.flat(shown["provenance"]) if shown else [],
        "history": facts.history_of(submission),
        "minutes": bound_minutes(),
        "stalled": stalled(benchmark) if submission.is_open else "",
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
    mine = submission.owner_id == request.user.pk
    return JsonResponse(facts.author_facts(submission) if mine else facts.public_facts(submission))


@require_safe
def status_json(request: HttpRequest, key: str) -> HttpResponse:
    """A submission's status, for the page that waits for it."""
    return JsonResponse(facts.standing(visible(request.user, key)))


@login_required
@require_safe
def download(request: HttpRequest, key: str) -> FileResponse:
    """The submitted file, to its owner alone."""
    row = owned(request.user, key)
    if not row.file:
        raise Http404("The file is no longer kept; its scores and its hash are.")
    return file_response(row)


def file_response(row: Submission) -> FileResponse:
    """The submitted file under its own name."""
    return FileResponse(
        row.file.open("rb"), as_attachment=True, filename=row.filename, content_type="application/zip"
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: SignedInRequest, key: str) -> HttpResponse:
    """The form that edits a submission's fields; former values are kept."""
    submission = owned(request.user, key)
    form = forms.DetailsForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        changed = acts.edit(submission, request.user, form.cleaned_data)
        messages.success(request, "Your changes are saved." if changed else "Nothing was changed.")
        return redirect(submission)
    # The form has set its instance to the invalid values: the page shows the stored row.
    row = owned(request.user, key) if form.errors else submission
    context = {"submission": row, "benchmark": row.benchmark, "form": form, "here": "mine"}
    return render(request, "submissions/edit.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def publish(request: HttpRequest, key: str) -> HttpResponse:
    """Show it on the board, or take it off."""
    public = request.POST.get("public") == "1"
    return _done(request, owned(request.user, key), partial(acts.publish, public=public))


@login_required
@require_POST
def withdraw(request: HttpRequest, key: str) -> HttpResponse:
    """Take it back, or undo that."""
    act = acts.restore if request.POST.get("undo") == "1" else acts.withdraw
    return _done(request, owned(request.user, key), act)


def _done(request: HttpRequest, row: Submission, act: Callable[[Submission], Submission]) -> HttpResponse:
    """Do an act of the author, and say how the submission stands now or why the act was refused."""
    try:
        messages.success(request, MESSAGES[act(row).standing])
    except ActError as error:
        messages.error(request, str(error))
    return redirect(row)


@login_required
@require_POST
def choose(request: HttpRequest, key: str) -> HttpResponse:
    """The author chooses a submission to count in its phase, or no longer."""
    row, chosen = owned(request.user, key), request.POST.get("chosen") == "1"
    try:
        acts.choose(row, row.owner, chosen=chosen)
    except acts.ChoiceError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "You chose it to count." if chosen else "It is not chosen any more.")
    return redirect(row)


@takes(*forms.FilterForm.base_fields, "page")
@for_organizers(require_safe, reviewers=True)
def organize(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """All submissions of a benchmark, narrowed by state, kind and words."""
    form, rows = _narrowed(request, benchmark)
    current = benchmark.submissions.current()
    page = page_of(request, rows)
    for row in page:
        row.account = account_name(row.owner, request.user)
    query = request.GET.copy()
    query.pop("page", None)
    states = forms.STATES.items()
    counts = [(state, title, current.filter(where).count()) for state, (title, where) in states]
    context = {"form": form, "page": page, "states": counts, "query": query.urlencode()}
    return render_tab(request, benchmark, "submissions", {**context, "regrade": forms.ReasonForm()})


def _narrowed(request: HttpRequest, benchmark: Benchmark) -> tuple[forms.FilterForm, QuerySet[Submission]]:
    """The form and the submissions that its values in the address select, newest first."""
    form = forms.FilterForm(request.GET)
    rows = benchmark.submissions.current().select_related("owner", "phase").defer("report", "problems")
    if form.is_valid():
        rows = rows.filter(form.condition(admin=request.user.is_superuser))
    return form, rows.order_by("-submitted")


COLUMNS = ("key", "name", "model", "team", "account", "kind", "state", "board", "phase", "late", "submitted")
"""Columns of the organizer's CSV before the scores."""
BYTE_ORDER_MARK = "\ufeff"
"""Begins a CSV that people open in Excel, which would read it in the code page of Windows without."""


@takes(*forms.FilterForm.base_fields)
@for_organizers(require_safe, reviewers=True)
def organize_csv(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """All pages of the organizer's list as CSV; scores are fractions, as in a board's CSV."""
    tasks = [task.name for task in benchmark.record.tasks]
    scores = [f"{name}{end}" for name in ("score", *tasks) for end in ("", "_low", "_high")]
    rows = (_cells(row, tasks, request.user) for row in _narrowed(request, benchmark)[1].iterator(500))
    name = f'attachment; filename="{benchmark.name}-submissions.csv"'
    text = BYTE_ORDER_MARK + csv_text([*COLUMNS, *scores], rows)
    return HttpResponse(text, "text/csv; charset=utf-8", headers={"Content-Disposition": name})


def _cells(row: Submission, tasks: Sequence[str], viewer: Any) -> list[Any]:
    facts = (row.key, row.name, row.model, row.team, account_name(row.owner, viewer), row.kind, row.status)
    sent = (str(row.phase or ""), row.late, row.submitted.isoformat(timespec="seconds"))
    scores = row.scores or {"score": None, "tasks": {}}
    numbers = [scores["score"], *(scores["tasks"].get(task, {}).get("score") for task in tasks)]
    return [*facts, row.standing.value, *sent, *(score and score[end] for score in numbers for end in ENDS)]


@for_organizers(reviewers=True)
def organize_one(request: SignedInRequest, benchmark: Benchmark, key: str) -> HttpResponse:
    """One submission: what an organizer may do with it, and what was done."""
    row = get_object_or_404(benchmark.submissions.select_related("owner", "benchmark"), key=key)
    act = request.POST.get("act") if request.method == "POST" else None
    organizes = benchmark.organized_by(request.user)
    if act not in (None, "approve", "decline") and not organizes:
        raise PermissionDenied
    marks = {"kind": row.kind, "verified": row.verified}
    bound_forms = {
        name: form(request.POST if name == act else None, initial=marks, prefix=name)
        for name, form in FORMS.items()
    }
    if act in bound_forms and bound_forms[act].is_valid():
        messages.success(request, _act(act, row, request, bound_forms[act].cleaned_data))
        return redirect("organize-one", benchmark.name, row.key)
    context = {
        "submission": row,
        "account": account_name(row.owner, request.user),
        "others": benchmark.submissions.filter(owner=row.owner).exclude(pk=row.pk).count(),
        "forms": bound_forms,
        "organizes": organizes,
        "gradable": organizes and bool(row.file) and row.status not in OPEN and row.failure != acts.UNGRADED,
        "log": _with_names(Entry.objects.filter(submission=row.key)[:50], request),
    }
    return render_tab(request, benchmark, "one", context)


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


@for_organizers(require_POST)
def regrade_all(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """Grade every submission of a benchmark again, and say why."""
    form = forms.ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Nothing was done: say why they are graded again.")
        return redirect("organize", benchmark.name)
    with transaction.atomic():
        reason = form.cleaned_data["reason"]
        count = regrade(benchmark, reason)
        record("regrade", actor=request.user, benchmark=benchmark, reason=reason, submissions=count)
    messages.success(request, f"{count:,} submission{'' if count == 1 else 's'} will be graded again.")
    return redirect("organize", benchmark.name)


@takes("page")
@for_organizers(require_safe)
def log(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """What organizers, admins and the command line did, newest first."""
    page = page_of(request, Entry.objects.filter(benchmark=benchmark.name).exclude(action=SEAL))
    return render_tab(request, benchmark, "log", {"page": page, "log": _with_names(page, request)})


def _with_names(entries: Any, request: SignedInRequest) -> list[Entry]:
    """Log entries with `who` and `name`, as this viewer may know them, and `details` in words."""
    listed: list[Any] = list(entries)
    accounts = User.objects.in_bulk({entry.actor for entry in listed if entry.actor is not None})
    submissions = Submission.objects.filter(key__in={entry.submission for entry in listed})
    names = dict(submissions.values_list("key", "name"))
    for entry in listed:
        actor = accounts.get(entry.actor)
        entry.who = account_name(actor, request.user) if actor else "The site"
        entry.name = names.get(entry.submission)
        entry.detail.pop("sealed", None)  # for `verify`
        entry.details = ", ".join(f"{name}: {_detail_text(value)}" for name, value in entry.detail.items())
    return listed


def _detail_text(value: Any) -> str:
    """A detail of the log in words; a pair is the values before and after."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {_detail_text(of_name)}" for name, of_name in value.items())
    if isinstance(value, list):
        return (" → " if len(value) == 2 else ", ").join(map(_detail_text, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


TABS = {
    "submissions": ("organize", "Submissions"),
    "news": ("organize-news", "News"),
    "setup": ("organize-setup", "Setup"),
    "texts": ("organize-texts", "Texts"),
    "looks": ("organize-looks", "Looks"),
    "phases": ("phases", "Phases"),
    "limits": ("limits", "Limits and feedback"),
    "roles": ("organize-roles", "Roles"),
    "health": ("organize-health", "Health"),
    "alike": ("organize-alike", "Near-duplicates"),
    "annotation": ("organize-people", "Annotation"),
    "results": ("organize-results", "Results"),
    "log": ("organize-log", "Log"),
}
"""Address and title of each tab of the organizer's pages; reviewers have only the first."""


def render_tab(
    request: HttpRequest, benchmark: Benchmark, tab: str, context: dict[str, Any], **options: Any
) -> HttpResponse:
    """A page below a tab of the organizer's pages; `options`: another template than the tab's.

    Its status is 422 if a form has errors. It is rendered later, so the API can take the context instead.
    """
    organizes = benchmark.organized_by(request.user)
    context |= {"benchmark": benchmark, "here": "organize", "tab": tab, "organizes": organizes}
    context |= {"tabs": [(name, *TABS[name]) for name in TABS if organizes or name == "submissions"]}
    context |= {"tab_title": TABS.get(tab, ("", ""))[1], "stalled": stalled(benchmark)}
    options = {"template": f"organize/{tab}.html", "context": context, **options}
    wrong = context.get("problems") or any(form.errors for form in forms_of(context))
    return TemplateResponse(request, status=422 if wrong else 200, **options)


def forms_of(context: Mapping[str, Any]) -> list[BaseForm]:
    """The forms that a page shows."""
    values = (*context.values(), *context.get("forms", {}).values())
    return [value for value in values if isinstance(value, BaseForm)]
