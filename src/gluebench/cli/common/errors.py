"""What a user's mistake looks like on the terminal: one message, no traceback, the right exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

import click

WRONG_FILE = 1
"""Exit code when something in the user's files is wrong; click's own 2 is for usage."""


def as_click(error: Exception) -> click.ClickException | None:
    """The error as click shows it; None for one that is a fault of this program."""
    if isinstance(error, BrokenPipeError):
        return None  # click closes quietly when the reader of a pipe has gone
    if isinstance(error, OSError):
        return click.ClickException(_path_message(error)) if error.filename is not None else None
    return _room_error(error)


def _path_message(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"{error.filename}: {reason[:1].lower()}{reason[1:]}."


def _room_error(error: Exception) -> click.ClickException | None:
    """The message for an error that the package raises for a user's mistake; None for any other error.

    Errors are recognized by name, so that this imports no package that was not already imported.
    """
    if not type(error).__module__.startswith("gluebench."):
        return None
    name = type(error).__name__
    if name in {"UnknownNameError", "OptionError"}:
        return click.UsageError(_sentence(str(error)))
    if name == "GoldError":
        return click.ClickException(_sentence(str(error)))
    if name in {
        "ManifestError",
        "SubmissionError",
        "SiteError",
        "DataError",
        "EncoderError",
        "PolicyError",
        "ModelError",
        "PredictionError",
        "RefusedByLeaderboardError",
        "RefusedError",
        "SendError",
        "UnreachableError",
        "WeightsError",
        "CannotBeHadError",
    }:  # these may begin with a path
        return click.ClickException(str(error))
    return None


def _sentence(message: str) -> str:
    return message[:1].upper() + message[1:]


def needs_extra(extra: str, what: str) -> click.ClickException:
    """What to say where an optional part of the package is not installed."""
    return click.ClickException(f"{what} needs more packages: pip install 'gluebench[{extra}]'")


@contextmanager
def needing(extra: str, what: str, *packages: str) -> Iterator[None]:
    """Say which extra to install where one of these packages is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in packages:
            raise
        raise needs_extra(extra, what) from None


def reading_data() -> AbstractContextManager[None]:
    """Say what to install where prepared data cannot be read without pyarrow."""
    return needing("data", "Reading prepared data", "pyarrow")
