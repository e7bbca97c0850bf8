"""A benchmark that is named by its address on a site: its manifest, cached, and its data."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from leaderboard.material import MANIFEST, PREDICTIONS, zip_bytes

from gluebench.cli import main
from gluebench.data.errors import DataError
from gluebench.data.sources.fetch import DownloadProgress, Fetcher
from gluebench.data.sources.plan import fetch_missing, read_listed_files
from gluebench.submission import client as module
from gluebench.submission.client import Client, SendError, address_of, cache_folder, remote, write_manifest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def url(served: Any) -> str:
    return f"{served.url}/benchmarks/tiny"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_a_submission_is_checked_by_the_address_of_its_benchmark(url: str, tmp_path: Path) -> None:
    (tmp_path / "mine.zip").write_bytes(zip_bytes(PREDICTIONS))
    for address in (url, f"{url}/", f"{url}/data"):
        done = run("check", tmp_path / "mine.zip", "--benchmark", address)
        assert done.exit_code == 0, done.output
        assert "VALID" in done.output
    (kept,) = cache_folder().glob("*/manifest.toml")
    assert kept.read_bytes() == MANIFEST.read_bytes()


def test_what_has_not_changed_is_not_sent_again(url: str) -> None:
    first = remote(url)
    (kept,) = cache_folder().glob("*/answer.json")
    etag = json.loads(kept.read_text())["etag"]
    assert Client(first.address.site).facts("tiny", etag).status == 304
    assert remote(url) == first


OWN = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.accounts.models import User, issue
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
Benchmark.objects.update(restricted=sys.argv[2] == "on")
user, _ = User.objects.get_or_create(email="member@example.org")
tiny = Benchmark.objects.get(name="tiny")
tiny.registrations.get_or_create(user=user, defaults={"standing": "accepted"})
print(issue(user, "a test", ["read"], timedelta(days=1))[1])
"""


def test_a_benchmark_for_participants_needs_the_token_of_one(served: Any, url: str) -> None:
    token = str(served.python(OWN, str(served.folder), "on")).strip()
    try:
        with pytest.raises(SendError, match="has no benchmark 'tiny'"):
            remote(url)
        assert remote(url, token=token).facts["name"] == "tiny"
    finally:
        served.python(OWN, str(served.folder), "off")
    assert remote(url).facts["name"] == "tiny"


USED = """
import sys; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from gluebench.leaderboard.apps.accounts.models import Token
print(Token.objects.exclude(used=None).filter(user__email="member@example.org").count())
"""


