"""Having a study scored in the background, apart from the site and limited as all grading is."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.people.models import Study, codes_of
from gluebench.leaderboard.submissions.process import GraderError, run_grader


def score(pk: int) -> None:
    """Score a study by what its annotators answered so far; of those who answered nothing, nothing."""
    study = Study.objects.select_related("benchmark").filter(pk=pk).first()
    if study is None:
        return
    digest = study.benchmark.gold_digest
    try:
        found = run_grader(_job(study))
    except GraderError as failure:
        found = {"problems": [str(failure)]}
    values = {"problems": found.get("problems", [])}
    if "agreement" in found:
        values |= {"agreement": found["agreement"], "scored": timezone.now(), "labels": digest}
    with transaction.atomic():
        Study.objects.filter(pk=pk).update(**values)
        if study.public:
            Benchmark.objects.filter(pk=study.benchmark_id).touch()


@task()
def score_study(pk: int) -> None:
    """Score one study in the worker."""
    score(pk)


def _job(study: Study) -> dict[str, object]:
    given = [(str(each), each.given()) for each in study.annotators.all()]
    sheets = [{"name": name, "labels": codes_of(study, answers)} for name, answers in given]
    return {
        "manifest": str(study.benchmark.manifest_path),
        "gold": str(study.benchmark.gold_path),
        "drawn": study.drawn,
        "sheets": [sheet for sheet in sheets if any(label is not None for label in sheet["labels"])],
    }
