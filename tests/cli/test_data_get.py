"""`gluebench data get`, as a user meets it: what it fetches, skips, says, and leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from local_server import LocalServer
from mine import REVISION, SIZES, Mine, hub_path, labels, texts, tsv, zipped

from gluebench import load
from gluebench.data.dataset import read_dataset


@pytest.mark.parametrize("source", ["hub", "archives"])
def test_every_task_is_had_with_its_published_content(mine: Mine, source: str) -> None:
    done = mine.get("--source", source)
    assert done.exit_code == 0, done.stderr
    for task in ("Mood", "Tone"):
        for split in SIZES:
            table = load(task, split, mine.to, benchmark=mine.manifest)
            assert [each.inputs["text"] for each in table] == texts(task, split)
            assert [each.label for each in table] == (labels(split) or [None] * SIZES[split])
        assert f"{task}  train 1,000, dev 20, test 30  " in done.stdout
        assert done.stderr.count(f"The license of {task}.") == 1
    assert done.stdout.count("as published") == 2
    assert str(mine.home) in done.stdout
    assert not (mine.to / ".downloads").exists()


def test_what_is_there_is_left_alone_until_it_is_asked_for_again(mine: Mine, server: LocalServer) -> None:
    mine.get()
    asked = len(server.requests)
    second = mine.get()
    assert second.exit_code == 0
    assert len(server.requests) == asked
    assert second.stderr.count("already there") == 2
    assert second.stdout.count("as published") == 2
    assert mine.get("--again").exit_code == 0
    assert len(server.requests) == 2 * asked


def test_only_what_is_damaged_is_had_again(mine: Mine, server: LocalServer) -> None:
    mine.get()
    before = mine.prepared("Mood")
    (mine.home / "Mood" / "dev.parquet").write_bytes(before["dev.parquet"][:-100])
    server.requests.clear()
    assert mine.get().exit_code == 0
    assert mine.prepared("Mood") == before
    assert {each.path for each in server.requests} == {hub_path("Mood", split) for split in SIZES}


def test_what_came_from_elsewhere_is_not_taken_for_it(mine: Mine, server: LocalServer) -> None:
    mine.get("--source", "archives", "--task", "Mood")
    done = mine.get("--source", "hub", "--task", "Mood")
    assert "already there" not in done.stderr
    origin = read_dataset(mine.home / "Mood").origin
    assert (origin.kind, origin.location, origin.revision) == (
        "hub",
        f"{server.address}/datasets/me/mine",
        REVISION,
    )
    assert [each.name for each in origin.files] == [f"mood/{split}-00000-of-00001.parquet" for split in SIZES]


def test_a_task_is_named_by_name_alias_or_not_at_all(mine: Mine, server: LocalServer) -> None:
    done = mine.get("--task", "tone", "--task", "Tone")
    assert done.exit_code == 0
    assert [path.name for path in mine.home.iterdir()] == ["Tone"]
    assert len(server.requests) == 3
    wrong = mine.get("--task", "Tune")
    assert wrong.exit_code == 2
    assert "Did you mean Tone?" in wrong.stderr


def test_a_split_that_is_not_the_published_one_is_told(mine: Mine) -> None:
    text = mine.manifest.read_text()
    mine.manifest.write_text(text.replace('fingerprint = "', 'fingerprint = "0', 1))
    done = mine.get("--source", "archives", "--task", "Mood", "--json")
    (task,) = json.loads(done.stdout)["tasks"]
    assert {name: split["content"] for name, split in task["splits"].items()} == {
        "train": "differs",
        "dev": "as published",
        "test": "as published",
    }
    shown = mine.get("--source", "archives", "--task", "Mood")
    assert "train: differs; dev, test: as published" in " ".join(shown.stdout.split())


def test_the_answer_has_forms_for_programs(mine: Mine, server: LocalServer) -> None:
    del server.files[hub_path("Tone", "dev")]
    done = mine.get("--json")
    assert done.exit_code == 1
    mood, tone = json.loads(done.stdout)["tasks"]
    assert mood["splits"]["test"] == {"rows": 30, "content": "as published"}
    assert mood["origin"]["revision"] == REVISION
    assert tone["origin"] is None
    assert "404" in tone["problems"][0]
    lines = mine.get("--csv", "--task", "Mood").stdout.splitlines()
    assert lines[0].startswith("task,split,rows,kind,location,revision,content")
    assert len(lines) == 1 + len(SIZES)


def test_a_folder_takes_the_place_of_a_download(mine: Mine, server: LocalServer, tmp_path: Path) -> None:
    folder = tmp_path / "mine_data" / "mood"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        name = f"{split}-00000-of-00001.parquet"
        (folder / name).write_bytes(server.files[hub_path("Mood", split)])
    done = mine.get("--from", folder.parent)
    assert done.exit_code == 1  # Tone is not in it
    assert "Mood  train 1,000, dev 20, test 30  folder mine_data" in done.stdout
    assert "Tone: " in done.stderr
    (folder / "test-00000-of-00001.parquet").unlink()
    assert mine.get("--from", folder.parent, "--task", "Mood").exit_code == 1
    assert mine.get("--from", folder.parent, "--task", "Mood", "--partial").exit_code == 0
    assert set(read_dataset(mine.home / "Mood").splits) == {"train", "dev"}
    assert not server.requests
    both = mine.get("--from", folder, "--source", "hub")
    assert both.exit_code == 2
    assert "exclude each other" in both.stderr


def test_rows_that_cannot_be_read_are_listed_by_their_place_in_the_archive(
    mine: Mine, server: LocalServer
) -> None:
    lines = tsv("Mood", "train").replace(b"\tgood\n", b"\tfine\n")
    members = {f"Mood/{split}.tsv": tsv("Mood", split) for split in SIZES} | {"Mood/train.tsv": lines}
    server.files["/archives/Mood.zip"] = zipped(members)
    few = mine.get("--source", "archives", "--task", "Mood").stderr.splitlines()
    every = mine.get("--source", "archives", "--task", "Mood", "--keep-going").stderr.splitlines()
    assert next(line for line in few if "fine" in line).startswith("Mood: Mood.zip: Mood/train.tsv:")
    assert len([line for line in every if "fine" in line]) == lines.count(b"\tfine\n") > 20
    assert len([line for line in few if "fine" in line]) == 20
    assert any("more" in line for line in few)
    assert not (mine.home / "Mood").exists()
