"""Readers of the original weight files of the paper's encoders; none of them runs what a file names."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class WeightsError(ValueError):
    """A file of weights that cannot be read. The message says what it holds and what was expected."""


@contextmanager
def reading(path: Path, expected: str) -> Iterator[None]:
    """Raise WeightsError, "PATH: cannot be read (REASON); expected ...", for a missing or damaged file."""
    try:
        yield
    except WeightsError:
        raise
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        raise WeightsError(f"{path}: cannot be read ({reason}); expected {expected}") from None
