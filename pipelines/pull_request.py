"""Check, grade and compare a submission in a pull request; write the tables as a summary and a comment.

The steps of action.yml and of pipelines/gitlab.yml run it where `gluebench` is installed. It reads
environment variables alone, so that no text of a pull request becomes part of a command:

SUBMISSION            zip, folder or file of predictions, below the current folder
SUBMISSION_BENCHMARK  name, manifest or address of the benchmark [glue]
SUBMISSION_SPLIT      test or dev [test]
SUBMISSION_GOLD       folder of labels; or
SUBMISSION_DATA       folder of prepared data, for a split that has labels; without either, nothing is scored
SUBMISSION_AGAINST    another submission to compare with; `base` for the same path before the pull request
SUBMISSION_COMPLETE   true to refuse an incomplete submission
SUBMISSION_COMMENT    true to write a comment too, with GITHUB_TOKEN or GITLAB_TOKEN
SUBMISSION_REPORT     file of the report [gluebench-report.md]

It exits with 1 for a submission that is refused, and with 2 if a setting is wrong.
"""

from __future__ import annotations

import hashlib
import html
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

BASE = "base"
REFUSED, WRONG_SETTING = 1, 2
LONGEST_COMMENT = 60_000
"""Characters; GitHub takes 65,536."""
LONGEST_SUMMARY = 250_000
"""Characters; GitHub takes 1 MiB."""
PER_PAGE = 100
TIMEOUT = 30.0
"""Seconds for an answer of the host."""


class SettingError(Exception):
    """A setting of the pipeline is missing or wrong."""


class Result(NamedTuple):
    """The output of a command."""

    status: int
    output: str
    messages: str
    """What it printed on standard error."""


def main() -> None:
    """Write the report where it is read, then exit as the submission deserves."""
    try:
        text, accepted = report()
    except SettingError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(WRONG_SETTING)
    path = Path(os.environ.get("SUBMISSION_REPORT") or "gluebench-report.md")
    path.write_text(text, "utf-8")
    print(text)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with open(summary, "a", encoding="utf-8") as file:
            file.write(shortened(text, LONGEST_SUMMARY))
    if is_on("SUBMISSION_COMMENT"):
        comment(text)
    if not accepted:
        sys.exit(REFUSED)


def is_on(name: str) -> bool:
    """Whether a setting is `true`."""
    return os.environ.get(name, "").strip().lower() == "true"


def setting(name: str, default: str = "") -> str:
    """The value of a variable; the default where it is empty, as an action's input without a value is."""
    return os.environ.get(name, "").strip() or default


# ---------------------------------------------------------------- the report


def report() -> tuple[str, bool]:
    """The report as Markdown, and whether the submission is accepted. Raises SettingError."""
    submission = setting("SUBMISSION")
    if not submission:
        raise SettingError(
            "no submission is named; set SUBMISSION (the action's input `submission`) to its path"
        )
    if not Path(submission).exists():
        raise SettingError(f"{submission}: there is no such file or folder in the repository")
    options = ["--benchmark", setting("SUBMISSION_BENCHMARK", "glue")]
    options += ["--split", setting("SUBMISSION_SPLIT", "test")]
    checked = gluebench("check", submission, *options, "--json")
    if checked.status not in (0, REFUSED) or not checked.output:
        raise SettingError(checked.messages.strip())
    verdict = str(json.loads(checked.output)["verdict"])
    announce("verdict", verdict)
    parts = [gluebench("check", submission, *options, "--markdown").output]
    if verdict == "invalid":
        return page(parts), False
    labels = label_options()
    if labels:
        parts += ["#### Scores", scored("grade", submission, *options, *labels)]
        parts += comparison(submission, [*options, *labels])
    return page(parts), verdict == "valid" or not is_on("SUBMISSION_COMPLETE")


def label_options() -> list[str]:
    """The options that name the labels; none where nothing is to be scored."""
    for name, option in (("SUBMISSION_GOLD", "--gold"), ("SUBMISSION_DATA", "--data")):
        if setting(name):
            return [option, setting(name)]
    return []


def comparison(submission: str, options: list[str]) -> list[str]:
    """The comparison with another submission, or why there is none. Raises SettingError."""
    against = setting("SUBMISSION_AGAINST")
    if not against:
        return []
    if against != BASE:
        return [f"#### Compared with {code(against)}", scored("compare", submission, against, *options)]
    heading = "#### Compared with the submission before this pull request"
    with tempfile.TemporaryDirectory(prefix="before-", dir=".") as folder:
        before = submission_before(submission, Path(folder))
        if before is None:
            return [heading, f"There was no {code(submission)} before this pull request."]
        return [heading, scored("compare", submission, str(before), *options)]


def submission_before(submission: str, folder: Path) -> Path | None:
    """Write the submission of the commit that the pull request starts from; None if it had none."""
    commit = base_commit()
    if run("git", "cat-file", "-e", f"{commit}^{{commit}}").status:  # a shallow clone lacks it
        fetched = run("git", "fetch", "--quiet", "--depth", "1", "origin", commit)
        if fetched.status:
            raise SettingError(f"commit {commit} cannot be fetched: {fetched.messages.strip()}")
    archive = folder / "before.tar"
    if run("git", "archive", "--output", str(archive), commit, "--", submission).status:
        return None
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder / submission


