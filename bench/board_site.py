"""A site with generated boards for bench/board.py: GLUE's columns, random scores, no predictions.

python bench/board_site.py FOLDER ENTRIES BENCHMARKS     make it
python bench/board_site.py FOLDER                        serve it; prints the port
"""

from __future__ import annotations

import os
import random
import socket
import sys
from typing import Any

WORDS = ["Tiny", "Deep", "Wide", "Frozen", "Sparse", "Joint", "Large", "Distilled", "Gated", "Shared"]
KINDS = ["BiLSTM", "CBoW", "Transformer", "GRU", "CNN", "MLP"]
MORE = ("+Attn", "+ELMo", "+CoVe", "-large", "-base", "")


def setup(folder: str) -> None:
    os.environ["GLUEBENCH_SITE"] = folder
    os.environ["DJANGO_SETTINGS_MODULE"] = "gluebench.leaderboard.settings"
    import django

    django.setup()


def make(folder: str, entries: int, benchmarks: int) -> None:
    """`entries` on GLUE's board, and further boards of the same columns without any."""
    from gluebench.leaderboard import commands

    commands.init(folder)
    setup(folder)
    from django.core.management import call_command

    call_command("collectstatic", "--no-input", verbosity=0)
    from gluebench.leaderboard.apps.accounts.models import User
    from gluebench.leaderboard.apps.benchmarks.contents import read_manifest
    from gluebench.leaderboard.apps.benchmarks.models import Benchmark
    from gluebench.leaderboard.apps.submissions.models import Submission

    manifest = read_manifest("glue").text
    rows = [
        Benchmark(
            name=f"glue-{at}" if at else "glue",
            title=f"GLUE {at}" if at else "GLUE",
            manifest=_named(manifest, at),
        )
        for at in range(benchmarks)
    ]
    Benchmark.objects.bulk_create(rows)
    people = [User.objects.create_user(f"person{at}@example.org") for at in range(50)]
    chance = random.Random(0)
    board = Benchmark.objects.get(name="glue")
    made = [_entry(board, people, chance, at) for at in range(entries)]
    Submission.objects.bulk_create(made, batch_size=200)


def _named(manifest: str, at: int) -> str:
    return manifest.replace('name = "glue"', f'name = "glue-{at}"', 1) if at else manifest


def _entry(board: Any, people: list[Any], chance: random.Random, at: int) -> Any:
    from django.utils import timezone

    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.submissions.queries import Regime

    scores = _scores(board.record, chance)
    report = {"diagnostics": {task.name: _diagnostic(task, chance) for task in board.record.diagnostics}}
    return Submission(
        owner=chance.choice(people),
        benchmark=board,
        name=f"{chance.choice(WORDS)}Net {at}",
        model=chance.choice(KINDS) + chance.choice(MORE),
        team=f"Group {chance.randrange(50)}",
        link="https://example.org/paper" if at % 2 else "",
        regime=chance.choice(Regime.values),
        parameters=chance.randrange(10**6, 10**9),
        public=True,
        status="graded",
        finished=timezone.now(),
        scores=scores,
        value=scores["score"]["value"],
        report={**scores, **report, "provenance": {"labels": "0" * 8, "version": "0"}},
        sha256="0" * 64,
        size=1,
    )


def _scores(record: Any, chance: random.Random) -> dict[str, Any]:
    tasks = {}
    for task in record.scored:
        sizes = {file.name: file.size() for file in task.files}
        metrics = {metric.name: _number(chance, sizes[metric.file]) for metric in task.metrics}
        tasks[task.name] = {"score": _number(chance, min(sizes.values())), "metrics": metrics}
    return {"complete": True, "missing": [], "score": _number(chance, 9000), "tasks": tasks}


def _diagnostic(task: Any, chance: random.Random) -> dict[str, Any]:
    fine = {each.name: _number(chance, 40) for each in task.phenomena}
    coarse = {name: _number(chance, 200) for name in task.coarse()}
    return {"overall": _number(chance, 1104), "coarse": coarse, "fine": fine}


def _number(chance: random.Random, n: int) -> dict[str, Any]:
    """A value with an interval as wide, and nearly as even, as that of an accuracy on n examples."""
    value = chance.uniform(0.3, 0.95)
    half = 1.96 * (value * (1 - value) / n) ** 0.5
    low, high = (value + side * half * chance.uniform(0.97, 1.03) for side in (-1, 1))
    return {"value": value, "low": low, "high": high, "n": n, "withheld": None}


def serve(folder: str) -> None:
    """The site's own web process, with one address more: a view that does nothing."""
    setup(folder)
    from django.http import HttpResponse
    from django.urls import path

    from gluebench.leaderboard import urls
    from gluebench.leaderboard.serving import web

    urls.urlpatterns.append(path("empty", lambda request: HttpResponse(b"")))
    listening = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(listening.getsockname()[1], flush=True)
    sys.argv[1:] = [str(os.dup(listening.fileno()))]
    web.main()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        make(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        serve(sys.argv[1])