def test_commands_send_the_token_where_not_everybody_sees_the_benchmark(
    served: Any, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.zip").write_bytes(zip_bytes(PREDICTIONS))
    commands = (["check", tmp_path / "mine.zip", "--benchmark", url], ["data", "get", url, "--to", tmp_path])
    token = str(served.python(OWN, str(served.folder), "off")).strip()
    used = served.python(USED, str(served.folder))
    monkeypatch.setenv("GLUEBENCH_TOKEN", token)
    assert [run(*words).exit_code for words in commands] == [0, 0]
    assert served.python(USED, str(served.folder)) == used, "everybody sees it: the token stays here"
    served.python(OWN, str(served.folder), "on")
    shutil.rmtree(tmp_path / "tiny")
    try:
        for words in commands:
            done = run(*words)
            assert done.exit_code == 0, done.output
        assert (tmp_path / "tiny" / "Sim" / "test.tsv").is_file()
        shutil.rmtree(tmp_path / "tiny")
        for secret, reason in (("", "set GLUEBENCH_TOKEN to your token"), ("gluebench_no", "is unknown")):
            monkeypatch.setenv("GLUEBENCH_TOKEN", secret)
            for words in commands:
                done = run(*words)
                assert (done.exit_code, reason in done.stderr) == (1, True), done.output
        assert not (tmp_path / "tiny").exists()
    finally:
        served.python(OWN, str(served.folder), "off")


PHASE = """
import sys; from datetime import timedelta; from gluebench.leaderboard import commands
commands.open_site(sys.argv[1])
from django.utils import timezone
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits.phase_acts import delete_phase, save_phase
from gluebench.leaderboard.apps.phases.models import Phase
tiny = Benchmark.objects.get(name="tiny")
if sys.argv[2] == "on":
    opens = timezone.now() - timedelta(hours=1)
    row = Phase(benchmark=tiny, name="Development", opens=opens, tasks=["Refer"], shown="date")
    row.shown_from = timezone.now() + timedelta(days=1)
    save_phase(row)
    print(row.pk)
else:
    delete_phase(tiny.phases.get(), None, "It was a test.")
"""


def test_a_file_is_checked_with_the_tasks_of_the_phase_that_it_is_for(
    served: Any, url: str, tmp_path: Path
) -> None:
    file = tmp_path / "mine.zip"
    file.write_bytes(zip_bytes({"Refer": PREDICTIONS["Refer"]}))
    number = int(served.python(PHASE, str(served.folder), "on"))
    try:
        done = run("check", file, "--benchmark", f"{url}?phase={number}")
        assert done.exit_code == 0, done.output
        assert "VALID" in done.output
        client = Client(address_of(url).site)
        assert [task.name for task in client.benchmark("tiny").tasks] == ["Refer"]
        assert len(remote(url).facts["tasks"]) == 5  # the address of the benchmark has them all
        for query, problem in (("99", "tiny has no phase 99"), ("first", "the phase 'first' is not a")):
            with pytest.raises(SendError, match=problem):
                remote(f"{url}?phase={query}")
    finally:
        served.python(PHASE, str(served.folder), "off")
    assert len(Client(address_of(url).site).benchmark("tiny").tasks) == 5


def test_the_cached_manifest_serves_offline_and_says_so(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = remote(url)
    monkeypatch.setattr(module, "Client", lambda site, *_, **__: Client("http://127.0.0.1:9", tries=1))
    (tmp_path / "mine.zip").write_bytes(zip_bytes(PREDICTIONS))
    done = run("check", tmp_path / "mine.zip", "--benchmark", url)
    assert done.exit_code == 0, done.output
    assert "could not be reached" in done.stderr
    assert f"Using {url} as it was on 20" in done.stderr
    assert remote(url) == first


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("{site}/benchmarks/nowhere", "This site has no benchmark 'nowhere'."),
        ("{site}/boards/tiny", "is not the address of a benchmark"),
        ("ftp://board.example.org/benchmarks/tiny", "is not the address of a benchmark"),
        ("http://[::1/benchmarks/tiny", "is not the address of a benchmark"),
        ("file:///benchmarks/tiny", "is not the address of a"),
        ("http://127.0.0.1:9/benchmarks/tiny", "could not be reached"),
    ],
)
def test_what_gives_no_manifest_is_said_in_one_line(
    served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, said: str
) -> None:
    monkeypatch.setattr(module, "TRIES", 1)
    (tmp_path / "mine.zip").write_bytes(zip_bytes(PREDICTIONS))
    done = run("check", tmp_path / "mine.zip", "--benchmark", address.format(site=served.url))
    assert done.exit_code == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_address_below_a_path_is_that_of_its_site() -> None:
    found = address_of("https://board.example.org/glue/benchmarks/hotels?x=1#y")
    assert found == ("https://board.example.org/glue", "hotels", 0)


@pytest.mark.parametrize("parent", ["/etc/passwd", "../other.toml", "./parent-2.toml"])
def test_a_manifest_from_elsewhere_reads_no_file_of_this_machine(tmp_path: Path, parent: str) -> None:
    facts = {"manifest": f'[benchmark]\nextends = "{parent}"\n', "parents": ['[benchmark]\nname = "a"\n']}
    with pytest.raises(SendError, match="which is not the leaderboard's"):
        write_manifest(facts, tmp_path, url="https://board.example.org")
    with pytest.raises(SendError, match="does not give the manifest"):
        write_manifest({"parents": []}, tmp_path, url="https://board.example.org")


