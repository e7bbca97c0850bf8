"""A study from the draw of its pairs to its score: its sheets, its answers, its files."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone
from django_tasks import task

from gluebench.analysis.human import sheets
from gluebench.data import Table
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.annotation.models import BLANK, Annotator, Answer, Study
from gluebench.leaderboard.apps.audit.models import record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.submissions.process import GraderError, run_grader

SETTINGS = {
    "open": ("open", True, "Annotators may answer again."),
    "close": ("open", False, "The study is closed: annotators can no longer answer."),
    "publish": ("public", True, "Everybody sees the result now."),
    "hide": ("public", False, "Only organizers see the result now."),
}
"""Buttons that set a column of a study, and the message that confirms each."""


def make(benchmark: Benchmark, table: Table, *, accounts: Sequence[User], by: User, **numbers: int) -> Study:
    """Draw, and give each annotator a link; the first ones are these accounts. Raises DataError.

    `numbers`: the `pairs`, `annotators` and `seed` of the draw.
    """
    draw = sheets.draw(table, benchmark=benchmark.name, **numbers)
    texts = {example.index: list(example.inputs.values()) for example in table}
    with transaction.atomic():
        study = Study.objects.create(
            benchmark=benchmark,
            task=table.task.name,
            drawn=draw.as_dict(),
            texts=[texts[index] for index in draw.items],
            by=by,
        )
        annotators = []
        for number in range(1, draw.annotators + 1):
            user = accounts[number - 1] if number <= len(accounts) else None
            annotators.append(Annotator(study=study, number=number, user=user))
        Annotator.objects.bulk_create(annotators)
        facts: dict[str, Any] = {"study": study.key, "pairs": len(draw.pairs), "seed": draw.seed}
        record("people drawn", actor=by, benchmark=benchmark, **facts)
    return study


def change_study(study: Study, actor: User, *, act: str, number: str = "") -> str:
    """Open, close, publish, hide, score or delete a study, or renew the link of the annotator of that number.

    Returns the sentence that confirms it; empty for an unknown act.
    """
    with transaction.atomic():
        done = _change(study, act, number)
        if done:
            record(f"people {act}", actor=actor, benchmark=study.benchmark, study=study.key)
            Benchmark.objects.filter(pk=study.benchmark_id).touch()
    return done


def _change(study: Study, act: str, number: str) -> str:
    if act in SETTINGS:
        name, value, done = SETTINGS[act]
        Study.objects.filter(pk=study.pk).update(**{name: value})
        return done
    if act == "score":
        score_study.enqueue(study.pk)
        return "It is being scored; load this page again in a few seconds."
    if act == "renew":
        annotator = study.annotators.filter(number=int(number) if number.isdecimal() else 0).first()
        if annotator is None:
            return "There is no such annotator."
        annotator.renew()
        return f"{annotator} has another link; the old one no longer works."
    if act == "delete":
        study.delete()
        return "The study is deleted, with all its answers."
    return ""


def order_of(annotator: Annotator) -> list[int]:
    """The items in this annotator's own order."""
    return sheets.sheet_order(sheets.Draw.of(annotator.study.drawn), annotator.number)


def next_number(annotator: Annotator, answers: Mapping[int, str], *, after: int = 0) -> int | None:
    """The number of the next item without an answer: the first after `after`, else the first of all."""
    first = None
    for number, item in enumerate(order_of(annotator), start=1):
        if item not in answers:
            if number > after:
                return number
            first = first or number
    return first


def answer(annotator: Annotator, item: int, label: str) -> None:
    """Store an answer; once all are answered, enqueue the scoring of the study."""
    with transaction.atomic():
        _, new = Answer.objects.update_or_create(annotator=annotator, item=item, defaults={"label": label})
        study = annotator.study
        if new and annotator.answers.count() == study.items and study.complete:
            score_study.enqueue(annotator.study_id)


@task()
def score_study(pk: int) -> None:
    """Score a study in the worker by its answers so far; annotators without labels are left out."""
    study = Study.objects.select_related("benchmark").filter(pk=pk).first()
    if study is None:
        return
    code_of = {word: code for code, word in enumerate(study.record.words)}
    answered = []
    for annotator in study.annotators.all():
        answers = annotator.answers_by_item()
        labels = [code_of.get(answers.get(item, BLANK)) for item in range(1, study.items + 1)]
        if any(label is not None for label in labels):
            answered.append({"name": str(annotator), "labels": labels})
    job = {
        "manifest": str(study.benchmark.manifest_path),
        "gold": str(study.benchmark.gold_path),
        "drawn": study.drawn,
        "sheets": answered,
    }
    try:
        result = run_grader(job)
    except GraderError as failure:
        result = {"problems": [str(failure)]}
    values = {"problems": result.get("problems", [])}
    if "agreement" in result:
        digest = study.benchmark.gold_digest
        values |= {"agreement": result["agreement"], "scored": timezone.now(), "labels": digest}
    with transaction.atomic():
        Study.objects.filter(pk=pk).update(**values)
        if study.public:
            Benchmark.objects.filter(pk=study.benchmark_id).touch()


def as_zip(study: Study) -> bytes:
    """The folder that `gluebench annotate score` reads."""
    buffer = io.BytesIO()
    labels = {annotator.number: annotator.answers_by_item() for annotator in study.annotators.all()}
    contents = sheets.files(sheets.Draw.of(study.drawn), study.record, study.texts, labels)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in contents.items():
            archive.writestr(name, text)
    return buffer.getvalue()
