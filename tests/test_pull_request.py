"""The steps of action.yml and of pipelines/gitlab.yml, run by bash on simulated pull requests.

No runner of GitHub or GitLab runs them here: what a runner does with `uses`, `if` and `rules` is not tested.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from fresh import OUTSIDE, installed

ROOT = Path(__file__).resolve().parents[1]
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
GITHUB_SHELL = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
GITLAB_SHELL = ["bash", "-eo", "pipefail", "-c"]
NUMBER = 7
"""Of the pull request."""
HOST = ("GITHUB_", "GITLAB_", "CI_", "RUNNER_", "SUBMISSION")
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(HOST)}
"""The environment without variables of a host that may run these tests."""


class Step(NamedTuple):
    """What a step left behind."""

    status: int
    log: str
    summary: str
    output: str
    """What later steps read."""


MANIFEST = """
[benchmark]
name = "pair"
title = "Two tasks"

[tasks.Para]
title = "Paraphrase"
columns = ["first", "second"]
labels = { different = "no", same = "yes" }
metrics = [{ name = "accuracy" }]
splits = { test = { size = 60 } }

[tasks.Infer]
title = "Inference"
columns = ["premise", "hypothesis"]
labels = { entailment = "yes", neutral = "maybe" }
metrics = [{ name = "accuracy" }]
splits = { test = { size = 60 } }
"""
WORDS = {"Para": ("different", "same"), "Infer": ("entailment", "neutral")}


def table(heading: str, words: Sequence[str]) -> bytes:
    rows = [f"{index}\t{word}\n" for index, word in enumerate(words)]
    return f"index\t{heading}\n{''.join(rows)}".encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A benchmark, its labels, and a good, an incomplete and a broken submission, and the one before."""
    folder = tmp_path_factory.mktemp("pair")
    (folder / "pair.toml").write_text(MANIFEST)
    (folder / "gold").mkdir()
    good, before = {}, {}
    for name, (one, other) in WORDS.items():
        labels = [one, other, other] * 20
        (folder / "gold" / f"{name}.tsv").write_bytes(table("label", labels))
        good[f"{name}.tsv"] = table("prediction", [one, *labels[1:50], *labels[:10]])
        before[f"{name}.tsv"] = table("prediction", [one, other] * 30)
    write_zip(folder / "good.zip", good)
    write_zip(folder / "before.zip", before)
    write_zip(folder / "incomplete.zip", {"Para.tsv": good["Para.tsv"]})
    broken = good["Para.tsv"].replace(b"different", b"<b>@team</b>", 1)
    write_zip(folder / "broken.zip", good | {"Para.tsv": broken})
    return folder


def write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


