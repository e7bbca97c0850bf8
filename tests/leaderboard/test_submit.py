"""`gluebench submit` and its client, against a site that a process of its own serves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner, Result
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes
from leaderboard.served import Served

from gluebench.benchmark import load_benchmark
from gluebench.cli import main
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.submission import check
from gluebench.submission.client import Client, RefusedByLeaderboardError, SendError

TOKEN = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
Benchmark.objects.update(settings={"per_day": None, "at_once": None, "invalid_per_day": None})
user = User.objects.filter(email=sys.argv[2]).first() or User.objects.create_user(sys.argv[2])
print(issue(user, "a test", sys.argv[3].split(), timedelta(days=1))[1])
"""


@pytest.fixture(scope="module")
def token(served: Any) -> str:
    return made_token(served, "read submit")


def made_token(site: Any, scopes: str) -> str:
    return str(site.python(TOKEN, str(site.folder), "sender@example.org", scopes)).strip()


@pytest.fixture
def file(tmp_path: Path, good_zip: bytes) -> Path:
    path = tmp_path / "mine.zip"
    path.write_bytes(good_zip)
    return path


def submit(token: str, *arguments: Any) -> Result:
    return CliRunner().invoke(main, ["submit", *map(str, arguments)], env={"GLUEBENCH_TOKEN": token})


