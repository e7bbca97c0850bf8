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
from gluebench.leaderboard.common.formats import percent, score_bars
from gluebench.leaderboard.common.page_cache import CSV, as_download
from gluebench.leaderboard.people.models import Study
from gluebench.scoring import Score
from gluebench.scoring.rounding import lowest_of, rounded_score

SCHEMA = "gluebench.people/1"
ENDS = ("value", "low", "high", "n")


def shared(benchmark: Benchmark, task: str = "") -> list[Study]:
    """The studies that were made public and scored, the newest first, as anybody may see them."""
    rows = benchmark.studies.filter(public=True, agreement__isnull=False).select_related("benchmark")
    studies: list[Any] = [_rounded(study) for study in rows if not task or study.task == task]
    for study in studies:
        study.kappa = kappa_text(study.agreement["kappa"]["value"])
    return studies


def kappa_text(value: float | None) -> str:
    """Kappa with two decimals, as the paper gives it."""
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


@require_safe
def result(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """The page."""
    study = _seen(request, name, key)
    found = study.agreement
    context: dict[str, Any] = {
        "benchmark": study.benchmark,
        "study": study,
        "task": study.record,
        "here": "diagnostics",
        "found": found,
    }
    if found is not None:
        blanks = Counter(blank["annotator"] for blank in found["blanks"])
        context |= {
            "metric": study.record.metrics[0].title,
            "lines": [(name, score, blanks[name]) for name, score in found["annotators"].items()],
            "kappa": kappa_text(found["kappa"]["value"]),
            "kappa_low": kappa_text(found["kappa"]["low"]),
            "kappa_high": kappa_text(found["kappa"]["high"]),
            "human": percent(found["published"]["human"]),
            "published_kappa": kappa_text(found["published"]["kappa"]),
            "blanks": sum(blanks.values()),
            "picture": score_bars(
                f"{study.record.title}: people",
                study.record.metrics[0].title,
                {**found["annotators"], "Mean": found["mean"]}.items(),
            ),
        }
    return render(request, "people/result.html", context)


@require_safe
def result_json(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """The same as JSON; numbers are fractions."""
    return JsonResponse(facts_of(_seen(request, name, key)))


@require_safe
def result_csv(request: HttpRequest, name: str, key: str) -> HttpResponse:
    """A row for each annotator, their mean, and kappa; numbers are fractions."""
    study = _seen(request, name, key)
    found = study.agreement or {"metric": "", "annotators": {}}
    rows = [(each, found["metric"], score) for each, score in found["annotators"].items()]
    if study.agreement:
        rows += [("mean", found["metric"], found["mean"]), ("all", "kappa", found["kappa"])]
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
    """The study, for organisers, and for everybody where it was made public. Raises Http404."""
    study = Study.objects.select_related("benchmark").filter(key=key, benchmark__name=name).first()
    organises = study is not None and study.benchmark.organised_by(request.user)
    if study is None or not (study.public or organises):
        raise Http404("There is no such study, or it is not public.")
    return study if organises else _rounded(study)


def _rounded(study: Study) -> Study:
    """The study with its scores as anybody may see them: rounded, unless the labels are public."""
    found = study.agreement
    if found is not None and not study.record.labels_public:
        lowest = lowest_of(study.record)

        def rounded(score: Mapping[str, Any]) -> dict[str, Any]:
            return rounded_score(Score(**score), lowest).as_dict()

        scores = {name: rounded(score) for name, score in found["annotators"].items()}
        study.agreement = {**found, "annotators": scores, "mean": rounded(found["mean"])}
    return study
