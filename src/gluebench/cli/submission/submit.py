"""`gluebench submit`, and the options and functions of every command that can send a submission."""

from __future__ import annotations

import functools
import hashlib
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.benchmark.tables import to_json
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.inputs import checked
from gluebench.cli.common.output import Form, emit, notice, notices
from gluebench.leaderboard.apps.common.fields import FIELDS, from_json

if TYPE_CHECKING:
    from gluebench.submission.client import Client

F = TypeVar("F", bound=Callable[..., Any])
_PREFIX = "to_"


class Destination(NamedTuple):
    """The leaderboard that a submission is sent to, the details to show there, and how to send it."""

    url: str
    token: str
    details: Mapping[str, Any]
    wait: bool
    again: bool


def destination_options(*, required: bool) -> Callable[[F], F]:
    """Add `--to URL` and its related options; the command gets `to`: a Destination, or None without URL."""

    def add_options(command: F) -> F:
        @functools.wraps(command)
        def command_with_destination(*arguments: Any, **values: Any) -> Any:
            names = [name for name in values if name.startswith(_PREFIX)]
            destination = _destination({name: values.pop(name) for name in names})
            return command(*arguments, to=destination, **values)

        options = option.together(*_options(required=required))
        return options(command_with_destination)  # type: ignore[no-any-return]

    return add_options


def _options(*, required: bool) -> list[Any]:
    help_text = "Address of the leaderboard." if required else "Send the submission to this leaderboard."
    options: list[Any] = [
        option.text("--to URL", "to_url", required=required, help=help_text),
        option.text(
            "--token TOKEN",
            "to_token",
            envvar="GLUEBENCH_TOKEN",
            help="Yours, from its page /account/tokens; better from GLUEBENCH_TOKEN than from here.",
        ),
    ]
    for field in FIELDS.values():
        types: dict[str, Any] = {
            "choice": click.Choice([value for value in field.choices if value]),
            "count": click.IntRange(min=int(field.least)),
            "number": click.FloatRange(min=field.least),
        }
        help_text = field.help
        if field.kind == "text":
            help_text += " @FILE reads it from a file."
        names = (_flag(field.name), f"{_PREFIX}{field.name}")
        options.append(click.option(*names, type=types.get(field.kind), help=help_text))
    options += [
        option.text(
            "--reproduces KEY", "to_reproduces", help="Another party's public row that you ran again."
        ),
        option.flag("--public", "to_public", help="Show it on the board once it is graded."),
        option.flag("--no-wait", "to_no_wait", help="Do not wait for the scores."),
        option.flag("--new", "to_again", help="A new submission, even of a file that was sent before."),
    ]
    return options


