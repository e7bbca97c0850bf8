"""Pages of annotation: an organizer draws, invites and scores; an annotator labels one pair a page."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.mail import send_mail
from django.db.models import Count, Max, Q
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gluebench.data import DataError
from gluebench.leaderboard.apps.accounts.models import SignedInRequest, account_name
from gluebench.leaderboard.apps.annotation import studies
from gluebench.leaderboard.apps.annotation.forms import StudyForm
from gluebench.leaderboard.apps.annotation.models import BLANK, Annotator, Study, facts_of, round_scores
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.organizer_pages import for_organizers, render_tab
from gluebench.leaderboard.apps.common.formats import score_intervals
from gluebench.leaderboard.apps.common.page_cache import TYPES, as_download
from gluebench.leaderboard.apps.common.text import csv_text

ENDS = ("value", "low", "high", "n")
DRAWN = ("table", "pairs", "annotators", "seed", "accounts")


@for_organizers()
def overview(request: SignedInRequest, benchmark: Benchmark) -> HttpResponse:
    """The benchmark's studies, and the form that draws another."""
    form = StudyForm(benchmark, request.POST or None, request.FILES or None)
    if form.is_valid():
        try:
            drawn = {name: form.cleaned_data[name] for name in DRAWN}
            study = studies.make(benchmark, by=request.user, **drawn)
        except DataError as error:
            form.add_error("examples", list(error.problems))
        else:
            _invite(request, study)
            return redirect("organize-study", benchmark.name, study.key)
    context = {"form": form, "studies": benchmark.studies.all(), "possible": bool(form.tasks)}
    return render_tab(request, benchmark, "annotation", context, template="annotation/overview.html")


def _invite(request: HttpRequest, study: Study) -> None:
    """Send the invited accounts their links; messages say what was done and what could not be sent."""
    title = study.benchmark.title
    unsent = 0
    for annotator in study.annotators.exclude(user=None).select_related("user"):
        text = (
            f"An organizer of {title} asks you to label {study.items} pairs of sentences, to find out "
            "how well people do. You can stop at any time and go on later. Sign in with this email address "
            f"here:\n\n{request.build_absolute_uri(annotator.get_absolute_url())}\n"
        )
        assert annotator.user is not None
        try:
            unsent += send_mail(f"Labeling for {title}", text, None, [annotator.user.email]) != 1
        except OSError:  # smtplib's errors are such too
            unsent += 1
    number = study.drawn["annotators"]
    messages.success(request, f"{study.items} examples are drawn for {number} annotators.")
    if unsent:
        messages.warning(request, f"{unsent} messages could not be sent; send the links yourself.")


@for_organizers()
def study_page(request: SignedInRequest, benchmark: Benchmark, key: str) -> HttpResponse:
    """A study: the progress of its annotators, their links, and buttons for what an organizer can do."""
    study = get_object_or_404(benchmark.studies.select_related("benchmark"), key=key)
    if request.method == "POST":
        return _act(request, study)
    blanks = Count("answers", filter=Q(answers__label=BLANK))
    progress = study.annotators.annotate(done=Count("answers"), blanks=blanks, last=Max("answers__at"))
    rows: list[Any] = list(progress.select_related("user"))
    for row in rows:
        row.address = request.build_absolute_uri(row.get_absolute_url())
        row.account = account_name(row.user, request.user) if row.user else ""
    context = {"study": study, "annotators": rows, "answered": any(row.done for row in rows)}
    return render_tab(request, benchmark, "annotation", context, template="annotation/study.html")


def _act(request: SignedInRequest, study: Study) -> HttpResponse:
    """Do what a button says; ignore an unknown one."""
    act = request.POST.get("act", "")
    message = studies.change_study(study, request.user, act=act, number=request.POST.get("number", ""))
    if message:
        messages.success(request, message)
    if act == "delete":
        return redirect("organize-people", study.benchmark.name)
    return redirect("organize-study", study.benchmark.name, study.key)


@for_organizers(require_safe)
def download(request: SignedInRequest, benchmark: Benchmark, key: str) -> HttpResponse:
    """The sheets with the answers so far, as `gluebench annotate score` reads them."""
    study = get_object_or_404(benchmark.studies, key=key)
    response = HttpResponse(studies.as_zip(study), content_type="application/zip")
    return as_download(response, f"{study.task}-people-{study.key}.zip")


def start(request: HttpRequest, code: str) -> HttpResponse:
    """The annotator's first page: instructions, progress, and a link to the next pair."""
    annotator = _annotator_of_link(request, code)
    if isinstance(annotator, HttpResponse):
        return annotator
    return render(request, "annotation/start.html", _context(annotator, annotator.answers_by_item()))


