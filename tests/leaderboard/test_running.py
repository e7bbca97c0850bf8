"""How a site is run: what is refused at the start, what doctor says, several processes and machines."""

from __future__ import annotations

import json
import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import storages
from django.test import override_settings
from leaderboard.served import new_site
from leaderboard.test_serve import Visitor, until

from gluebench.leaderboard import commands
from gluebench.leaderboard.keeping import storage
from gluebench.leaderboard.keeping.folder import SiteError, SiteFolder, write_private
from gluebench.leaderboard.serving import checks, environment, health

GOOD_KEY = "Wm3vT8_qLz0RkYc5hXn7JdBf2GpAe9UsiVo4M1tKaErS"
SRC = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def site(tmp_path: Path) -> SiteFolder:
    made = SiteFolder(tmp_path / "site")
    made.create()
    return made


def no_change(site: SiteFolder) -> None:
    pass


def weak_key(site: SiteFolder) -> None:
    write_private(site.key_file, b"django-insecure-" + b"abcdefghijklmnop" * 4)


def short_key(site: SiteFolder) -> None:
    write_private(site.key_file, b"tolstoy")


def open_key(site: SiteFolder) -> None:
    site.key_file.chmod(0o644)


def open_labels(site: SiteFolder) -> None:
    site.labels.chmod(0o755)


def open_label_file(site: SiteFolder) -> None:
    (site.labels / "Refer.tsv").write_text("index\tlabel\n")
    (site.labels / "Refer.tsv").chmod(0o644)


def open_folder(site: SiteFolder) -> None:
    site.root.chmod(0o711)


def no_submissions(site: SiteFolder) -> None:
    site.submissions.rmdir()
    site.submissions.write_text("a file where a folder should be")