def test_the_benchmark_may_be_named_by_its_address(
    served: Any, token: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    address = f"{served.url}/benchmarks/tiny"
    done = submit(token, file, "--to", served.url, "--benchmark", address, "--check-only")
    assert done.exit_code == 0, done.output


def test_the_rules_are_read_and_accepted_in_a_terminal(served: Any, token: str, file: Path) -> None:
    def register(*words: str) -> Result:
        return CliRunner().invoke(
            main, ["register", "--to", served.url, *words], env={"GLUEBENCH_TOKEN": token}
        )

    switch = "from gluebench.leaderboard import commands; import sys; commands.open_site(sys.argv[1])\n"
    switch += "from gluebench.leaderboard.apps.benchmarks.models import Benchmark\n"
    switch += "for row in Benchmark.objects.all():\n"
    switch += "    row.settings |= {'terms': sys.argv[2] == 'on', 'ask_affiliation': sys.argv[2] == 'on'}\n"
    switch += "    row.save()\n"
    served.python(switch, str(served.folder), "on")
    refused = submit(token, file, "--to", served.url, "--name", "Too early")
    assert refused.exit_code == 1
    assert "gluebench register" in refused.output
    rules = register()
    assert rules.exit_code == 0, rules.output
    (last,) = [line for line in rules.output.splitlines() if line.startswith("To accept these rules, add:")]
    words = last.partition("add: ")[2].split()
    assert words[2:] == ["--affiliation", "TEXT"]
    assert register("--accept", "00000000", "--affiliation", "x").exit_code == 2
    assert "affiliation" in register(*words[:2]).output
    done = register(*words[:2], "--affiliation", "Example University")
    assert (done.exit_code, "and may submit" in done.output) == (0, True)
    assert "You may submit to tiny." in register().output
    served.python(switch, str(served.folder), "off")


def test_a_submission_is_sent_graded_and_printed(served: Any, token: str, file: Path) -> None:
    done = submit(token, file, "--to", served.url, "--name", "From a terminal", "--model", "CBoW", "--public")
    assert done.exit_code == 0, done.output
    assert "A tiny benchmark, test split" in done.stdout
    assert "macro-average" in done.stdout
    assert f"{served.url}/submissions/" in done.stderr
    rows = served.json("/api/v1/benchmarks/tiny/board")["rows"]
    assert "From a terminal" in [row["name"] for row in rows]


@pytest.mark.parametrize(("late", "reproduces", "status"), [(True, None, 1), (False, "0123456789ab", 0)])
def test_a_file_that_was_kept_and_not_graded_is_no_success(
    late: bool, reproduces: str | None, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A late file said "Kept, not graded." and ended with 0; a reproduction is only compared."""
    from gluebench.cli.submission.submit import _show

    entry = {"status": "kept", "late": late, "phase": "Dev", "reproduces": reproduces, "report": None}
    with pytest.raises(click.exceptions.Exit) if status else nullcontext() as ending:
        _show(entry, load_benchmark(MANIFEST), client=Client("http://x", "t"), source="a.zip", form=None)
    assert status == (ending.value.exit_code if ending else 0)
    assert ("it is late, and does not count" in capsys.readouterr().err) is late


def test_the_check_that_explains_warnings_names_the_benchmark(
    served: Any, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "part.zip"
    path.write_bytes(zip_bytes(dict(list(PREDICTIONS.items())[:1])))
    done = submit(token, path, "--to", served.url, "--name", "A part", "--no-wait")
    assert done.exit_code == 0, done.output
    (line,) = [line for line in done.stderr.splitlines() if "More: " in line]
    words = line.partition("More: gluebench ")[2].split()
    assert words[:2] == ["check", str(path)]
    again = CliRunner().invoke(main, words, prog_name="gluebench")
    assert again.exit_code == 0, again.output


def test_a_row_of_others_is_reproduced(served: Any, token: str, file: Path) -> None:
    public = (file, "--to", served.url, "--name", "Theirs", "--model", "CBoW", "--public")
    row = json.loads(submit(token, *public, "--no-wait", "--json").stdout)
    Client(served.url, token).wait(row["key"])
    second = str(served.python(TOKEN, str(served.folder), "second@example.org", "read submit")).strip()
    again = (file, "--to", served.url, "--reproduces", row["key"])
    assert "team" in submit(second, *again).output
    assert "cannot reproduce" in submit(token, *again, "--team", "Mine", "--name", "Again").output
    done = submit(second, *again, "--team", "The second lab", "--no-wait", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["reproduces"] == row["key"]
    plain = submit(second, file, "--to", served.url, "--no-wait", "--json")
    assert json.loads(plain.stdout)["reproduces"] is None, "the same file, as a submission of its own"


def test_the_report_is_that_of_grade_rounded(served: Any, token: str, file: Path, gold_folder: Path) -> None:
    benchmark = load_benchmark(MANIFEST)
    exact = grade(check(file, benchmark), read_gold(gold_folder, benchmark))
    expected = rounded_report(exact, benchmark).as_dict()
    there = submit(token, file, "--to", served.url, "--name", "Compared")
    assert f"{100 * expected['score']['value']:.1f}" in there.stdout
    again = submit(token, file, "--to", served.url, "--name", "Compared", "--json")
    assert "was sent before" in again.stderr
    assert json.loads(again.stdout)["tasks"] == expected["tasks"]


def test_the_same_command_twice_makes_one_submission(served: Any, token: str, file: Path) -> None:
    client = Client(served.url, token)
    found = [
        submit(token, file, "--to", served.url, "--name", "Twice", "--no-wait", *more).stdout
        for more in ([], [], ["--new"])
    ]
    assert found[0] == found[1] != found[2]
    keys = [page.strip().rpartition("/")[2] for page in (found[0], found[2])]
    assert [client.wait(key)["status"] for key in keys] == ["graded", "graded"]


def test_details_that_a_second_run_does_not_change_are_named(served: Any, token: str, file: Path) -> None:
    same = ["--to", served.url, "--name", "Said again", "--no-wait", "--team", " Us ", "--parameters", 5]
    first = submit(token, file, *same)
    repeated = submit(token, file, *same)
    assert "was sent before" in repeated.stderr
    assert "warning" not in repeated.stderr
    more = ["--public", "--team", "Them", "--shared-parameters", 5]
    changed = submit(token, file, *same, *more)
    (said,) = [line for line in changed.stderr.splitlines() if "changed nothing" in line]
    assert said.startswith("warning: --team, --public, --shared-parameters changed nothing")
    assert said.endswith(first.stdout.strip())


def test_an_invalid_file_is_explained_and_not_sent(served: Any, token: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.zip"
    broken.write_bytes(zip_bytes({**PREDICTIONS, "Refer": "01x0"}))
    done = submit(token, broken, "--to", served.url, "--name", "Broken")
    assert done.exit_code == 1
    assert "Refer.tsv:4" in done.stderr
    assert "Nothing was sent." in done.stderr
    checked = submit(token, broken, "--to", served.url, "--check-only")
    assert (checked.exit_code, "Refer.tsv:4" in checked.stdout) == (1, True)


def test_the_free_check_from_a_terminal(served: Any, token: str, file: Path) -> None:
    done = submit(token, file, "--to", served.url, "--check-only", "--json")
    assert (done.exit_code, json.loads(done.stdout)["verdict"]) == (0, "valid")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--to", "board.example.org"], 2, "is not the address of a leaderboard"),
        (["--to", "http://[::1"], 2, "is not the address of a leaderboard"),
        (["--to", "http://localhost:abc"], 2, "is not the address of a leaderboard"),
        (["--to", "http://exa mple.org"], 2, "is not the address of a leaderboard"),
        (["--to", f"http://{64 * 'a'}.org"], 2, "is not the address of a leaderboard"),
        (["--to", "URL/b\u00f6ard"], 2, "is not the address of a leaderboard"),
        (["--to", "https://me:secret@example.org"], 2, "Leave the name and password out"),
        (["--to", "URL", "--benchmark", "other"], 2, "has no benchmark 'other'. It has: tiny"),
        (["--to", "URL", "--link", "javascript:alert(1)"], 1, "link: "),
        (["--to", "URL", "--latency-ms", "0"], 2, "0.0 is not in the range x>=0.001"),
        (["--to", "URL/nowhere"], 1, "not as a leaderboard of gluebench does"),
        ([], 2, "Missing option '--to'"),
    ],
)
def test_a_mistake_is_one_message(
    served: Any, token: str, file: Path, arguments: list[str], code: int, told: str
) -> None:
    done = submit(token, file, *(each.replace("URL", served.url) for each in arguments))
    assert (done.exit_code, told in done.stderr) == (code, True), done.output
    assert "Trying again" not in done.output
    assert "Traceback" not in done.output


def test_a_description_that_is_no_text_is_told_with_its_file(served: Any, token: str, file: Path) -> None:
    told = file.with_name("told.md")
    told.write_bytes("Größe".encode("latin-1"))
    done = submit(token, file, "--to", served.url, "--description", f"@{told}")
    assert (done.exit_code, f"{told} is not UTF-8 text (byte 2)" in done.stderr) == (2, True), done.output


def test_a_folder_is_told_how_to_become_a_zip(served: Any, token: str, tmp_path: Path) -> None:
    done = submit(token, tmp_path, "--to", served.url)
    assert (done.exit_code, "--fix submission.zip" in done.stderr) == (2, True), done.output


def test_a_token_that_is_wrong_or_absent_is_said_so(served: Any, file: Path) -> None:
    assert "unknown" in submit("gluebench_wrong", file, "--to", served.url).stderr
    absent = submit("", file, "--to", served.url)
    assert (absent.exit_code, "/account/tokens" in absent.stderr) == (2, True)


@pytest.mark.parametrize(("scopes", "lacking"), [("submit", "read"), ("read", "submit")])
def test_a_token_that_lacks_a_scope_costs_nothing(
    served: Any, token: str, file: Path, scopes: str, lacking: str
) -> None:
    client, poor = Client(served.url, token), made_token(served, scopes)
    before = client._get("/submissions")["count"]
    done = submit(poor, file, "--to", served.url, "--name", f"Without {lacking}")
    assert (done.exit_code, f"lacks the scope '{lacking}'" in done.stderr) == (1, True), done.output
    assert f"{served.url}/account/tokens" in done.stderr
    assert client._get("/submissions")["count"] == before


def test_who_does_not_wait_needs_no_scope_to_read(served: Any, file: Path) -> None:
    poor = made_token(served, "submit")
    done = submit(poor, file, "--to", served.url, "--name", "Not waited for", "--no-wait")
    assert (done.exit_code, f"{served.url}/submissions/" in done.stdout) == (0, True), done.output


@pytest.mark.parametrize("between", ["\n", "\u2026"], ids=["line-end", "ellipsis"])
def test_a_token_that_no_header_can_carry_is_not_shown(served: Any, file: Path, between: str) -> None:
    done = submit(f"gluebench_begins{between}ends", file, "--to", served.url)
    assert done.exit_code == 2, done.exception
    assert "characters that no token has" in done.stderr
    assert "begins" not in done.output
    assert "ends" not in done.output


def test_without_somewhere_to_send_it_details_are_refused(tmp_path: Path) -> None:
    out = str(tmp_path / "out.zip")
    done = CliRunner().invoke(main, ["run", "system:majority", "--out", out, "--team", "Us"])
    assert (done.exit_code, "add --to URL" in done.stderr) == (2, True)


class Proxy(NamedTuple):
    """A way to the site that breaks."""

    url: str
    seen: list[int]
    """Bytes that each connection brought."""


@pytest.fixture
def broken_way(served: Any) -> Iterator[Any]:  # noqa: C901
    """Makes a proxy that breaks the next uploads off: before, in or after the body; then lets all through."""
    listening = socket.create_server(("127.0.0.1", 0))
    breaks: list[str] = []
    seen: list[int] = []

    def pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def serve(client: socket.socket) -> None:
        head = client.recv(65536)
        breaking = breaks.pop(0) if breaks and head.startswith(b"POST") else ""
        seen.append(len(head))
        with client, socket.create_connection(("127.0.0.1", served.port)) as site:
            if breaking == "before":
                return
            if breaking == "body":
                site.sendall(head[:200])
                return
            site.sendall(head)
            upward = threading.Thread(target=pump, args=(client, site), daemon=True)
            upward.start()
            if breaking == "answer":
                site.recv(1)  # it was taken; its sender never hears of it
                return
            pump(site, client)

    def accept() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()

    def made(*which: str) -> Proxy:
        breaks.extend(which)
        return Proxy(f"http://127.0.0.1:{listening.getsockname()[1]}", seen)

    yield made
    listening.close()


@pytest.mark.parametrize(
    "where",
    [
        ("before",),
        ("body",),
        pytest.param(("answer",), marks=pytest.mark.slow),  # its client waits a minute for the answer
        pytest.param(("before", "answer", "body"), marks=pytest.mark.slow),
    ],
)
def test_a_broken_upload_is_sent_again_and_is_one_submission(
    served: Any, token: str, file: Path, broken_way: Any, where: tuple[str, ...]
) -> None:
    said: list[str] = []
    client = Client(broken_way(*where).url, token, say=said.append)
    before = client._get("/submissions")["count"]
    found = client.submit("tiny", file, {"name": f"Broken {where}", "model": "CBoW"})
    assert len(said) == len(where)
    assert all("Trying again" in line for line in said)
    assert client._get("/submissions")["count"] == before + 1
    assert client.wait(found["key"])["status"] == "graded"


def test_uploads_of_one_key_at_the_same_time_are_one_submission(served: Any, token: str, file: Path) -> None:
    start, keys = threading.Barrier(8), []

    def one() -> None:
        client = Client(served.url, token)
        start.wait()
        keys.append(
            client.submit("tiny", file, {"name": "At once", "model": "CBoW"}, retry_key="at-once")["key"]
        )

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1


def test_who_cannot_be_reached_is_told_after_a_few_tries(file: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    said: list[str] = []
    with pytest.raises(SendError, match=r"could not be reached.*Tried 2 times"):
        Client(f"http://127.0.0.1:{port}", "token", tries=2, say=said.append).submit("tiny", file, {})
    assert len(said) == 1


def test_a_token_goes_to_no_other_address(served: Any, token: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as away:

        def redirect() -> None:
            client, _ = away.accept()
            client.recv(65536)
            client.sendall(
                f"HTTP/1.1 302 Found\r\nLocation: {served.url}/\r\nContent-Length: 0\r\n\r\n".encode()
            )
            client.close()

        threading.Thread(target=redirect, daemon=True).start()
        with pytest.raises(SendError, match="has moved"):
            Client(f"http://127.0.0.1:{away.getsockname()[1]}", token, tries=1).about()


def test_a_refusal_carries_what_the_leaderboard_said(served: Any, token: str, file: Path) -> None:
    with pytest.raises(RefusedByLeaderboardError) as refused:
        Client(served.url, token).submit("tiny", file, {"name": "", "model": "CBoW"})
    assert refused.value.status == 422
    assert refused.value.problem["errors"][0]["field"] == "name"


def test_a_large_file_goes_in_pieces(served: Any, token: str, tmp_path: Path) -> None:
    large = tmp_path / "large.zip"
    large.write_bytes(b"x" * (served.json("/api/v1/")["upload_bytes"] + 1))
    with pytest.raises(SendError, match="larger than the 16 MB"):
        Client(served.url, token).check("tiny", large)
    large.write_bytes(b"x" * (8 * 1024 * 1024))
    told: list[int] = []
    found = Client(served.url, token).check("tiny", large, progress=lambda sent, size: told.append(sent))
    assert found["verdict"] == "invalid"
    assert told == [*range(65536, 8 * 1024 * 1024 + 1, 65536)]


def test_head_has_no_body_on_the_wire(served: Any) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(
            b"HEAD /api/v1/benchmarks HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        )
        answer = b""
        while data := connection.recv(65536):
            answer += data
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n")


@pytest.mark.slow
@pytest.mark.parametrize("real", [False, True], ids=["any-address", "what-is-there"])
def test_every_operation_keeps_to_its_document(
    tmp_path: Path, gold_folder: Path, file: Path, *, real: bool
) -> None:
    """Fuzzed twice: with addresses made up, where most is not there, and with those of a submission."""
    unlimited = {"GLUEBENCH_API_PER_MINUTE": "1000000"}
    site = Served(tmp_path / "site", gold_folder, unlimited)
    try:
        token = made_token(site, "read submit")
        done = submit(token, file, "--to", site.url, "--name", "Fuzzed", "--model", "CBoW", "--public")
        assert done.exit_code == 0, done.output
        (entry,) = site.json("/api/v1/benchmarks/tiny/board")["rows"]
        there = {"name": "tiny", "key": entry["key"], "task": "DX", "phenomenon": "negation"}
        config = tmp_path / "schemathesis.toml"
        lines = [f'"path.{name}" = "{value}"' for name, value in there.items() if real]
        config.write_text("\n".join(["[parameters]", *lines]))
        command = [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"),
            *(f"{site.url}/api/v1/openapi.json", "--header", f"Authorization: Bearer {token}"),
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance"),
            # Several files in one field: schemathesis 4.32 stops at a value of its own ("Unsupported type:
            # 'Binary'"). `test_api_organizing.py` sends them.
            *("--exclude-path-regex", "/organize/new"),
            *("--seed", "1", "--max-examples", "40", "--suppress-health-check", "all"),
        ]
        fuzzed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert fuzzed.returncode == 0, fuzzed.stdout[-6000:]
    finally:
        site.stop()