class PullRequest:
    """A clone, one commit deep, of a repository whose last commit changes its submission."""

    def __init__(self, home: Path, *, before: Path | None, submission: Path) -> None:
        origin = home / "origin"
        origin.mkdir(parents=True)
        git(origin, "init", "--quiet")
        git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")  # as the hosts do
        (origin / "README.md").write_text("Our systems\n")
        (origin / "results").mkdir()
        if before is not None:
            shutil.copyfile(before, origin / "results/ours.zip")
        self.base = commit(origin)
        shutil.copyfile(submission, origin / "results/ours.zip")
        self.head = commit(origin)
        self.folder, self.home = home / "clone", home
        git(home, "clone", "--quiet", "--depth", "1", origin.as_uri(), "clone")
        self.temporary = home / "runner"
        self.temporary.mkdir()

    def action(self, *, api: str = "", **inputs: str) -> Step:
        """Run the steps of action.yml, but for those of other actions, in one job."""
        event = {"pull_request": {"number": NUMBER, "base": {"sha": self.base}}}
        event_path = self.home / "event.json"
        event_path.write_text(json.dumps(event))
        files = {name: self.home / name for name in ("summary", "output")}
        for path in files.values():
            path.write_text("")
        environment = CLEAN | {
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_EVENT_PATH": str(event_path),
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_API_URL": api,
            "GITHUB_REPOSITORY": "lab/systems",
            "RUNNER_TEMP": str(self.temporary),
        }
        action = yaml.safe_load((ROOT / "action.yml").read_text())
        given = {name: str(values.get("default", "")) for name, values in action["inputs"].items()}
        values = {f"inputs.{name}": value for name, value in (given | inputs).items()}
        values |= {"runner.temp": str(self.temporary), "github.token": "secret-token"}
        status, log = 0, ""
        for step in action["runs"]["steps"]:
            if "run" not in step or (step["name"] == "Install gluebench" and self.is_installed()):
                continue
            assert step["shell"] == "bash"
            own = {name: filled(text, values) for name, text in step.get("env", {}).items()}
            assert "${{" not in step["run"], "an input never becomes part of a command"
            done = subprocess.run(
                [*GITHUB_SHELL, step["run"]],
                cwd=self.folder,
                env=environment | own,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            status, log = done.returncode, log + done.stdout
            if status:
                break
        return Step(status, log, files["summary"].read_text(), files["output"].read_text())

    def is_installed(self) -> bool:
        return (self.temporary / "gluebench/bin/python").exists()

    def install_this_tree(self) -> None:
        """Stand in for the step that installs, with the gluebench of this test: the rest takes a second."""
        python = self.temporary / "gluebench/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT}/src exec {sys.executable} "$@"\n')
        python.chmod(0o755)


def git(folder: Path, *words: str) -> str:
    return subprocess.run([*GIT, *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def commit(folder: Path) -> str:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change the submission")
    return git(folder, "rev-parse", "HEAD").strip()


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with GitHub's expressions replaced."""
    return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda match: values[match[1]], text)


def opened(tmp_path: Path, folder: Path, name: str, *, before: str | None = "before") -> PullRequest:
    earlier = None if before is None else folder / f"{before}.zip"
    made = PullRequest(tmp_path, before=earlier, submission=folder / f"{name}.zip")
    made.install_this_tree()
    return made


def all_inputs(folder: Path, **more: str) -> dict[str, str]:
    scored = {"gold": str(folder / "gold"), "against": "base"}
    return checked_inputs(folder) | scored | more


def checked_inputs(folder: Path, **more: str) -> dict[str, str]:
    return {"submission": "results/ours.zip", "benchmark": str(folder / "pair.toml")} | more


def test_a_good_submission_is_scored_and_compared_with_the_one_before(folder: Path, tmp_path: Path) -> None:
    step = opened(tmp_path, folder, "good").action(**all_inputs(folder))
    assert step.status == 0, step.log
    assert step.output == "verdict=valid\n"
    assert "ours.zip: VALID" in step.summary
    assert "| Para | accuracy | 88.3 [" in step.summary, "53 of 60"
    assert "On average over all 2 tasks, results/ours is better by" in step.summary
    assert "Compared with the submission before this pull request" in step.summary


@pytest.mark.slow
def test_an_incomplete_submission_passes_unless_a_complete_one_is_asked_for(
    folder: Path, tmp_path: Path
) -> None:
    made = opened(tmp_path, folder, "incomplete", before=None)
    inputs = all_inputs(folder)
    step = made.action(**inputs)
    assert step.status == 0, step.log
    assert step.output == "verdict=incomplete\n"
    assert "no macro-average without Infer.tsv" in step.summary
    assert "There was no <code>results/ours.zip</code> before this pull request." in step.summary
    refused = made.action(**inputs, complete="true")
    assert refused.status == 1
    assert "| Para | accuracy |" in refused.summary, "the table is there all the same"


def test_a_broken_submission_fails_with_a_row_for_each_problem_and_no_scores(
    folder: Path, tmp_path: Path
) -> None:
    step = opened(tmp_path, folder, "broken").action(**all_inputs(folder))
    assert step.status == 1
    assert step.output == "verdict=invalid\n"
    (row,) = [line for line in step.summary.splitlines() if "| unknown-label |" in line]
    assert row.startswith("| error | Para.tsv | ")
    assert "Scores" not in step.summary
    assert "<b>" not in step.summary, "text of a submission is no HTML"
    assert "@team" not in step.summary, "and mentions nobody"


def test_wrong_settings_fail_with_a_sentence(folder: Path, tmp_path: Path) -> None:
    made = opened(tmp_path, folder, "good")
    step = made.action(**all_inputs(folder, submission="results/; touch hacked"))
    assert (step.status, step.summary) == (2, "")
    assert step.log == "error: results/; touch hacked: there is no such file or folder in the repository\n"
    assert not (made.folder / "hacked").exists()
    step = made.action(**all_inputs(folder, gold="nowhere"))
    assert step.status == 2
    assert "Directory 'nowhere' does not exist" in step.log


def test_the_manual_names_each_input_of_the_action_and_no_other() -> None:
    page = (ROOT / "docs/how-to/pull-requests.md").read_text()
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    github, gitlab = (yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", page, re.S)[:2])
    (used,) = [step for step in github["jobs"]["submission"]["steps"] if "with" in step]
    assert used["with"].keys() <= action["inputs"].keys()
    listed = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, re.MULTILINE)
    assert {name for cell in listed for name in re.findall(r"\w+", cell)} == action["inputs"].keys()
    known = (ROOT / "pipelines/pull_request.py").read_text() + str(gitlab_job()["variables"])
    assert all(name in known for name in gitlab["gluebench"]["variables"])


# ---------------------------------------------------------------- comments


class Comments(HTTPServer):
    """The part of GitHub's and GitLab's API that keeps the comments of one pull request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), CommentsHandler)
        self.bodies: list[str] = []
        self.calls: list[str] = []
        self.refuses = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class CommentsHandler(BaseHTTPRequestHandler):
    server: Comments

    def answer(self, status: int, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        page = int(self.path.partition("page=")[2].rpartition("page=")[2])
        listed = list(enumerate(self.server.bodies))[100 * (page - 1) : 100 * page]
        self.note()
        self.answer(200, [{"id": number, "body": body} for number, body in listed])

    def do_POST(self) -> None:
        text = self.note()
        if self.server.refuses:
            self.answer(403, {"message": "Resource not accessible by integration"})
            return
        self.server.bodies.append(text)
        self.answer(201, {"id": len(self.server.bodies) - 1})

    def do_PATCH(self) -> None:
        self.server.bodies[int(self.path.rpartition("/")[2])] = self.note()
        self.answer(200, {})

    do_PUT = do_PATCH  # noqa: N815

    def note(self) -> str:
        token = self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
        self.server.calls.append(f"{self.command} {self.path} {token}")
        length = int(self.headers.get("Content-Length") or 0)
        return str(json.loads(self.rfile.read(length))["body"]) if length else ""

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""


@pytest.fixture
def comments() -> Iterator[Comments]:
    server = Comments()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_a_comment_is_written_once_and_then_replaced(
    folder: Path, tmp_path: Path, comments: Comments
) -> None:
    comments.bodies = ["Nice work"] * 120
    made = opened(tmp_path, folder, "good")
    inputs = checked_inputs(folder, comment="true")
    assert made.action(api=comments.url, **inputs).status == 0
    assert len(comments.bodies) == 121
    assert "ours.zip: VALID" in comments.bodies[-1]
    shutil.copyfile(folder / "broken.zip", made.folder / "results/ours.zip")
    assert made.action(api=comments.url, **inputs).status == 1
    assert len(comments.bodies) == 121
    assert "ours.zip: INVALID" in comments.bodies[-1]
    place = "/repos/lab/systems/issues"
    assert comments.calls[2] == f"POST {place}/{NUMBER}/comments Bearer secret-token"
    assert comments.calls[-1] == f"PATCH {place}/comments/120 Bearer secret-token"


@pytest.mark.slow
def test_a_token_that_may_not_comment_fails_nothing(folder: Path, tmp_path: Path, comments: Comments) -> None:
    comments.refuses = True
    made = opened(tmp_path, folder, "good")
    inputs = checked_inputs(folder, comment="true")
    step = made.action(api=comments.url, **inputs)
    assert step.status == 0
    assert "no comment: HTTP Error 403" in step.log
    assert "ours.zip: VALID" in step.summary


# ---------------------------------------------------------------- GitLab


def gitlab_job() -> dict[str, Any]:
    job: dict[str, Any] = yaml.safe_load((ROOT / "pipelines/gitlab.yml").read_text())["gluebench"]
    return job


def gitlab_variables(made: PullRequest, folder: Path, api: str) -> dict[str, str]:
    own = {name: str(value) for name, value in gitlab_job()["variables"].items()}
    return own | {
        "CI_PROJECT_DIR": str(made.folder),
        "CI_API_V4_URL": api,
        "CI_PROJECT_ID": "12",
        "CI_MERGE_REQUEST_IID": str(NUMBER),
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": made.base,
        "GITLAB_TOKEN": "project-token",
        "SUBMISSION": "results/ours.zip",
        "SUBMISSION_BENCHMARK": str(folder / "pair.toml"),
        "SUBMISSION_GOLD": str(folder / "gold"),
        "SUBMISSION_AGAINST": "base",
        "SUBMISSION_COMMENT": "true",
    }


@pytest.mark.slow
def test_the_last_step_of_the_gitlab_job_writes_report_and_comment(
    folder: Path, tmp_path: Path, comments: Comments
) -> None:
    made = opened(tmp_path, folder, "good")
    checkout = Path(f"{made.folder}.gluebench")
    (checkout / ".venv").parent.mkdir()
    shutil.copytree(ROOT / "pipelines", checkout / "pipelines")
    shutil.copytree(made.temporary / "gluebench", checkout / ".venv")
    variables = gitlab_variables(made, folder, comments.url)
    command = [*GITLAB_SHELL, gitlab_job()["script"][-1]]
    done = subprocess.run(command, cwd=made.folder, env=CLEAN | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = (made.folder / gitlab_job()["artifacts"]["paths"][0]).read_text()
    assert "Compared with the submission before this pull request" in text
    assert comments.bodies[-1].endswith(text)
    notes = f"/projects/12/merge_requests/{NUMBER}/notes"
    assert comments.calls[-1] == f"POST {notes} project-token"


# ---------------------------------------------------------------- whole jobs, with their installs


@pytest.mark.slow
@pytest.mark.parametrize(("name", "status"), [("good", 0), ("broken", 1)])
def test_all_steps_of_the_action(name: str, status: int, folder: Path, tmp_path: Path) -> None:
    earlier = folder / "before.zip"
    made = PullRequest(tmp_path, before=earlier, submission=folder / f"{name}.zip")
    step = made.action(**all_inputs(folder))
    assert step.status == status, step.log
    assert made.is_installed()


@pytest.mark.slow
def test_all_steps_of_the_gitlab_job(folder: Path, tmp_path: Path, comments: Comments) -> None:
    made = PullRequest(tmp_path, before=None, submission=folder / "broken.zip")
    variables = gitlab_variables(made, folder, comments.url)
    variables |= {"GLUEBENCH_REPOSITORY": committed_tree(tmp_path).as_uri(), "GLUEBENCH_REF": "main"}
    script = "\n".join(gitlab_job()["script"])
    done = subprocess.run(
        [*GITLAB_SHELL, script], cwd=made.folder, env=OUTSIDE | variables, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stderr
    assert "ours.zip: INVALID" in comments.bodies[-1]


def committed_tree(home: Path) -> Path:
    """A repository with the files of this tree as they are, committed or not."""
    target = home / "tree"
    listed = git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target / name)
    git(target, "init", "--quiet")
    git(target, "add", "--all")
    git(target, "commit", "--quiet", "--message", "The tree of this test")
    return target


@pytest.mark.slow
def test_the_hook_of_pre_commit_refuses_a_broken_submission(folder: Path, tmp_path: Path) -> None:
    made = PullRequest(tmp_path, before=folder / "good.zip", submission=folder / "good.zip")
    programs = installed(Path("pre-commit"), tmp_path / "tools")
    tree = committed_tree(tmp_path)
    revision = git(tree, "rev-parse", "HEAD").strip()
    hook = {"id": "gluebench-check", "args": ["results/ours.zip", "--benchmark", str(folder / "pair.toml")]}
    config = {"repos": [{"repo": tree.as_uri(), "rev": revision, "hooks": [hook]}]}
    (made.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    environment = OUTSIDE | {"PRE_COMMIT_HOME": str(tmp_path / "cache")}

    def check() -> subprocess.CompletedProcess[str]:
        git(made.folder, "add", "--all")
        command = [programs / "pre-commit", "run", "--all-files"]
        return subprocess.run(command, cwd=made.folder, env=environment, capture_output=True, text=True)

    good = check()
    assert good.returncode == 0, good.stdout + good.stderr
    shutil.copyfile(folder / "broken.zip", made.folder / "results/ours.zip")
    broken = check()
    assert broken.returncode == 1
    assert "error: Para.tsv" in broken.stdout