def base_commit() -> str:
    """The commit that a pull request or merge request starts from. Raises SettingError outside of one."""
    commit = pull_request().get("base", {}).get("sha") or setting("CI_MERGE_REQUEST_DIFF_BASE_SHA")
    if not commit:
        raise SettingError(
            f"nothing says what this commit is compared with: SUBMISSION_AGAINST={BASE} works in a pull "
            "request alone; name the other submission's path instead"
        )
    return str(commit)


def pull_request() -> dict[str, Any]:
    """What GitHub says of the pull request; empty elsewhere."""
    path = setting("GITHUB_EVENT_PATH")
    if not path:
        return {}
    event: dict[str, Any] = json.loads(Path(path).read_text("utf-8"))
    return event.get("pull_request") or {}


def scored(*words: str) -> str:
    """The tables of a command with its warnings. Raises SettingError if it fails."""
    result = gluebench(*words, "--markdown")
    if result.status:
        raise SettingError(result.messages.strip())
    if not result.messages.strip():
        return result.output
    return f"{result.output}\n<pre>{html.escape(result.messages.strip())}</pre>\n"


def page(parts: list[str]) -> str:
    """The report; a name of a file in it mentions nobody."""
    text = "\n".join(["### gluebench", "", *parts])
    return text.replace("@", "@\N{ZERO WIDTH SPACE}")


def code(text: str) -> str:
    """A path as code in Markdown."""
    return f"<code>{html.escape(text)}</code>"


def gluebench(*words: str) -> Result:
    """Run a command of gluebench with the Python that runs this script."""
    return run(sys.executable, "-m", "gluebench", *words)


def run(*words: str) -> Result:
    """Run a program without a shell."""
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8")
    return Result(done.returncode, done.stdout, done.stderr)


def announce(name: str, value: str) -> None:
    """Give later steps of a GitHub job a value."""
    path = setting("GITHUB_OUTPUT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{name}={value}\n")


def shortened(text: str, longest: int) -> str:
    """The text up to the last line that fits, and that something is missing."""
    if len(text) <= longest:
        return text
    kept = text[:longest].rpartition("\n")[0]
    return f"{kept}\n\n(The rest is in the job's log.)\n"


# ---------------------------------------------------------------- the comment


class Host(NamedTuple):
    """How a host keeps the comments of a pull request."""

    comments: str
    """Address of the list."""
    one: str
    """Address of one comment without its number."""
    headers: dict[str, str]
    change: str
    """HTTP method that replaces a comment's text."""


def comment(text: str) -> None:
    """Write the report as a comment; a later run replaces the comment of the same submission.

    A token that may not comment, as of a pull request from a fork, is said and is no failure of the
    submission: the summary has the report too.
    """
    host = host_of_comments()
    if host is None:
        print("no comment: this is no pull request, or there is no token for its host", file=sys.stderr)
        return
    mark = f"<!-- gluebench {hashlib.sha256(setting('SUBMISSION').encode()).hexdigest()[:16]} -->"
    body = f"{mark}\n{shortened(text, LONGEST_COMMENT)}"
    try:
        for earlier in comments(host):
            if str(earlier.get("body", "")).startswith(mark):
                request(host, f"{host.one}/{earlier['id']}", host.change, {"body": body})
                return
        request(host, host.comments, "POST", {"body": body})
    except OSError as error:
        print(f"no comment: {error}. Does the token have the right to comment?", file=sys.stderr)


def host_of_comments() -> Host | None:
    """The host that runs this job; None if it is no pull request or has no token."""
    number, token = pull_request().get("number"), setting("GITHUB_TOKEN")
    if number and token:
        issues = f"{setting('GITHUB_API_URL')}/repos/{setting('GITHUB_REPOSITORY')}/issues"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
        return Host(f"{issues}/{number}/comments", f"{issues}/comments", headers, "PATCH")
    number, token = setting("CI_MERGE_REQUEST_IID"), setting("GITLAB_TOKEN")
    if number and token:
        project = f"{setting('CI_API_V4_URL')}/projects/{setting('CI_PROJECT_ID')}"
        notes = f"{project}/merge_requests/{number}/notes"
        return Host(notes, notes, {"PRIVATE-TOKEN": token}, "PUT")
    return None


def comments(host: Host) -> Iterator[dict[str, Any]]:
    """All comments of the pull request, page by page."""
    number = 1
    while True:
        listed = request(host, f"{host.comments}?per_page={PER_PAGE}&page={number}", "GET")
        yield from listed
        if len(listed) < PER_PAGE:
            return
        number += 1


def request(host: Host, url: str, method: str, values: dict[str, str] | None = None) -> Any:
    """The host's answer as JSON. Raises OSError, of which an HTTP error is one."""
    data = None if values is None else json.dumps(values).encode()
    headers = {**host.headers, "Content-Type": "application/json"}
    call = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(call, timeout=TIMEOUT) as answer:
        return json.loads(answer.read() or b"null")


if __name__ == "__main__":
    main()
