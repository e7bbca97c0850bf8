"""`gluebench data get URL`: all files of a benchmark's Data page."""

from __future__ import annotations

from gluebench.cli.common.options import Form
from gluebench.cli.common.output import Output, Records, emit, notices
from gluebench.cli.common.tables import Section, Table

FIELDS = ("file", "bytes", "sha256", "already_there")


def get_site(url: str, to: str | None, *, retries: int, timeout: float, form: Form) -> None:
    """Fetch the files and show the outcome of each. Raises SendError, DataError."""
    from gluebench.cli.common.progress import meter
    from gluebench.data.home import data_folder
    from gluebench.data.sources.fetch import Fetcher, RetrySettings, readable
    from gluebench.data.sources.site import fetch_missing, listed_files
    from gluebench.submission.remote import remote

    board = remote(url, lambda line: notices([line]))
    folder = data_folder(to) / board.address.name
    files = listed_files(board.address.page, board.facts.get("data"), folder)
    progress = meter()
    fetched = fetch_missing(files, Fetcher(progress, RetrySettings(retries, timeout)), progress)
    rows = [(file.name, file.bytes or 0, file.sha256, file not in fetched) for file in files]
    cells = tuple(
        (name, readable(size), "already there" if there else "fetched") for name, size, _, there in rows
    )
    note = f"In {folder}; every file has the SHA-256 that the leaderboard gives."
    table = Table(("file", "size", ""), (Section(cells),), notes=(note,))
    data = {"folder": str(folder), "files": [dict(zip(FIELDS, row, strict=True)) for row in rows]}
    emit(Output(data, (table,), Records(FIELDS, tuple(rows))), form)
