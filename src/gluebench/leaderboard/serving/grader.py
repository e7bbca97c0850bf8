"""The only process that opens labels: it reads one job and writes its result, both as JSON.

It has no access to Django, the database or the secret key, and limits itself before it opens anything.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from gluebench.leaderboard.apps.common.kinds import Values

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark
    from gluebench.scoring import Gold, Report
    from gluebench.submission import Submission

KEPT = "not better by more than a standard error than the best that its people sent before, which is shown"
INCOMPLETE = "only some of the task's files are there, and of a part nothing is shown"


def main() -> int:
    """Do the job on standard input. A failure gives its line of code and quotes no data."""
    job = json.load(sys.stdin)
    _limit(job["seconds"], job["bytes"], job["file_bytes"])
    os.nice(job.get("nice", 0))
    try:
        from gluebench.submission.archive import limit_uploads

        limit_uploads(job["upload_bytes"])
        result = _result(job)
    except Exception as error:
        result = {"failed": _describe(error)}
    json.dump(result, sys.stdout, allow_nan=False)
    return 1 if "failed" in result else 0


def _result(job: Values) -> Values:
    from gluebench.benchmark import load_benchmark
    from gluebench.leaderboard.apps.similarity.samples import near_pairs, take_sample

    if "compare" in job:
        return {"pairs": near_pairs(job["compare"])}
    if "build" in job:
        from gluebench.leaderboard.apps.organizing.building import build

        return build(job["build"])
    benchmark = load_benchmark(job["manifest"])
    if "samples" in job:
        return {"samples": [take_sample(path, benchmark) for path in job["samples"]]}
    if "rehearse" in job:
        return _rehearse(job, benchmark)
    if "sheets" in job:
        return _agreement(job, _gold(job, benchmark))
    if "systems" in job or "pair" in job:
        return _rank_or_compare(job, _gold(job, benchmark))
    return _check_and_grade(job, benchmark)


def _check_and_grade(job: Values, benchmark: Benchmark) -> Values:
    """Check a submission and, where there are labels for it, grade it."""
    from gluebench.submission import check

    submission = check(job["submission"], benchmark)
    result: Values = {"check": submission.as_dict() | {"source": ""}}
    if job.get("fixed") and submission.verdict != "valid":
        result["fixed"] = _fix(job, benchmark)
    if job.get("original") and submission.verdict != "invalid":
        from gluebench.leaderboard.apps.similarity.samples import agreement

        result["agreement"] = agreement(submission, check(job["original"], benchmark))
    if job["gold"] is not None and submission.verdict != "invalid":
        from gluebench.scoring import read_gold
        from gluebench.scoring.grade import with_tag_counts

        labels = read_gold(job["gold"], benchmark)
        submission = with_tag_counts(submission, labels)
        if submission.verdict == "invalid":
            return {"check": submission.as_dict() | {"source": ""}}
        gold = _select_rows(job, labels)
        result["report"] = _grade(submission, gold).as_dict()
        result["diagnosis"] = _diagnosis(submission, gold)
        if job.get("also"):
            result["also"] = _grade(submission, _select_rows({**job, "rows": job["also"]}, labels)).as_dict()
        if job.get("bests") is not None:
            result |= _ladder(job["bests"], submission, gold)
    return result


def _grade(submission: Submission, gold: Gold) -> Report:
    """The report, without classes of hidden labels: no database or export can reveal what it never had."""
    from gluebench.scoring import grade
    from gluebench.scoring.feedback import without_hidden_classes

    return without_hidden_classes(grade(submission, gold), gold.benchmark)


def _fix(job: Values, benchmark: Benchmark) -> Values | None:
    """Write a copy in the right form: what changes, and its own check; None if errors remain."""
    from gluebench.submission import check, fix_submission

    fix = fix_submission(job["submission"], job["fixed"], benchmark)
    if fix.problems:
        return None
    changes = [step for step in fix.done if job["fixed"] not in step]
    return {"changes": changes, "check": check(job["fixed"], benchmark).as_dict() | {"source": ""}}


def _agreement(job: Values, gold: Gold) -> Values:
    """Score annotators' labels of the examples that an organizer drew, as systems are."""
    from gluebench.analysis.human.score import score_sheets
    from gluebench.analysis.human.sheets import Draw, Sheet
    from gluebench.data import DataError

    sheets = [Sheet(sheet["name"], tuple(sheet["labels"])) for sheet in job["sheets"]]
    try:
        return {"agreement": score_sheets(Draw.of(job["drawn"]), sheets, gold).as_dict()}
    except DataError as error:  # its messages name examples, never their labels
        return {"problems": error.problems}


