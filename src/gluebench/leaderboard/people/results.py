"""What came of a study: each annotator, their mean, and how far they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.escapes import csv_text
from gluebench.leaderboard.common.formats import score_bars
from gluebench.leaderboard.common.page_cache import CSV, as_download
from gluebench.leaderboard.people.models import Study
from gluebench.scoring import Score
from gluebench.scoring.feedback import lowest_of, rounded_score

SCHEMA = "gluebench.people/1"
ENDS = ("value", "low", "high", "n")


def shared(benchmark: Benchmark, task: str = "") -> list[Study]:
    """The studies that were made public and scored, the newest first, as anybody may see them."""
    rows = benchmark.studies.filter(public=True, agreement__isnull=False).select_related("benchmark")
    return [_rounded(study) for study in rows if not task or study.task == task]


@require_safe
def result(request: HttpRequest, name: str, key: str, form: str = "") -> HttpResponse:
    """The page, JSON or CSV; the numbers of the last two are fractions."""
    study = _seen(request, name, key)
    if form == "json":
        return JsonResponse(facts_of(study))
    return _as_csv(study) if form == "csv" else _as_page(request, study)


def _as_page(request: HttpRequest, study: Study) -> HttpResponse:
    task, agreement = study.record, study.agreement
    context: dict[str, Any] = {"benchmark": study.benchmark, "study": study, "task": task}
    context |= {"here": "diagnostics", "found": agreement}
    if agreement is not None:
        blanks = Counter(blank["annotator"] for blank in agreement["blanks"])
        scores = agreement["annotators"]
        bars = {**scores, "Mean": agreement["mean"]}.items()
        context |= {
            "metric": task.metrics[0].title,
            "lines": [(name, score, blanks[name]) for name, score in scores.items()],
            "blanks": blanks.total(),
            "picture": score_bars(f"{task.title}: people", task.metrics[0].title, bars),
        }
    return render(request, "people/result.html", context)


def _as_csv(study: Study) -> HttpResponse:
    """A row for each annotator, their mean, and kappa."""
    rows = []
    if agreement := study.agreement:
        metric, scores = agreement["metric"], {**agreement["annotators"], "mean": agreement["mean"]}
        rows = [(who, metric, score) for who, score in scores.items()]
        rows.append(("all", "kappa", agreement["kappa"]))
    lines = ([who, measure, *(score[end] for end in ENDS)] for who, measure, score in rows)
    response = HttpResponse(csv_text(["who", "measure", *ENDS], lines), content_type=CSV)
    return as_download(response, f"{study.task}-people-{study.key}.csv")


def facts_of(study: Study) -> dict[str, Any]:
    """A study's result for programs."""
    return {
        "schema": SCHEMA,
        "key": study.key,
        "url": study.get_absolute_url(),
        "benchmark": study.benchmark.name,
        "task": study.task,
        "seed": study.drawn["seed"],
        "pairs": len(study.drawn["pairs"]),
        "drawn": study.created.isoformat(timespec="seconds"),
        "scored": study.scored.isoformat(timespec="seconds") if study.scored else None,
        "labels_changed": study.outdated,
        "agreement": study.agreement,
    }


def _seen(request: HttpRequest, name: str, key: str) -> Study:
    """The study, for organizers, and for everybody where it was made public. Raises Http404."""
    study = Study.objects.select_related("benchmark").filter(key=key, benchmark__name=name).first()
    organises = study is not None and study.benchmark.organised_by(request.user)
    if study is None or not (study.public or organises):
        raise Http404("There is no such study, or it is not public.")
    return study if organises else _rounded(study)


def _rounded(study: Study) -> Study:
    """The study with its scores as anybody may see them: rounded, unless the labels are public."""
    agreement = study.agreement
    if agreement is not None and not study.record.labels_public:
        lowest = lowest_of(study.record)

        def rounded(score: Mapping[str, Any]) -> dict[str, Any]:
            return rounded_score(Score(**score), lowest).as_dict()

        scores = {name: rounded(score) for name, score in agreement["annotators"].items()}
        study.agreement = {**agreement, "annotators": scores, "mean": rounded(agreement["mean"])}
    return study
