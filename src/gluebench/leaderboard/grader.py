"""The only process that opens labels: one job as JSON in, verdict and report as JSON out, nothing else.

It knows no Django, no database and no secret key, and limits itself before it opens anything.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any


def main() -> int:
    """Do the job on standard input. A failure says where it happened, never what the data said."""
    job = json.load(sys.stdin)
    _limit(job["seconds"], job["bytes"])
    try:
        result = _result(job)
    except Exception as error:
        result = {"failed": _where(error)}
    json.dump(result, sys.stdout, allow_nan=False)
    return 1 if "failed" in result else 0


def _result(job: dict[str, Any]) -> dict[str, Any]:
    from gluebench.benchmark import load_benchmark
    from gluebench.submission import check

    benchmark = load_benchmark(job["manifest"])
    submission = check(job["submission"], benchmark)
    result: dict[str, Any] = {"check": submission.as_dict() | {"source": ""}}
    if job["gold"] is not None and submission.verdict != "invalid":
        from gluebench.scoring import grade, read_gold

        result["report"] = grade(submission, read_gold(job["gold"], benchmark)).as_dict()
    return result


def _limit(seconds: int, size: int) -> None:
    if sys.platform != "darwin":  # macOS has no working limit of memory
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_FSIZE, (32 * 1024**2, 32 * 1024**2))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _where(error: BaseException) -> str:
    """The kind of an error and its line. Its message stays here: it may quote a label."""
    place, traceback = "", error.__traceback__
    while traceback is not None:
        place = f"{traceback.tb_frame.f_globals.get('__name__')}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return f"{type(error).__name__} at {place}"


if __name__ == "__main__":
    sys.exit(main())