def _rehearse(job: Values, benchmark: Benchmark) -> Values:
    """Make and grade the submissions of a dry run, in the folder that the job names."""
    from pathlib import Path

    from gluebench.leaderboard.apps.organizing.rehearsing import rehearse
    from gluebench.scoring import read_gold

    labels = read_gold(job["gold"], benchmark)
    return {"rehearsed": rehearse(labels, _gold(job, benchmark), Path(job["rehearse"]))}


def _diagnosis(submission: Submission, gold: Gold) -> Values:
    """For each diagnostic set that was sent: its confusion tables, and its pairs in both directions."""
    from gluebench.analysis.diagnostics import diagnose

    files = [task.metrics[0].file for task in gold.benchmark.diagnostics]
    if not any(file in gold.columns and file in submission.predictions for file in files):
        return {}
    diagnosis = diagnose({"": submission}, gold, intervals=False)
    return {name: result.systems[""].counts() for name, result in diagnosis.sets.items()}


def _rank_or_compare(job: Values, gold: Gold) -> Values:
    """For the board: ranks with their rank sets, or a comparison of two systems."""
    from gluebench.analysis.board import TooFewSystemsError, compare_two, rank_all

    if "pair" in job:
        a, b = job["pair"]
        return compare_two(a, b, gold, smallest=job["smallest"])
    options = {name: job[name] for name in ("majorities", "shown", "leaders", "smallest", "cache")}
    try:
        return rank_all(job["systems"], gold, **options)
    except TooFewSystemsError:  # as on a board of one system
        return {"names": []}


def _gold(job: Values, benchmark: Benchmark) -> Gold:
    from gluebench.scoring import read_gold

    return _select_rows(job, read_gold(job["gold"], benchmark))


def _select_rows(job: Values, gold: Gold) -> Gold:
    """The labels; with `rows` in the job, only that part of a split by its `share`."""
    if job.get("rows") is None:
        return gold
    from gluebench.scoring.gold import label_key
    from gluebench.scoring.split import part_of

    return part_of(gold, job["rows"], share=job["share"], key=label_key(job["gold"]))


def _ladder(bests: dict[str, str], submission: Submission, gold: Gold) -> Values:
    """What the Ladder shows, and which tasks have a new best.

    `bests` is task to the file of an earlier submission. One that lacks the task is passed over.
    """
    from gluebench.scoring.feedback import climb
    from gluebench.scoring.grade import with_tag_counts
    from gluebench.submission import check

    benchmark = gold.benchmark
    read = {path: with_tag_counts(check(path, benchmark), gold) for path in sorted(set(bests.values()))}
    usable = {}
    for task in benchmark.tasks:
        if task.name in bests:
            best = read[bests[task.name]]
            if all(file.name in best.predictions for file in task.files):
                usable[task.name] = best
    step = climb(submission, usable, gold)
    shown = _grade(step.shown, gold)
    warnings = list(shown.warnings)
    if step.kept:
        warnings.append(f"{', '.join(step.kept)}: {KEPT}")
    if step.incomplete:
        warnings.append(f"{', '.join(step.incomplete)}: {INCOMPLETE}")
    return {"shown": replace(shown, warnings=tuple(warnings)).as_dict(), "new": list(step.new)}


def _limit(seconds: int, size: int, file_size: int) -> None:
    if sys.platform != "darwin":  # macOS has no working limit of memory
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    # At the first limit comes SIGXCPU, which tells why it stops; at the second SIGKILL.
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _describe(error: BaseException) -> str:
    """Describe an error by its type, its line of code, and the problems of files of labels.

    Its message is left out, since it may quote a label.
    """
    from traceback import walk_tb

    *_, (frame, line) = walk_tb(error.__traceback__)
    place = f"{frame.f_globals.get('__name__')}:{line}"
    problems = [problem for problem in getattr(error, "problems", ()) if hasattr(problem, "code")]
    description = f"{type(error).__name__} at {place}"
    wrong = sorted({f"{p.code} in {os.path.basename(p.file) or 'the folder'}" for p in problems})
    if wrong:
        description += f" ({', '.join(wrong)})"
    return description


if __name__ == "__main__":
    sys.exit(main())