def _destination(option_values: Mapping[str, Any]) -> Destination | None:
    values = {name.removeprefix(_PREFIX): value for name, value in option_values.items()}
    url = values.pop("url")
    token = values.pop("token") or ""
    wait = not values.pop("no_wait")
    again = values.pop("again")
    details = {name: value for name, value in values.items() if value is not None and value is not False}
    if url is None:
        if details or again or not wait:
            names = ", ".join(map(_flag, details)) or "--new and --no-wait"
            raise click.UsageError(f"{names}: these go with a submission that is sent; add --to URL.")
        return None
    for name, value in details.items():
        if name in FIELDS and FIELDS[name].kind == "text" and value.startswith("@"):
            path = Path(value[1:])
            try:
                details[name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError as error:
                message = f"{path} is not UTF-8 text (byte {error.start}). Save it as UTF-8."
                raise click.UsageError(f"{_flag(name)}: {message}") from None
    return Destination(url, token, details, wait, again)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class Reached(NamedTuple):
    """A leaderboard that responded, and its benchmark to send to."""

    to: Destination
    client: Client
    name: str
    suite: Benchmark
    """With the tasks of the phase that a file is for now."""


def connect(to: Destination) -> Client:
    """A client of the leaderboard; prints its notices about the address. Raises UsageError."""
    from gluebench.submission.client import Client, SendError

    if not to.token:
        raise click.UsageError(
            f"A token is needed: make one at {to.url.rstrip('/')}/account/tokens and set GLUEBENCH_TOKEN."
        )
    try:
        client = Client(to.url, to.token, say=notice)
    except SendError as error:  # an invalid address or token
        raise click.UsageError(str(error)) from None
    if client.is_open_to_readers:
        notices(
            [f"warning: {client.url} is not encrypted: the token and the predictions can be read on the way."]
        )
    return client


def insist_on_scopes(client: Client, to: Destination) -> None:
    """Check that the token may send, and read the scores if `to.wait`. Raises SendError, ClickException."""
    scopes = client.account()["scopes"]
    needed = ("submit", "read") if to.wait else ("submit",)
    lacking = [repr(scope) for scope in needed if scopes is not None and scope not in scopes]
    if lacking:
        way = " Or send with --no-wait." if lacking == ["'read'"] else ""
        raise click.ClickException(
            f"This token lacks the scope {' and '.join(lacking)}; nothing was sent. "
            f"Make one with both 'read' and 'submit' at {client.url}/account/tokens.{way}"
        )


def name_there(client: Client, name: str | None) -> str:
    """The name of a benchmark on the leaderboard, or of its only one. Raises SendError, UsageError."""
    names = [item["name"] for item in client.benchmarks()]
    if name is None:
        if len(names) != 1:
            listed = ", ".join(names) or "none yet"
            raise click.UsageError(f"Name one of its benchmarks with --benchmark: {listed}.")
        return str(names[0])
    if "/" in name or name.endswith(".toml"):
        name = load_benchmark(name).name
    if name not in names:
        listed = ", ".join(names) or "none"
        raise click.UsageError(
            f"{client.url} has no benchmark {name!r}. It has: {listed}. "
            "If it is for its participants alone, register first: gluebench register --help says how."
        )
    return name


def send(path: Path, there: Reached, *, form: Form, defaults: Mapping[str, Any]) -> None:
    """Check locally, send, wait, and print the report. Raises SendError; exits if nothing can be graded."""
    from gluebench.cli.common.progress import Progress

    to, client, name, suite = there
    options = ["--benchmark", f"{client.url}/benchmarks/{name}"]
    checked(str(path), suite, options=options, end="Nothing was sent.")
    details = {**defaults, **to.details}
    entry = client.submit(
        name,
        path,
        details,
        retry_key=None if to.again else retry_key(path, name, details),
        progress=Progress(f"Sending {path.name}:", "bytes") if sys.stderr.isatty() else None,
    )
    key = entry["key"]
    if entry["new"]:
        notices([f"Sent as {details['name']!r}: {client.page(key)}"])
    else:
        notices([f"This file was sent before under this name: {client.page(key)} (--new sends it again)"])
        ignored = []
        for name, value in to.details.items():
            if _as_stored(value) != _as_stored(from_json(entry, name)):
                ignored.append(_flag(name))
        if ignored:
            warning = f"{', '.join(ignored)} changed nothing: what was said of it before stays."
            notices([f"warning: {warning} Edit it at {client.page(key)}"])
    if to.wait:
        _show(client.wait(key, on_change=_say_status), suite, client=client, source=str(path), form=form)
    elif form == "json":
        click.echo(to_json(entry), nl=False)
    else:
        click.echo(client.page(key))


def reached(to: Destination | None, benchmark: str, split: str) -> Reached | None:
    """Connect to the leaderboard before the work begins; None without one. Raises SendError, UsageError."""
    if to is None:
        return None
    if split != "test":
        raise click.UsageError(
            "A leaderboard takes predictions for the test split; leave out --to or --split."
        )
    client = connect(to)
    insist_on_scopes(client, to)
    name = name_there(client, benchmark)
    return Reached(to, client, name, client.benchmark(name))


def deliver(path: Path, there: Reached | None, *, form: Form, defaults: Mapping[str, Any]) -> None:
    """Send the file that a command made, if the user named a leaderboard."""
    if there is not None:
        cut = {name: str(value)[:80] for name, value in defaults.items()}
        send(path, there, form=form, defaults=cut)


def retry_key(path: Path, benchmark: str, details: Mapping[str, Any]) -> str:
    """A key that is equal for the same file, name and model, so that a repeated command sends once."""
    digest = hashlib.sha256(f"{benchmark}\0{details['name']}\0{details['model']}\0".encode())
    digest.update(details.get("reproduces", "").encode())
    with path.open("rb") as file:
        while piece := file.read(1024 * 1024):
            digest.update(piece)
    return digest.hexdigest()[:40]


def _as_stored(value: Any) -> Any:
    """A detail as the site stores it, without spaces at its ends."""
    if isinstance(value, str):
        return value.strip()
    return value


def _say_status(status: Mapping[str, Any]) -> None:
    ahead = status["position"] - 1
    state = status["label"]
    if status["status"] == "queued" and ahead > 0:
        state += f", {ahead} before it"
    notices([f"{state}. {status.get('stalled', '')}".strip()])


def _show(entry: Mapping[str, Any], suite: Benchmark, *, client: Client, source: str, form: Form) -> None:
    """Print the report as `gluebench grade` does, or why there is none."""
    from gluebench.cli.scoring.grade import report_output
    from gluebench.scoring.report import report_of

    if entry["status"] == "invalid":
        print_findings(entry["check"], suite, source=source, form=form)
        raise click.exceptions.Exit(WRONG_FILE)
    if entry["status"] == "failed":
        raise click.ClickException(f"{entry['failure']} See {client.page(entry['key'])}")
    if entry.get("late"):
        notices([f"The deadline of the phase {entry['phase']} has passed: it is late, and does not count."])
    if entry["status"] == "kept":  # a reproduction is compared, not graded; anything else came too late
        if entry["reproduces"] is None:
            raise click.exceptions.Exit(WRONG_FILE)
        return
    if entry["report"] is None:
        notices([f"Its scores are held back until it is public; publish it at {client.page(entry['key'])}"])
        return
    emit(report_output(report_of(entry["report"]), suite, source=source), form)


def print_findings(values: Mapping[str, Any], suite: Benchmark, *, source: str, form: Form) -> None:
    """Print the result of the leaderboard's check as `gluebench check` does."""
    from gluebench.cli.submission.check import print_check
    from gluebench.submission import Problem, Submission

    submission = Submission(
        benchmark=suite,
        role=values["split"],
        source=source,
        verdict=values["verdict"],
        problems=tuple(Problem(**problem) for problem in values["problems"]),
        predictions={},
        missing=tuple(values["missing"]),
        unshown=values["unshown"],
    )
    print_check(submission, form, done=[])


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True, path_type=Path))
@option.text("--benchmark NAME|URL", type=option.BenchmarkName(), help="Where the leaderboard has several.")
@option.flag("--check-only", help="The leaderboard's free check: nothing is submitted.")
@destination_options(required=True)
@option.output
def submit(sub: Path, benchmark: str | None, check_only: bool, form: Form, to: Destination) -> None:
    """Send a submission to a leaderboard and print its scores.

    SUB is a zip. It is checked here first, and private there until it is published. An upload that breaks
    off is sent again; the same command twice makes one submission. The token is read from GLUEBENCH_TOKEN.

    \b
    Example:
      gluebench submit submission.zip --to https://board.example.org --name "My system" --model BiLSTM
      gluebench submit submission.zip --to http://127.0.0.1:8000 --check-only
    """
    if sub.is_dir():
        raise click.UsageError(
            f"{sub} is a folder, and a submission is sent as one zip. "
            f"This makes it: gluebench check {sub} --fix submission.zip"
        )
    client = connect(to)
    place = name_there(client, benchmark)
    suite = client.benchmark(place)
    if check_only:
        result = client.check(place, sub)
        print_findings(result, suite, source=str(sub), form=form)
        if result["verdict"] == "invalid":
            raise click.exceptions.Exit(WRONG_FILE)
        return
    insist_on_scopes(client, to)
    name = to.details.get("name", sub.stem)
    send(sub, Reached(to, client, place, suite), form=form, defaults={"name": name, "model": name})
