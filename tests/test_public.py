"""What `gluebench.` offers: paths wherever a submission or gold is taken, and a complete `dir`."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

import gluebench
from gluebench.systems import SYSTEMS


@pytest.fixture(scope="module")
def files(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The submissions of two systems."""
    folder = tmp_path_factory.mktemp("submissions")
    for name in ("majority", "overlap"):
        predictions = gluebench.run(SYSTEMS[name].make(), "sample", sample_folder)
        gluebench.write_submission(folder / f"{name}.zip", predictions, "sample")
    return {name: folder / f"{name}.zip" for name in ("majority", "overlap")}


def test_dir_lists_the_functions_the_records_and_the_rooms() -> None:
    assert dir(gluebench) == sorted(gluebench.__all__)
    assert {"grade", "compare", "rank", "diagnose", "run", "check", "benchmarks"} <= {*dir(gluebench)}
    assert all(inspect.ismodule(getattr(gluebench, name)) for name in ("scoring", "errors", "metrics"))
    assert {"glue", "sample", "superglue"} < {*gluebench.benchmarks()}
    assert gluebench.metrics.f1 is gluebench.scoring.f1
    with pytest.raises(AttributeError, match="no attribute 'grad'"):
        gluebench.grad  # type: ignore[attr-defined]  # noqa: B018


def test_paths_give_the_same_as_what_was_read_before(files: dict[str, Path], sample_folder: Path) -> None:
    labels = sample_folder / "gold"
    gold = gluebench.read_gold(labels, "sample")
    read = {name: gluebench.check(path, "sample") for name, path in files.items()}
    a, b = files.values()
    assert gluebench.grade(str(a), str(labels), benchmark="sample") == gluebench.grade(read["majority"], gold)
    assert gluebench.grade(read["majority"], labels).benchmark == "sample", "a submission says of which"
    quick = {"resamples": 200}
    assert gluebench.compare(a, b, labels, benchmark="sample", **quick) == gluebench.compare(
        *read.values(), gold, **quick
    )
    assert gluebench.compare([a, b], b, gold).overall is not None, "a list is of several runs"
    assert gluebench.rank(files, labels, benchmark="sample") == gluebench.rank(read, gold)
    assert gluebench.diagnose(files, labels, benchmark="sample") == gluebench.diagnose(read, gold)


def test_a_path_to_nothing_or_to_a_broken_file_is_refused(
    files: dict[str, Path], sample_folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(gluebench.SubmissionError):
        gluebench.grade(tmp_path / "no.zip", sample_folder / "gold", benchmark="sample")
    (tmp_path / "RTE.tsv").write_text("index\tprediction\n0\tmaybe\n")
    with pytest.raises(gluebench.SubmissionError, match="maybe"):
        gluebench.grade(tmp_path / "RTE.tsv", sample_folder / "gold", benchmark="sample")
    with pytest.raises(gluebench.GoldError):
        gluebench.grade(files["majority"], tmp_path / "nowhere", benchmark="sample")
