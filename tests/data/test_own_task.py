"""A manifest that adds a task to GLUE: its data, and those of GLUE's own tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, ManifestError, load_benchmark
from gluebench.data import DataError, load
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.data.verify.check import read_published_marks

TEN = """
[benchmark]
name = "ten"
extends = "glue"

[tasks.Mine]
columns = ["review"]
labels = ["good", "bad"]
metrics = [{ name = "accuracy" }]
splits.dev.size = 2
"""
RTE = "index\tsentence1\tsentence2\tlabel\n0\tIt rains.\tIt is wet.\tentailment\n"
MINE = "index\treview\tlabel\n0\tFine.\tgood\n1\tStale.\tbad\n"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "ten.toml"
    path.write_text(TEN)
    return path


def sized(benchmark: Benchmark) -> Benchmark:
    """The benchmark with one example in the dev split of RTE, and nothing published of it."""
    rte = benchmark.task("RTE")
    dev = rte.splits["dev"]._replace(size=1, fingerprint="", text_fingerprint="")
    small = rte._replace(splits={**rte.splits, "dev": dev})
    return benchmark._replace(tasks=tuple(small if task is rte else task for task in benchmark.tasks))


def write(folder: Path, task: str, text: str) -> None:
    (folder / task).mkdir(parents=True)
    (folder / task / "dev.tsv").write_text(text)


def test_tasks_of_glue_are_read_as_glue_releases_them(manifest: Path, tmp_path: Path) -> None:
    ten, release = sized(load_benchmark(manifest)), load_release(manifest)
    write(tmp_path / "files", "RTE", RTE)
    write(tmp_path / "files", "Mine", MINE)
    for name in ("RTE", "Mine"):
        prepare_from_folder(tmp_path / "files", tmp_path / "data", ten, ten.task(name), release, partial=True)
    (rte,) = load("RTE", "dev", tmp_path / "data", benchmark=ten)
    assert rte.inputs == {"premise": "It rains.", "hypothesis": "It is wet."}
    assert [row.label for row in load("Mine", "dev", tmp_path / "data", benchmark=ten)] == ["good", "bad"]


def test_data_that_were_prepared_for_glue_are_used(manifest: Path, tmp_path: Path) -> None:
    glue, ten = sized(load_benchmark("glue")), sized(load_benchmark(manifest))
    write(tmp_path / "files", "RTE", RTE)
    released = load_release("glue")
    prepare_from_folder(tmp_path / "files", tmp_path / "data", glue, glue.task("RTE"), released, partial=True)
    assert len(load("RTE", "dev", tmp_path / "data", benchmark=ten)) == 1
    # Prepared files can be taken into another folder, as any layout that people have.
    release = load_release(manifest)
    prepare_from_folder(tmp_path / "data", tmp_path / "other", ten, ten.task("RTE"), release, partial=True)
    assert (tmp_path / "other/ten/RTE/dataset.json").is_file()


def test_a_release_beside_the_manifest_describes_the_added_task_alone(manifest: Path) -> None:
    manifest.with_suffix(".release.toml").write_text('[tasks.Mine]\ncolumns = { text = "review" }\n')
    release, glue = load_release(manifest), load_release("glue")
    assert release.tasks["Mine"].columns == {"text": "review"}
    assert release.tasks["Mine"].hub is None
    assert {name: task for name, task in release.tasks.items() if name != "Mine"} == glue.tasks


def test_a_part_of_a_part_inherits_too(manifest: Path, tmp_path: Path) -> None:
    manifest.with_suffix(".release.toml").write_text('[tasks.Mine]\nfolders = ["reviews"]\n')
    inner = tmp_path / "inner.toml"
    inner.write_text('[benchmark]\nname = "inner"\nextends = "./ten.toml"\ntasks = ["RTE", "Mine"]\n')
    release = load_release(inner)
    assert release.tasks["Mine"].folders == ("reviews", "Mine")
    assert release.tasks["RTE"] == load_release("glue").tasks["RTE"]


def test_what_is_published_of_glue_is_known(manifest: Path) -> None:
    assert read_published_marks(load_benchmark(manifest)) == read_published_marks(load_benchmark("glue"))


def test_missing_data_are_asked_for_by_the_manifest_that_has_the_task(manifest: Path, tmp_path: Path) -> None:
    ten = load_benchmark(manifest)
    with pytest.raises(DataError, match="gluebench data get glue --task RTE,"):
        load("RTE", "dev", tmp_path, benchmark=ten)
    with pytest.raises(DataError, match="gluebench data get MANIFEST --task Mine --from FOLDER"):
        load("Mine", "dev", tmp_path, benchmark=ten)


def test_a_class_number_out_of_range_is_the_only_error(manifest: Path, tmp_path: Path) -> None:
    (tmp_path / "files/Mine").mkdir(parents=True)
    (tmp_path / "files/Mine/dev.csv").write_text("index,review,label\n0,Fine.,0\n1,Stale.,2\n")
    ten = load_benchmark(manifest)
    with pytest.raises(DataError) as raised:
        prepare_from_folder(
            tmp_path / "files", tmp_path / "data", ten, ten.task("Mine"), load_release(manifest)
        )
    assert len(raised.value.problems) == 1
    assert "'2'; expected the number of a class, 0 to 1" in raised.value.problems[0]


def test_the_order_of_class_numbers_names_every_label(manifest: Path) -> None:
    manifest.with_suffix(".release.toml").write_text('[tasks.Mine]\nclasses = ["good"]\n')
    with pytest.raises(ManifestError, match=r"classes: expected each label once, .*: good, bad"):
        load_release(manifest)