BAD: dict[str, tuple[Callable[[SiteFolder], None], dict[str, str], str]] = {
    "a key out of a manual": (weak_key, {}, "manual"),
    "a short key": (short_key, {}, "7 characters"),
    "a short key from the environment": (no_change, {"GLUEBENCH_SECRET_KEY": "tolstoy"}, "7 characters"),
    "a default key from the environment": (no_change, {"GLUEBENCH_SECRET_KEY": "changeme" * 8}, "manual"),
    "a key file that is not there": (
        no_change,
        {"GLUEBENCH_SECRET_KEY_FILE": "/nowhere/key"},
        "/nowhere/key",
    ),
    "a key for everybody": (open_key, {}, "chmod -R o="),
    "labels for everybody": (open_labels, {}, "chmod -R o="),
    "a label file for everybody": (open_label_file, {}, "Refer.tsv"),
    "a folder for everybody": (open_folder, {}, "mode 711"),
    "submissions that cannot be written": (no_submissions, {}, "is not a folder"),
    "debug": (no_change, {"GLUEBENCH_DEBUG": "true"}, "no debug mode"),
    "HTTPS without a name": (no_change, {"GLUEBENCH_HTTPS": "1"}, "GLUEBENCH_HOSTS is empty"),
    "HTTPS that is neither yes nor no": (no_change, {"GLUEBENCH_HTTPS": "true"}, "Write 1 for yes"),
    "every host": (no_change, {"GLUEBENCH_HOSTS": "*"}, "not a host name"),
    "a host with its scheme": (no_change, {"GLUEBENCH_HOSTS": "https://board.example.org"}, "names alone"),
    "a proxy that nobody believes": (no_change, {"GLUEBENCH_PROXY": "10.0.0.5"}, "GLUEBENCH_HTTPS is not 1"),
    "no worker": (no_change, {"GLUEBENCH_WORKERS": "0"}, "from 1 to 64"),
    "requests that are no number": (
        no_change,
        {"GLUEBENCH_API_PER_MINUTE": "abc"},
        "a number of requests from 1",
    ),
    "no request": (no_change, {"GLUEBENCH_API_PER_MINUTE": "0"}, "a number of requests from 1"),
    "fewer requests than none": (
        no_change,
        {"GLUEBENCH_API_PER_MINUTE": "-5"},
        "a number of requests from 1",
    ),
    "a path with a host": (no_change, {"GLUEBENCH_PATH": "example.org/board"}, "the path alone"),
    "no room for an upload": (no_change, {"GLUEBENCH_UPLOAD_MB": "0"}, "a number of MB from 1 to 1024"),
    "no memory to grade": (no_change, {"GLUEBENCH_GRADING_MB": "100"}, "a number of MB from 512"),
    "no time to grade": (no_change, {"GLUEBENCH_GRADING_SECONDS": "2m"}, "a number of seconds from 10"),
    "another kind of database": (no_change, {"GLUEBENCH_DATABASE": "mysql://a:hidden@b/c"}, "postgres://"),
    "storage nobody knows": (no_change, {"GLUEBENCH_STORAGE": "gs://bucket"}, "s3://bucket"),
    "storage that depends on where one stands": (no_change, {"GLUEBENCH_STORAGE": "files"}, "from the root"),
    "mail without a sender": (no_change, {"GLUEBENCH_SMTP": "smtp://mail.example.org"}, "?from="),
    "a mail password for all to read": (
        no_change,
        {"GLUEBENCH_SMTP": "smtp://ada:hidden@mail.example.org?from=a@example.org"},
        "unencrypted",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_site_that_would_leak_or_lose_is_not_served(
    case: str, site: SiteFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil, variables, said = BAD[case]
    monkeypatch.delenv("GLUEBENCH_DATABASE", raising=False)
    checks.require(checks.examine(site))
    spoil(site)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    for change in (True, False):
        with pytest.raises(SiteError) as refused:
            commands.serve(site.root, ("127.0.0.1", 0), change=change)
        assert said in str(refused.value)
        assert "hidden" not in str(refused.value)


def test_a_command_on_a_site_without_tables_is_told_what_to_run(site: SiteFolder) -> None:
    """The commands in turn in one process, as they take longer to start than to say so."""
    commands = (["organizer", "ada@example.org", "glue"], ["links"], ["admin", "ada@example.org"], ["doctor"])
    code = "import sys; from click.testing import CliRunner; from gluebench.cli import main"
    for words in commands:
        whole = ["leaderboard", *words, "--site", str(site.root)]
        code += f"\ndone = CliRunner().invoke(main, {whole})\nprint(done.exit_code, repr(done.output))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=clean_environment(), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == len(commands)
    for line in lines:
        assert line.startswith("1 ")
        assert "gluebench leaderboard init" in line
        assert "Traceback" not in line


def test_tables_that_cannot_be_made_are_told(site: SiteFolder) -> None:
    with sqlite3.connect(site.root / "site.sqlite3") as other:
        other.execute("CREATE TABLE accounts_team (id integer)")
    done = gluebench("init", site=site.root)
    assert done.returncode == 1
    assert 'table "accounts_team" already exists. Each step is done whole or not at all' in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_does_not_answer_is_told_without_its_password(site: SiteFolder) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"postgres://ada:hidden@127.0.0.1:{closed.getsockname()[1]}/board"
        done = gluebench("serve", site=site.root, GLUEBENCH_DATABASE=address)
    assert done.returncode == 1
    assert "board at 127.0.0.1 does not answer" in done.stderr
    assert "hidden" not in done.stderr
    assert "Traceback" not in done.stderr


def gluebench(*words: str, site: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "gluebench", "leaderboard", *words, "--site", str(site)],
        env={**clean_environment(), **variables},
        capture_output=True,
        text=True,
        timeout=60,
    )


def clean_environment() -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith("GLUEBENCH_")}
    return {**mine, "PYTHONPATH": SRC}


def test_debugging_is_found_wherever_it_was_put_on(db: None) -> None:
    with override_settings(DEBUG=True):
        assert [each.name for each in health.examine() if not each.ok] == ["debug"]
    assert all(each.ok for each in health.examine())


def test_all_that_is_wrong_is_said_at_once(site: SiteFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    open_key(site)
    open_labels(site)
    monkeypatch.setenv("GLUEBENCH_WEB", "many")
    with pytest.raises(SiteError) as refused:
        checks.require(checks.examine(site))
    assert [line.partition(":")[0] for line in str(refused.value).splitlines()] == [
        "settings",
        "labels",
        "key file",
    ]


def test_the_environment_is_read_into_values() -> None:
    running = environment.require(
        {
            "GLUEBENCH_HOSTS": "board.example.org, .example.com",
            "GLUEBENCH_HTTPS": "1",
            "GLUEBENCH_PROXY": "10.0.0.5",
            "GLUEBENCH_WEB": "3",
            "GLUEBENCH_WORKERS": "2",
            "GLUEBENCH_SECRET_KEY": GOOD_KEY,
            "GLUEBENCH_STORAGE": "s3://labels/board?endpoint=https://s3.example.org&region=eu-west-1",
            "GLUEBENCH_SMTP": "smtp+tls://ada:p%40ss@mail.example.org?from=board@example.org",
        }
    )
    assert running.hosts == ("board.example.org", ".example.com")
    assert (running.https, running.proxy, running.web, running.workers) == (True, "10.0.0.5", 3, 2)
    assert running.bucket == ("labels", "board", "https://s3.example.org", "eu-west-1")
    assert running.mail == ("smtp+tls", "mail.example.org", 587, "ada", "p@ss", "board@example.org")
    assert running.key == GOOD_KEY
    assert running.several


def test_an_empty_variable_is_as_one_that_is_not_set(tmp_path: Path) -> None:
    new_site(tmp_path / "site")
    done = gluebench("doctor", site=tmp_path / "site", GLUEBENCH_WEB="", GLUEBENCH_API_PER_MINUTE="")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_key_may_stand_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text(GOOD_KEY + "\n")
    (tmp_path / "key").chmod(0o600)
    assert environment.require({"GLUEBENCH_SECRET_KEY_FILE": str(tmp_path / "key")}).key == GOOD_KEY


def test_doctor_says_each_thing_and_how_to_mend_it(site: SiteFolder, tmp_path: Path) -> None:
    open_labels(site)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        server = f"smtp://127.0.0.1:{closed.getsockname()[1]}?from=board@example.org"
        done = gluebench("doctor", site=site.root, GLUEBENCH_SMTP=server)
    assert done.returncode == 1
    wrong = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("WRONG")]
    assert wrong == ["labels", "mail", "tables"]
    assert "gluebench leaderboard init" in done.stdout
    new_site(tmp_path / "by init")
    done = gluebench("doctor", site=tmp_path / "by init")
    assert done.returncode == 0, done.stdout
    assert "WRONG" not in done.stdout


class Machine:
    """A part of a site, as on a machine of its own."""

    def __init__(self, *words: str, site: Path, variables: Mapping[str, str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gluebench", "leaderboard", *words, "--site", str(site)],
            env={**clean_environment(), **variables},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=60)


@pytest.mark.slow
def test_pages_and_grading_on_machines_of_their_own(
    tmp_path: Path, postgres: str, gold_folder: Path, good_zip: bytes
) -> None:
    shared = tmp_path / "shared"
    variables = {
        "GLUEBENCH_DATABASE": postgres,
        "GLUEBENCH_STORAGE": str(shared),
        "GLUEBENCH_SECRET_KEY": GOOD_KEY,
        "GLUEBENCH_WEB": "2",
        "GLUEBENCH_WORKERS": "2",
    }
    one, other = tmp_path / "one", tmp_path / "other"
    SiteFolder(one, shared).create()
    early = gluebench("worker", site=one, **variables)
    assert "Run once, on one machine: gluebench leaderboard init" in early.stderr
    for folder in (one, other):
        assert gluebench("init", site=folder, **variables).returncode == 0
    manifest = str(Path(__file__).parents[1] / "tiny.toml")
    added = gluebench("add", manifest, "--gold", str(gold_folder), site=one, **variables)
    assert added.returncode == 0, added.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    web = Machine("web", "--port", str(port), site=one, variables=variables)
    worker = Machine("worker", site=other, variables=variables)
    try:
        assert str(port) in web.said
        assert "2 workers" in worker.said
        visitor = Visitor(f"http://127.0.0.1:{port}")
        visitor.post("/account/signup/", {"email": "far@example.org", "password1": "a long password"})
        form = {"name": "From afar", "model": "CBoW", "regime": "frozen", "public": "on", "action": "submit"}
        page = visitor.post("/benchmarks/tiny/submit", form, good_zip)
        until(lambda: json.loads(visitor.get(f"{page}/status.json"))["final"], 30)
        assert "From afar" in visitor.get("/")
        assert not (one / "submissions").exists()
        assert any(path.is_file() for path in (shared / "submissions").rglob("*"))
    finally:
        web.stop()
        worker.stop()


def test_who_asks_is_believed_from_the_proxy_alone() -> None:
    from waitress.proxy_headers import proxy_headers_middleware

    from gluebench.leaderboard.serving import web

    seen: list[Any] = []

    def application(environ: dict[str, Any], start: Any) -> list[bytes]:
        seen.append((environ["REMOTE_ADDR"], environ["wsgi.url_scheme"]))
        return [b""]

    running = environment.RunSettings(hosts=("board.example.org",), https=True, proxy="10.0.0.5")
    with override_settings(RUNNING=running, HTTPS=True):
        values = web.proxy()
    believing = proxy_headers_middleware(
        application,
        trusted_proxy=values["trusted_proxy"],
        trusted_proxy_headers=set(values["trusted_proxy_headers"].split()),
        clear_untrusted=values["clear_untrusted_proxy_headers"],
    )
    for peer in ("10.0.0.5", "192.0.2.9"):
        environ = {
            "REMOTE_ADDR": peer,
            "wsgi.url_scheme": "http",
            "HTTP_X_FORWARDED_FOR": "203.0.113.7",
            "HTTP_X_FORWARDED_PROTO": "https",
        }
        list(believing(environ, lambda *_: None))
    assert seen == [("203.0.113.7", "https"), ("192.0.2.9", "http")]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Any:
    """An S3 service in this process, used as GLUEBENCH_STORAGE would have it."""
    moto = pytest.importorskip("moto", reason="needs moto, which plays an S3 service")
    import boto3

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    running = environment.require({"GLUEBENCH_STORAGE": "s3://board/glue?region=us-east-1"})
    kept = {**settings.STORAGES, **storage.storages_of(running.bucket, settings.FOLDER)}
    with moto.mock_aws(), override_settings(RUNNING=running, STORAGES=kept):
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="board")
        yield client


def test_submissions_and_labels_may_be_in_a_bucket(
    bucket: Any, graded: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.leaderboard.apps.submissions.models import Submission
    from gluebench.leaderboard.apps.submissions.queries import Status

    # The field asked for its storage when the models were made, before this test said bucket.
    monkeypatch.setattr(Submission._meta.get_field("file"), "storage", storages["submissions"])
    assert all(each.ok for each in health.examine())
    first = graded()
    assert first.status == Status.GRADED
    names = [each["Key"] for each in bucket.list_objects_v2(Bucket="board")["Contents"]]
    assert f"glue/submissions/{first.file.name}" in names
    assert any(name.startswith(f"glue/labels/{first.benchmark.gold}/") for name in names)
    shutil.rmtree(settings.FOLDER.labels / first.benchmark.gold)  # another machine never had them
    again = graded(name="Graded elsewhere")
    assert (again.status, again.report["score"]) == (Status.GRADED, first.report["score"])
    assert list(settings.FOLDER.uploads.iterdir()) == []


def test_a_bucket_that_is_not_there_is_told(bucket: Any, db: None) -> None:
    bucket.delete_bucket(Bucket="board")
    wrong = {each.name: each.state for each in health.examine() if not each.ok}
    assert list(wrong) == ["submissions", "labels", "data"]
    assert "s3://board" in wrong["labels"]
