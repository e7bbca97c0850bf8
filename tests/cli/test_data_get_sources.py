"""Where `gluebench data get` goes: mirrors, proxies, archives of original corpora, the package itself."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from local_server import LocalServer, cut
from mine import SIZES, Mine, archive, hub_path, labels, texts, zipped
from real import REAL, needs_real

from gluebench import load
from gluebench.benchmark import Task, load_benchmark
from gluebench.cli import main
from gluebench.data import recipes
from gluebench.data.dataset import read_dataset
from gluebench.data.recipes import Recipe, RecipeResult

NOWHERE = "http://nowhere.invalid"


def get(*words: object, env: dict[str, str] | None = None) -> Result:
    return CliRunner(env=env).invoke(main, ["data", "get", *map(str, words)], prog_name="gluebench")


def elsewhere(mine: Mine, host: str = NOWHERE) -> None:
    """Let the release name a host that is not there."""
    mine.release.write_text(mine.release.read_text().replace(mine.server.address, host))


def below(server: LocalServer, prefix: str) -> None:
    server.files = {f"{prefix}{path}": content for path, content in server.files.items()}


@pytest.mark.parametrize("source", ["hub", "archives"])
@pytest.mark.parametrize("prefix", ["", "/copies/of/it"])
@pytest.mark.parametrize("by", ["option", "variable"])
def test_a_mirror_stands_for_every_host(
    mine: Mine, server: LocalServer, source: str, prefix: str, by: str
) -> None:
    elsewhere(mine)
    below(server, prefix)
    mirror = f"{server.address}{prefix}/"
    option = ["--mirror", mirror] if by == "option" else []
    done = mine.get("--source", source, *option, env={"GLUEBENCH_MIRROR": mirror} if not option else None)
    assert done.exit_code == 0, done.stderr
    origin = read_dataset(mine.home / "Mood").origin
    # The hub's files are proved by their checksum; of an archive it matters where it was had.
    expected = f"{NOWHERE}/datasets/me/mine" if source == "hub" else f"{mirror}archives/Mood.zip"
    assert origin.location == expected


@pytest.mark.parametrize("mirror", ["files.lab", "ftp://files.lab", "http://me:secret@files.lab"])
def test_a_mirror_is_an_address_without_secrets(mine: Mine, server: LocalServer, mirror: str) -> None:
    done = mine.get("--mirror", mirror)
    assert done.exit_code == 1
    assert "mirror: " in done.stderr
    assert "secret" not in done.stderr
    assert not server.requests


def test_the_hubs_own_variable_is_heeded_for_the_public_hub_alone(mine: Mine, server: LocalServer) -> None:
    env = {"HF_ENDPOINT": server.address}
    elsewhere(mine, "https://huggingface.co")
    assert mine.get(env=env).exit_code == 0
    elsewhere_again = mine.release.read_text().replace("https://huggingface.co", NOWHERE)
    mine.release.write_text(elsewhere_again)
    server.requests.clear()
    assert mine.get("--again", "--retries", 0, env=env).exit_code == 1
    assert not server.requests


def test_a_proxy_of_the_environment_is_used(mine: Mine, server: LocalServer) -> None:
    elsewhere(mine)
    below(server, NOWHERE)  # a proxy is asked for whole addresses
    done = mine.get(env={"http_proxy": server.address, "no_proxy": ""})
    assert done.exit_code == 0, done.stderr
    assert server.requests[0].path == NOWHERE + hub_path("Mood", "train")


def test_a_proxy_that_is_not_there_is_told(mine: Mine) -> None:
    elsewhere(mine)
    done = mine.get(env={"http_proxy": "http://127.0.0.1:9", "no_proxy": ""})
    assert done.exit_code == 1
    assert "not reached through the proxy" in done.stderr
    assert "HTTPS_PROXY" in done.stderr


def test_what_may_only_be_fetched_by_hand_is_told_after_the_rest(mine: Mine, server: LocalServer) -> None:
    text = mine.release.read_text()
    by_hand = 'manual = "accept the license at the maker\'s, then: put mood.txt into FOLDER"\n'
    mine.release.write_text(text.replace("[tasks.Mood]\n", f"[tasks.Mood]\n{by_hand}"))
    done = mine.get("--source", "archives")
    assert done.exit_code == 1
    assert "Tone  train 1,000" in done.stdout
    last = done.stderr.splitlines()[-1]
    assert last.startswith("Mood: accept the license at the maker's, then: put mood.txt into FOLDER")
    assert "the hub has a copy: --task Mood --source hub" in last
    assert not server.asked("/archives/Mood.zip")
    hub = mine.get("--source", "hub", "--task", "Mood")
    assert hub.exit_code == 0
    assert "The license of Mood." in hub.stderr


def test_a_task_that_the_hub_has_not_comes_from_its_archive(mine: Mine, server: LocalServer) -> None:
    lines = mine.release.read_text().splitlines()
    kept = [line for line in lines if not (line.startswith("hub = ") and "mood/dev" in line)]
    mine.release.write_text("\n".join(kept))
    done = mine.get()
    assert done.exit_code == 0, done.stderr
    assert read_dataset(mine.home / "Mood").origin.kind == "archive"
    assert read_dataset(mine.home / "Tone").origin.kind == "hub"
    asked = mine.get("--source", "hub", "--task", "Mood")
    assert asked.exit_code == 1
    assert "Mood: the hub has no dev of it; try --source archives" in asked.stderr


def test_a_benchmark_without_a_release_says_how_to_go_on(mine: Mine) -> None:
    mine.release.unlink()
    done = mine.get()
    assert done.exit_code == 1
    assert "Mood, Tone: no address is known" in done.stderr
    assert "--from FOLDER" in done.stderr


def test_an_original_corpus_is_built_by_the_tasks_recipe(
    mine: Mine, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_lines(corpus: Path, task: Task, options: dict[str, Any]) -> RecipeResult:
        splits = {}
        for split in SIZES:
            lines = (corpus / "docs" / f"{split}.txt").read_text().splitlines()
            splits[split] = {"text": lines} | ({"label": words} if (words := labels(split)) else {})
        return RecipeResult(splits, options, (corpus / "docs" / "train.txt",))

    recipe = Recipe("lines", "docs/train.txt and so on", from_lines)
    monkeypatch.setattr(recipes, "recipe", lambda name: {"lines": recipe}[name])
    mine.manifest.write_text(
        mine.manifest.read_text().replace("[tasks.Mood]", '[tasks.Mood]\nrecipe = "lines"')
    )
    mine.release.write_text(mine.release.read_text().replace("[tasks.Mood]", "[tasks.Mood]\noriginal = true"))
    members = {f"corpus_1.0/docs/{split}.txt": "\n".join(texts("Mood", split)).encode() for split in SIZES}
    server.files["/archives/Mood.zip"] = zipped(members | {"__MACOSX/._docs": b"."})
    done = mine.get("--source", "archives", "--task", "Mood")
    assert done.exit_code == 0, done.stderr
    assert "as published" in done.stdout
    assert [each.inputs["text"] for each in load("Mood", "dev", mine.to, benchmark=mine.manifest)] == texts(
        "Mood", "dev"
    )
    origin = read_dataset(mine.home / "Mood").origin
    assert (origin.kind, origin.recipe) == ("archive", "lines")
    assert "already there" in mine.get("--source", "archives", "--task", "Mood").stderr


def test_glue_is_asked_for_at_its_addresses_without_its_auxiliary_data(
    server: LocalServer, tmp_path: Path
) -> None:
    options = ("--to", tmp_path, "--mirror", server.address, "--retries", 0)
    assert get("glue", "--source", "archives", *options).exit_code == 1
    asked = [each.path for each in server.requests]
    assert "/glue/data/CoLA.zip" in asked
    assert len(asked) == 9  # MRPC is to be fetched by hand, SNLI is not a task
    get("--task", "snli", *options)
    assert server.requests[-1].path == "/projects/snli/snli_1.0.zip"
    get("--task", "cola", *options)
    assert server.requests[-1].path.startswith(
        "/datasets/nyu-mll/glue/resolve/bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c/cola/train"
    )


def test_the_sample_comes_out_of_the_package(tmp_path: Path, sample_folder: Path) -> None:
    for _ in range(2):  # a second time over the first
        done = get("sample", "--to", tmp_path)
        assert done.exit_code == 0, done.stderr
        (tmp_path / "sample" / "gold" / ".label-key").write_bytes(b"k" * 32)  # as grading does
    assert (tmp_path / "sample" / "gold" / ".label-key").read_bytes() == b"k" * 32
    (tmp_path / "sample" / "gold" / ".label-key").unlink()
    table = load("RTE", "train", tmp_path, benchmark="sample")
    assert len(table) == load_benchmark("sample").task("RTE").splits["train"].size
    for gold in ("gold", "gold-dev"):
        made = {path.name: path.read_bytes() for path in (tmp_path / "sample" / gold).iterdir()}
        assert made == {path.name: path.read_bytes() for path in (sample_folder / gold).glob("[!.]*")}
    assert read_dataset(tmp_path / "sample" / "RTE").origin.kind == "sample"
    assert get("sample", "--to", tmp_path, "--source", "hub").exit_code == 2


def test_the_sample_is_known_to_be_as_published(tmp_path: Path) -> None:
    done = get("sample", "--to", tmp_path)
    assert done.stdout.count("as published") == len(load_benchmark("sample").tasks)
    words = ["data", "verify", "sample", "--data", str(tmp_path), "--json"]
    verified = CliRunner().invoke(main, words, prog_name="gluebench")  # its fingerprints are by Arrow
    splits = json.loads(verified.stdout)["splits"]
    assert {split["state"] for split in splits} == {"as published"}
    recorded = {
        (task.name, name): record.fingerprint
        for task in load_benchmark("sample").tasks
        for name, record in read_dataset(tmp_path / "sample" / task.name).splits.items()
    }
    assert {(split["task"], split["split"]): split["fingerprint"] for split in splits} == recorded
    changed = tmp_path / "sample/RTE/dev.tsv"
    changed.write_text(changed.read_text().replace("The", "A", 1))
    verified = CliRunner().invoke(main, [*words, "--task", "RTE"], prog_name="gluebench")
    states = {split["split"]: split["state"] for split in json.loads(verified.stdout)["splits"]}
    assert states == {"train": "as published", "dev": "differs", "test": "as published"}


def test_the_sample_can_be_prepared_as_parquet_from_its_folder(tmp_path: Path) -> None:
    get("sample", "--to", tmp_path / "text", "--task", "STS-B", "--task", "AX")
    done = get("sample", "--from", tmp_path / "text", "--to", tmp_path / "arrow", "--task", "STS-B")
    assert done.exit_code == 0, done.stderr
    assert (tmp_path / "arrow/sample/STS-B/dev.parquet").is_file()
    text, arrow = (load("STS-B", "dev", tmp_path / name, benchmark="sample") for name in ("text", "arrow"))
    assert list(text) == list(arrow)
    for column in text.columns:
        assert text.column(column) == arrow.column(column)
    again = get("sample", "--to", tmp_path / "arrow", "--task", "STS-B")
    assert again.exit_code == 0
    assert not (tmp_path / "arrow/sample/STS-B/dev.parquet").exists()


def test_a_folder_that_is_not_the_sample_s_is_not_replaced(tmp_path: Path) -> None:
    own = tmp_path / "sample" / "RTE" / "notes.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    done = get("sample", "--to", tmp_path, "--task", "RTE")
    assert done.exit_code == 1
    assert "not a folder of prepared data" in done.stderr
    assert own.read_text() == "mine"


def test_a_gold_folder_of_ones_own_is_not_replaced(tmp_path: Path) -> None:
    own = tmp_path / "sample" / "gold" / "notes.txt"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    done = get("sample", "--to", tmp_path, "--task", "RTE")
    assert done.exit_code == 1
    assert "notes.txt" in done.stderr
    assert [path.name for path in own.parent.iterdir()] == ["notes.txt"]


def test_the_variable_names_the_data_folder(mine: Mine, tmp_path: Path) -> None:
    done = get(mine.manifest, "--task", "Mood", env={"GLUEBENCH_DATA": str(tmp_path / "mine-all")})
    assert done.exit_code == 0
    assert (tmp_path / "mine-all" / "mine" / "Mood" / "train.parquet").is_file()


def test_a_terminal_has_a_bar_with_rate_and_time_left(mine: Mine, server: LocalServer) -> None:
    server.files["/archives/Mood.zip"] = archive("Mood")
    server.faults["/archives/Mood.zip"] = [cut(5000)]
    main_end, end = pty.openpty()
    termios.tcsetwinsize(end, (24, 80))
    words = [
        "data",
        "get",
        str(mine.manifest),
        "--to",
        str(mine.to),
        "--source",
        "archives",
        "--task",
        "Mood",
    ]
    run = subprocess.Popen([sys.executable, "-m", "gluebench", *words], stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    shown = b""
    try:
        while piece := os.read(main_end, 4096):
            shown += piece
    except OSError:  # how Linux tells that the other end is closed
        pass
    finally:
        os.close(main_end)
    out, _ = run.communicate(timeout=30)
    assert run.returncode == 0
    assert b"Mood:  49%" in shown
    assert b"B/s" in shown
    assert b"\x1b" not in out
    assert b"\r" not in out


def test_a_pipe_has_lines_and_no_bar(mine: Mine) -> None:
    done = mine.get("--task", "Mood")
    assert done.stderr.count("\n") == 1
    assert "\r" not in done.stderr
    assert "%" not in done.stderr


def test_its_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom gluebench.cli import main\n"
        "try: main(['data', 'get', '--help'])\nexcept SystemExit: pass\n"
        "import json; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pyarrow", "urllib3", "tqdm", "numpy"} & set(json.loads(done.stderr))
    assert "Example:" in done.stdout


@needs_real
def test_the_real_files_come_through_a_mirror(server: LocalServer, tmp_path: Path) -> None:
    commit = "bcdcba79d07bc864c1c254ccfcedcce55bcc9a8c"
    for file in (REAL / "corpora" / "hf-glue-parquet" / "rte").iterdir():
        server.files[f"/datasets/nyu-mll/glue/resolve/{commit}/rte/{file.name}"] = file.read_bytes()
    tasks = ["CoLA", "STS-B", "RTE", "WNLI"]
    for task in tasks:
        members = {
            f"{task}/{split}.tsv": (REAL / "glue" / task / f"{split}.tsv").read_bytes() for split in SIZES
        }
        server.files[f"/glue/data/{task}.zip"] = zipped(members)
    options = ("glue", "--mirror", server.address)
    named = [word for task in tasks for word in ("--task", task)]
    hub = get(*options, "--to", tmp_path / "hub", "--task", "RTE", "--json")
    archives = get(*options, "--to", tmp_path / "archives", "--source", "archives", *named, "--json")
    found = json.loads(hub.stdout)["tasks"] + json.loads(archives.stdout)["tasks"]
    assert hub.exit_code == archives.exit_code == 0, hub.stderr + archives.stderr
    assert [each["task"] for each in found] == ["RTE", *tasks]
    assert {split["content"] for each in found for split in each["splits"].values()} == {"as published"}
    prints = [
        [split.fingerprint for split in read_dataset(tmp_path / source / "glue" / "RTE").splits.values()]
        for source in ("hub", "archives")
    ]
    assert prints[0] == prints[1]


@needs_real
def test_a_real_file_of_the_wrong_version_is_told_and_the_old_copy_stays(
    server: LocalServer, tmp_path: Path
) -> None:
    def serve(version: str) -> None:
        folder = REAL / "glue" / version
        members = {f"QNLI/{split}.tsv": (folder / f"{split}.tsv").read_bytes() for split in ("dev", "test")}
        server.files["/glue/data/QNLIv2.zip"] = zipped(members)

    def run() -> Result:
        options = (
            "--to",
            tmp_path,
            "--source",
            "archives",
            "--mirror",
            server.address,
            "--partial",
            "--again",
        )
        return get("glue", "--task", "QNLI", *options)

    serve("QNLI")
    assert run().exit_code == 0
    before = (tmp_path / "glue" / "QNLI" / "dev.parquet").read_bytes()
    serve("QNLI-v1")
    done = run()
    assert done.exit_code == 1
    assert "5,732 rows, expected 5,463" in done.stderr
    assert (tmp_path / "glue" / "QNLI" / "dev.parquet").read_bytes() == before
