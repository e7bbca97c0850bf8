"""The demonstration: the sample benchmark on a board, with the simple systems trained, graded and shown."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gluebench.leaderboard import commands
from gluebench.leaderboard.supervisor import listen

BENCHMARK = "sample"
EMAIL = "demo@gluebench.invalid"


def demo(folder: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serve the sample benchmark with the simple systems on its board. Raises SiteError."""
    listen(host, port).close()  # a port that is taken is said before the work, not after
    fill(folder)
    commands.serve(folder, host=host, port=port)


def fill(folder: str | os.PathLike[str]) -> None:
    """Make a site of the sample benchmark, or bring one up to date; what it has is kept. Raises SiteError."""
    from gluebench.benchmark import load_benchmark
    from gluebench.data.sample import build
    from gluebench.submission import write_submission
    from gluebench.systems import SYSTEMS, run

    benchmark = load_benchmark(BENCHMARK)
    with tempfile.TemporaryDirectory(prefix="gluebench-") as name:
        scratch = Path(name)
        with _step(f"Setting up the site in {folder}"):
            commands.init(folder)
        with _step("Building the sample benchmark"):
            build(scratch / "sample")
            commands.add(folder, BENCHMARK, scratch / "sample" / "gold", data_folder=scratch / "sample")
        from gluebench.leaderboard.submissions.models import Submission

        rows = Submission.objects.filter(benchmark__name=BENCHMARK, owner__email=EMAIL)
        there = set(rows.values_list("model", flat=True))
        for entry in SYSTEMS.values():
            if entry.title in there:
                continue
            with _step(f"Training and grading: {entry.title}"):
                system = entry.make()
                predictions = run(system, benchmark, scratch / "sample")
                submission = scratch / f"{entry.name}.zip"
                write_submission(submission, predictions, benchmark)
                commands.submit_local(
                    folder,
                    BENCHMARK,
                    EMAIL,
                    submission,
                    name="gluebench baselines",
                    model=entry.title,
                    description=entry.description,
                    regime=entry.regime,
                    parameters=system.parameters(),
                )


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Say what is done before it is, and how long it took after."""
    print(f"{what} ...", end=" ", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.1f} s", flush=True)
