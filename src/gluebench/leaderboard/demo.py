"""The demonstration: the sample benchmark with systems of several kinds, an organizer, a team and a queue."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zipfile import ZipFile

from gluebench.leaderboard import commands
from gluebench.leaderboard.serving.environment import PORT
from gluebench.leaderboard.serving.supervisor import listen

if TYPE_CHECKING:
    from gluebench.systems import SystemEntry

BENCHMARK = "sample"
WORKERS = 4
"""Most systems that are trained at a time."""
TEAM = "Lakeside NLP"
BASELINES = "demo@gluebench.invalid"
ORGANIZER = "organizer@gluebench.invalid"
ADA, BEN = "ada@gluebench.invalid", "ben@gluebench.invalid"


class PackagedSystem(NamedTuple):
    """A system whose predictions the package has, since its training takes half an hour."""

    title: str
    method: str
    description: str
    regime: str
    predictions: Path
    parameters: int


SHIPPED = {
    "bilstm": PackagedSystem(
        "BiLSTM",
        "BiLSTM, 300 per direction",
        "For each task a bidirectional LSTM over GloVe vectors of 50 dimensions, trained with seed 111. "
        "Its predictions come with the package; docs/reference/results.md has the command that made them.",
        "single-task",
        Path(__file__).with_name("demo_bilstm.zip"),
        15_605_618,
    )
}


class DemoEntry(NamedTuple):
    """A submission of the demonstration."""

    system: str
    """The simple or shipped system whose predictions it sends."""
    owner: str = BASELINES
    name: str = ""
    """If empty, the system's own."""
    public: bool = True
    wait: bool = True
    """Whether to grade it before the site starts, rather than leave it in the queue."""
    truncated: str = ""
    """A file that loses its last row, which makes it invalid."""


ENTRIES = (
    DemoEntry("majority"),
    DemoEntry("overlap"),
    DemoEntry("bag-of-words"),
    DemoEntry("hypothesis-only"),
    DemoEntry("mlp"),
    DemoEntry("bilstm"),
    DemoEntry("natural-logic", ADA),
    DemoEntry("hypothesis-only", ADA, "Hypothesis only, private run", public=False),
    DemoEntry("bag-of-words", ADA, "Bag of words, last row missing", truncated="SST-2.tsv"),
    DemoEntry("overlap", BEN, "Word overlap, waiting", public=False, wait=False),
    DemoEntry("majority", BEN, "Majority class, waiting", public=False, wait=False),
)


def demo(folder: str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = PORT) -> None:
    """Serve the sample benchmark with entries on its board. Raises SiteError."""
    os.environ.setdefault("GLUEBENCH_CREATE", "accounts")  # its organizer can create a benchmark
    listen(host, port).close()  # fail now, not after the work, if the port is in use
    fill(folder)
    commands.serve(folder, (host, port), prepared=True, ready=_print_sign_in)


def fill(folder: str | os.PathLike[str]) -> None:
    """Make a site of the sample benchmark, or bring one up to date; what it has is kept. Raises SiteError."""
    from gluebench.data.sample import build

    with tempfile.TemporaryDirectory(prefix="gluebench-") as name:
        scratch = Path(name)
        with _step(f"Setting up the site in {folder}"):
            commands.init(folder)
        with _step("Building the sample benchmark"):
            build(scratch / "sample")
            commands.add(folder, BENCHMARK, scratch / "sample" / "gold", data_folder=scratch / "sample")
            _add_people()
        from gluebench.leaderboard.apps.submissions.models import Submission

        rows = Submission.objects.filter(benchmark__name=BENCHMARK)
        present = set(rows.values_list("owner__email", "name"))
        missing = [entry for entry in ENTRIES if (entry.owner, _entry_title(entry)) not in present]
        systems = list(dict.fromkeys(entry.system for entry in missing))
        with ProcessPoolExecutor(min(WORKERS, os.cpu_count() or 1), get_context("spawn")) as pool:
            trained = {system: pool.submit(_predict, system, scratch / "sample") for system in systems}
            for system in systems:
                with _step(
                    f"{'Grading' if system in SHIPPED else 'Training and grading'}: {_info_of(system).title}"
                ):
                    predictions, parameters = trained[system].result()
                    for entry in missing:
                        if entry.system == system:
                            _submit(folder, entry, predictions, parameters)


def _predict(system: str, data: Path) -> tuple[Mapping[str, Any], int]:
    """The predictions of a system for every test file, and its size."""
    from gluebench.benchmark import load_benchmark
    from gluebench.submission import check
    from gluebench.systems import SYSTEMS, run

    if shipped := SHIPPED.get(system):
        return check(shipped.predictions, load_benchmark(BENCHMARK)).predictions, shipped.parameters
    made = SYSTEMS[system].make()
    return run(made, load_benchmark(BENCHMARK), data), made.parameters()


def _add_people() -> None:
    """Add the organizer and a team of two, and give visitors room to try; a second time changes nothing."""
    from gluebench.leaderboard.apps.accounts.models import Team, User
    from gluebench.leaderboard.apps.accounts.trust import vouch
    from gluebench.leaderboard.apps.limits.acts import create_team, join_team, set_policy
    from gluebench.leaderboard.apps.organizing.acts import set_organizer

    if Team.objects.filter(name=TEAM).exists():
        return
    for email in (ORGANIZER, ADA, BEN):
        vouch(email)
    set_organizer(ORGANIZER, BENCHMARK)
    set_policy(BENCHMARK, changes={"per_day": "20"})
    team = create_team(User.objects.get(email=ADA), TEAM)
    join_team(User.objects.get(email=BEN), team.code)


def _entry_title(entry: DemoEntry) -> str:
    return entry.name or _info_of(entry.system).title


def _info_of(system: str) -> SystemEntry | PackagedSystem:
    from gluebench.systems import SYSTEMS

    return SHIPPED.get(system) or SYSTEMS[system]


def _submit(
    folder: str | os.PathLike[str], entry: DemoEntry, predictions: Mapping[str, Any], parameters: int
) -> None:
    from gluebench.submission import write_submission

    system = _info_of(entry.system)
    with tempfile.TemporaryDirectory(prefix="gluebench-") as scratch:
        file = Path(scratch) / f"{entry.system}.zip"
        write_submission(file, predictions, BENCHMARK)
        if entry.truncated:
            whole, file = file, file.with_stem(f"{file.stem}-truncated")
            with ZipFile(whole) as source, ZipFile(file, "w") as copy:
                for name in source.namelist():
                    text = source.read(name).decode()
                    shorter = text.rstrip("\n").rpartition("\n")[0]
                    copy.writestr(name, shorter if name == entry.truncated else text)
        commands.submit_local(
            folder,
            BENCHMARK,
            entry.owner,
            file,
            name=_entry_title(entry),
            model=system.method,
            team="" if entry.owner == BASELINES else TEAM,
            description=system.description,
            regime=system.regime,
            parameters=parameters,
            public=entry.public,
            wait=entry.wait,
        )


def _print_sign_in(url: str) -> None:
    """Print a link for each role that lets one choose a password and signs one in; it works once."""
    from gluebench.leaderboard.apps.accounts.trust import account, reset_path

    root = commands.address("", url)
    for who, email in (("the organizer", ORGANIZER), ("a participant", ADA)):
        print(f"Sign in once as {who}: {root}{reset_path(account(email))}", flush=True)


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Print the name of a step before it, and how long it took after it."""
    print(f"{what} ...", end=" ", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.1f} s", flush=True)
