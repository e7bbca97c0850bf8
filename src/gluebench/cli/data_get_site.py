"""`gluebench data get URL`: all files of a benchmark's Data page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gluebench.cli.options import Form
from gluebench.cli.output import Output, Records, emit, notices
from gluebench.cli.tables import Section, Table

if TYPE_CHECKING:
    from gluebench.data.sources.site import Fetched

FIELDS = ("file", "bytes", "sha256", "already_there")


def get_site(url: str, to: str | None, *, patience: tuple[int, float], form: Form) -> None:
    """Fetch the files and say what became of each. Raises SendError, DataError."""
    from gluebench.cli.progress import meter
    from gluebench.data.home import data_folder
    from gluebench.data.sources.fetch import Fetcher, Patience
    from gluebench.data.sources.site import fetch_files, wanted_files
    from gluebench.submission.remote import remote

    found = remote(url, lambda line: notices([line]))
    folder = data_folder(to) / found.address.name
    wanted = wanted_files(found.address.page, found.facts.get("data"), folder)
    shown = meter()
    emit(_output(folder, fetch_files(wanted, Fetcher(shown, Patience(*patience)), shown)), form)


def _output(folder: Path, files: list[Fetched]) -> Output:
    from gluebench.data.sources.meter import size

    rows = [(each.wanted.name, each.wanted.bytes or 0, each.wanted.sha256, each.there) for each in files]
    shown = tuple(
        (name, size(number), "already there" if there else "fetched") for name, number, _, there in rows
    )
    note = f"In {folder}; every file has the SHA-256 that the leaderboard gives."
    table = Table(("file", "size", ""), (Section(shown),), notes=(note,))
    data = {"folder": str(folder), "files": [dict(zip(FIELDS, row, strict=True)) for row in rows]}
    return Output(data, (table,), Records(FIELDS, tuple(rows)))