def pair(request: HttpRequest, code: str, number: int) -> HttpResponse:
    """One pair; an answer leads to the next one without an answer."""
    annotator = _annotator_of_link(request, code)
    if isinstance(annotator, HttpResponse):
        return annotator
    study = annotator.study
    order = studies.order_of(annotator)
    if not 1 <= number <= len(order):
        raise Http404("There is no such place.")
    if not study.open:
        return redirect("label", code)
    item = order[number - 1]
    answers = annotator.answers_by_item()
    label = request.POST.get("label")
    if label in (*study.record.words, BLANK):
        studies.answer(annotator, item, label)
        following = studies.next_number(annotator, {**answers, item: label}, after=number)
        if following is None:
            return redirect("label", code)
        return redirect("label-place", code, following)
    texts = list(zip(study.record.columns, study.texts[item - 1], strict=True))
    place = {"number": number, "texts": texts, "answer": answers.get(item)}
    missing = request.method == "POST"
    context = _context(annotator, answers) | {"place": place, "missing": missing}
    return render(request, "annotation/place.html", context, status=422 if missing else 200)


def _context(annotator: Annotator, answers: dict[int, str]) -> dict[str, Any]:
    study = annotator.study
    task = study.record
    following = studies.next_number(annotator, answers)
    return {
        "annotator": annotator,
        "study": study,
        "task": task,
        "first": task.columns[0],
        "second": task.columns[-1],
        "progress": {"done": len(answers), "items": study.items, "next": following},
    }


def _annotator_of_link(request: HttpRequest, code: str) -> Annotator | HttpResponse:
    """Return the annotator of a link, or a redirect to sign in if an account was invited."""
    annotator = Annotator.objects.select_related("study__benchmark").filter(code=code).first()
    if annotator is None:
        raise Http404("This link does not work. Ask the person who sent it for the current link.")
    if annotator.user_id is not None and not request.user.is_authenticated:
        return redirect_to_login(reverse("label", args=[code]))
    if annotator.user_id is not None and annotator.user_id != request.user.pk:
        raise Http404("This link belongs to another account.")
    return annotator


@require_safe
def result(request: HttpRequest, name: str, key: str, form: str = "") -> HttpResponse:
    """A study's result as a page, JSON or CSV; JSON and CSV have fractions, not percentages.

    For organizers, and for everybody if it is public.
    """
    study = Study.objects.select_related("benchmark").filter(key=key, benchmark__name=name).first()
    organizes = study is not None and study.benchmark.has_organizer(request.user)
    visible = Benchmark.objects.visible_to(request.user)
    if study is None or not (organizes or (study.public and visible.filter(pk=study.benchmark_id).exists())):
        raise Http404("There is no such study, or it is not public.")
    if not organizes:
        study = round_scores(study)
    if form == "json":
        return JsonResponse(facts_of(study))
    return _as_csv(study) if form == "csv" else _as_page(request, study)


def _as_page(request: HttpRequest, study: Study) -> HttpResponse:
    task = study.record
    agreement = study.agreement
    context: dict[str, Any] = {"benchmark": study.benchmark, "study": study, "task": task}
    context |= {"here": "diagnostics", "agreement": agreement}
    if agreement is not None:
        blanks = Counter(blank["annotator"] for blank in agreement["blanks"])
        scores = list(agreement["annotators"].items())
        metric = task.metrics[0].title
        with_mean = scores + [("Mean", agreement["mean"])]
        context |= {
            "metric": metric,
            "lines": [(name, score, blanks[name]) for name, score in scores],
            "blanks": blanks.total(),
            "picture": score_intervals(f"{task.title}: annotators", metric, with_mean),
        }
    return render(request, "annotation/result.html", context)


def _as_csv(study: Study) -> HttpResponse:
    """Give a row for each annotator, their mean, and kappa."""
    lines = []
    if agreement := study.agreement:
        scores = {**agreement["annotators"], "mean": agreement["mean"]}
        rows = [(who, agreement["metric"], score) for who, score in scores.items()]
        rows.append(("all", "kappa", agreement["kappa"]))
        for who, measure, score in rows:
            lines.append([who, measure] + [score[end] for end in ENDS])
    text = csv_text(("who", "measure") + ENDS, lines)
    response = HttpResponse(text, content_type=TYPES["csv"])
    return as_download(response, f"{study.task}-people-{study.key}.csv")
