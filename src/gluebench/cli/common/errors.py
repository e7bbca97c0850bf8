"""Errors of users on the terminal: one message, no traceback, the right exit code."""

from collections.abc import Mapping
from importlib.util import find_spec

import click

WRONG_FILE = 1
"""Exit code when something in the user's files is wrong; click's own 2 is for usage."""

EXTRAS: Mapping[str, str] = {
    "pyarrow": "data",
    "urllib3": "data",
    "tqdm": "data",
    "scipy": "recipes",
    "sklearn": "audit",
    "torch": "train",
    "h5py": "train",
    "accelerate": "train",
    "safetensors": "train",
    "transformers": "hf",
    "sentence_transformers": "hf",
    "huggingface_hub": "hf",
    "yaml": "hf",
    "peft": "lora",
    "mcp": "mcp",
}
"""Optional package to the extra that installs it."""


def as_click(error: Exception) -> click.ClickException | None:
    """The error as a ClickException; None for a bug of this program."""
    if isinstance(error, BrokenPipeError):
        return None  # click exits silently if a pipe's reader has exited
    if isinstance(error, FloatingPointError):  # a loss that is not finite
        return click.ClickException(f"{error}.")
    if isinstance(error, OSError):
        return _of_a_file(error)
    if isinstance(error, ImportError):
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS or find_spec(package) is not None:
            return None
        return needs_extra(EXTRAS[package], f"This command ({package})")
    if not type(error).__module__.startswith("gluebench."):
        return None
    name = type(error).__name__
    message = str(error)
    sentence = message[:1].upper() + message[1:]
    if name in ("UnknownNameError", "OptionError", "DeviceError"):
        return click.UsageError(sentence)
    if name == "GoldError":
        return click.ClickException(sentence)
    if name in _OF_USERS:
        return click.ClickException(message)
    return None


def _of_a_file(error: OSError) -> click.ClickException | None:
    """The error of a file, with its path and what helps; None for an error without a path."""
    from gluebench.benchmark.atomic import FULL

    if error.filename is None:
        return None
    reason = error.strerror or type(error).__name__
    message = f"{error.filename}: {reason[:1].lower()}{reason[1:]}."
    if error.errno in FULL:
        message += " Free some space and repeat the command: what was saved before is whole."
    return click.ClickException(message)


_OF_USERS = {
    "MissingFilesError",
    "DataError",
    "EncoderError",
    "ManifestError",
    "ModelError",
    "PolicyError",
    "PredictionError",
    "RefusedByLeaderboardError",
    "RefusedError",
    "SendError",
    "SiteError",
    "SubmissionError",
    "UnreachableError",
    "WeightsError",
}
"""Errors of a user's mistake, whose message may begin with a path.

They are known by name, so that no package is imported for them that was not imported already.
"""


def needs_extra(extra: str, what: str) -> click.ClickException:
    """The error if an optional part of the package is not installed."""
    return click.ClickException(f"{what} needs more packages: pip install 'gluebench[{extra}]'")
