"""Making a study, moving through it, and giving it back as files."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from gluebench.analysis.human import sheets
from gluebench.data import Table
from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.audit.models import record
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.people.models import Annotator, Answer, Study
from gluebench.leaderboard.people.work import score_study


def make(
    benchmark: Benchmark,
    table: Table,
    *,
    pairs: int,
    annotators: int,
    seed: int,
    invited: Sequence[User],
    by: User,
) -> Study:
    """Draw, and give each annotator a link; the first ones are the invited accounts. Raises DataError."""
    drawn = sheets.draw(table, benchmark=benchmark.name, pairs=pairs, annotators=annotators, seed=seed)
    wanted = set(drawn.items)
    texts = {each.index: [*each.inputs.values()] for each in table if each.index in wanted}
    with transaction.atomic():
        study = Study.objects.create(
            benchmark=benchmark,
            task=table.task.name,
            drawn=drawn.as_dict(),
            texts=[texts[index] for index in drawn.items],
            by=by,
        )
        users = [*invited, *[None] * annotators][:annotators]
        Annotator.objects.bulk_create(
            [Annotator(study=study, number=at, user=user) for at, user in enumerate(users, 1)]
        )
        record("people drawn", actor=by, benchmark=benchmark, study=study.key, pairs=pairs, seed=seed)
    return study


def order_of(annotator: Annotator) -> list[int]:
    """The items in this annotator's own order."""
    return sheets.sheet_order(sheets.Draw.of(annotator.study.drawn), annotator.number)


def place_of(annotator: Annotator, number: int, given: Mapping[int, str]) -> dict[str, Any] | None:
    """What stands at a place, counted from 1; None outside. An `answer` of None was not given yet."""
    order = order_of(annotator)
    if not 1 <= number <= len(order):
        return None
    item, study = order[number - 1], annotator.study
    texts = [*zip(study.record.columns, study.texts[item - 1], strict=True)]
    return {"number": number, "item": item, "texts": texts, "answer": given.get(item)}


def progress_of(annotator: Annotator, given: Mapping[int, str], *, after: int = 0) -> dict[str, Any]:
    """How far an annotator is, and the next place to answer: after the present one if there is one."""
    order = order_of(annotator)
    open_places = [number for number, item in enumerate(order, 1) if item not in given]
    later = [number for number in open_places if number > after]
    return {"done": len(given), "items": len(order), "next": next(iter(later or open_places), None)}


def answer(annotator: Annotator, item: int, label: str) -> None:
    """Keep an answer; the last one of all has the study scored."""
    with transaction.atomic():
        _, new = Answer.objects.update_or_create(annotator=annotator, item=item, defaults={"label": label})
        study = annotator.study
        if new and annotator.answers.count() == study.items and study.complete:
            score_study.enqueue(annotator.study_id)


def as_zip(study: Study) -> bytes:
    """The folder that `gluebench annotate score` reads."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(sheets.DRAWN, json.dumps(study.drawn, indent=1) + "\n")
        archive.writestr(sheets.INSTRUCTIONS, sheets.instructions(study.record, study.items))
        for annotator in study.annotators.all():
            archive.writestr(f"annotator-{annotator.number}.tsv", _sheet(study, annotator))
    return made.getvalue()


def _sheet(study: Study, annotator: Annotator) -> str:
    given = annotator.given()
    lines = ["\t".join([sheets.ITEM, *study.record.columns, sheets.LABEL])]
    for item in order_of(annotator):
        texts = [" ".join(text.split()) for text in study.texts[item - 1]]
        lines.append("\t".join([str(item), *texts, given.get(item, "")]))
    return "\n".join(lines) + "\n"