def test_all_data_are_fetched_once_and_verified(url: str, tmp_path: Path) -> None:
    done = run("data", "get", url, "--to", tmp_path / "data", "--json")
    assert done.exit_code == 0, done.output
    files = json.loads(done.stdout)["files"]
    home = tmp_path / "data" / "tiny"
    assert {each["file"] for each in files} > {"manifest.toml", "Sim/test.tsv", "sample-submission.zip"}
    for each in files:
        assert hashlib.sha256((home / each["file"]).read_bytes()).hexdigest() == each["sha256"]
        assert not each["already_there"]
    assert zipfile.is_zipfile(home / "sample-submission.zip")
    shown = run("data", "show", "Sim", "--split", "dev", "--data", tmp_path / "data", "--benchmark", url)
    assert "dev Sim text 0 one" in shown.output, shown.output

    (home / "Sim" / "dev.tsv").write_text("another file")
    again = json.loads(run("data", "get", url, "--to", tmp_path / "data", "--json").stdout)["files"]
    assert [each["file"] for each in again if not each["already_there"]] == ["Sim/dev.tsv"]
    assert "dev Sim text 0 one" in (home / "Sim" / "dev.tsv").read_text()


class Counted(DownloadProgress):
    """Notes how many bytes were there, and how many came."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers: list[int] = []

    def advance(self, number: int) -> None:
        self.numbers.append(number)


def test_a_file_that_was_cut_is_gone_on_with(url: str, tmp_path: Path) -> None:
    found = remote(url)
    files = [each for each in found.facts["data"] if each["path"] == "Sim/test.tsv"]
    (wanted,) = read_listed_files(found.address.page, files, tmp_path)
    fetch_missing([wanted], Fetcher(), DownloadProgress())
    content = wanted.path.read_bytes()
    wanted.path.unlink()
    wanted.path.with_name("test.tsv.part").write_bytes(content[:20])
    meter = Counted()
    fetch_missing([wanted], Fetcher(meter), meter)
    assert wanted.path.read_bytes() == content
    assert meter.numbers == [20, len(content) - 20]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"path": "../outside.tsv"}, "expected NAME or TASK/NAME"),
        ({"path": "/etc/passwd"}, "expected NAME or TASK/NAME"),
        ({"path": "a/../../b"}, "expected NAME or TASK/NAME"),
        ({"path": ".ssh/config"}, "expected NAME or TASK/NAME"),
        ({"path": "C:\\windows"}, "expected NAME or TASK/NAME"),
        ({"path": 5}, "expected NAME or TASK/NAME"),
        ({"size": -1}, "expected a number of bytes"),
        ({"size": 10**12}, "expected at most"),
        ({"sha256": "0"}, "expected 64 hexadecimal digits"),
    ],
)
def test_a_list_of_files_from_elsewhere_is_not_trusted(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    good = {"path": "Sim/test.tsv", "size": 3, "sha256": "0" * 64}
    (wanted,) = read_listed_files("https://board.example.org/benchmarks/tiny", [good], tmp_path)
    assert wanted.path == tmp_path / "Sim" / "test.tsv"
    assert wanted.address == "https://board.example.org/benchmarks/tiny/data/Sim/test.tsv"
    with pytest.raises(DataError, match=said):
        read_listed_files("https://board.example.org/benchmarks/tiny", [{**good, **change}], tmp_path)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    file = {"path": "Sim/test.tsv", "size": 3, "sha256": "0" * 64}
    with pytest.raises(DataError, match="two files of one name"):
        read_listed_files("https://board.example.org", [file, {**file, "path": "SIM/test.tsv"}], tmp_path)
