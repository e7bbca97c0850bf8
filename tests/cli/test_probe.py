"""`gluebench encode` and `gluebench probe`, as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

from gluebench import check
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.cli import main
from gluebench.cli.common.progress import Progress, clock

pytest.importorskip("torch", reason="the probe needs gluebench[train]")

TASKS = ("WNLI", "RTE")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GLUEBENCH_DATA", raising=False)
    return tmp_path


def run(command: str, *arguments: object) -> Result:
    words = [command, *map(str, arguments), "--benchmark", "sample"]
    return CliRunner().invoke(main, words, prog_name="gluebench")


def small(folder: Path, tasks: tuple[str, ...]) -> list[object]:
    """Options of CBoW over small vectors of the tasks' words, which are quicker than vectors of its own."""
    from systems.reproduce.small_world import write_vectors

    write_vectors(Path("words.txt"), folder, tasks)
    return ["--data", folder, "--task", ",".join(tasks), "-o", "vectors=words.txt", "-o", "tokenizer=space"]


def test_dev_scores_with_intervals_and_a_valid_submission(sample_folder: Path, home: Path) -> None:
    options = [*small(sample_folder, TASKS), "--preset", "paper:dissent"]
    done = run("probe", "cbow", *options, "--out", "mine.zip")
    assert done.exit_code == 0, done.output
    assert "Sample, dev split: cbow(words.txt, space)" in done.stdout
    assert "paper:dissent" in done.stdout
    (line,) = [each for each in done.stdout.splitlines() if each.startswith("RTE")]
    assert "[" in line
    assert "sentences: 0:0" in done.stderr
    assert "epochs" in done.stderr
    assert "INCOMPLETE: no predictions for CoLA.tsv" in done.stderr
    assert "cbow(words.txt, space)" in (home / "mine.run" / "scores.json").read_text()
    submission = check(home / "mine.zip", load_benchmark("sample"))
    assert submission.verdict == "incomplete"
    assert set(submission.predictions) == set(TASKS)
    kept = list((home / "cache" / "gluebench" / "vectors").glob("*.npy"))
    assert len(kept) == 1, "the vectors are there for the next time"
    again = run("probe", "cbow", *options)
    assert "sentences: 0:0" not in again.stderr, "nothing is encoded twice"
    assert again.stdout == done.stdout


def test_the_diagnostic_set_is_answered_by_the_classifier_of_its_task(
    sample: Benchmark, sample_folder: Path, home: Path
) -> None:
    from gluebench.data import load_split
    from gluebench.systems import run as run_system
    from gluebench.systems.encoders.callable import CallableEncoder
    from gluebench.systems.probe.settings import Preset, ProbeSettings
    from gluebench.systems.probe.system import ProbedEncoder

    part = sample._replace(tasks=(sample.task("MNLI"), sample.task("AX")))
    encoder = CallableEncoder(
        lambda texts: np.array([[len(t), t.count(" "), "not" in t] for t in texts]), "f"
    )
    quick = Preset("quick", "", ProbeSettings(epoch_size=1, max_epoch=1, penalties=(1e-4,)))
    system = ProbedEncoder(encoder, quick)
    columns = run_system(system, part, sample_folder)
    assert set(columns) == {"MNLI-m", "MNLI-mm", "AX"}
    assert set(system.probes) == {"MNLI"}
    examples = load_split(sample_folder, sample, "AX", "test")
    pairs = [
        e.__class__(e.index, dict(zip(part.tasks[0].columns, e.inputs.values(), strict=True)), None)
        for e in examples
    ]
    assert columns["AX"].words() == system.predict(part.tasks[0], pairs)


def test_what_was_encoded_can_be_probed_without_the_encoder(sample_folder: Path, home: Path) -> None:
    options = small(sample_folder, ("WNLI",))
    encoded = run("encode", "cbow", *options, "--out", "v.npy", "--float16")
    assert encoded.exit_code == 0, encoded.output
    assert "vectors of 12 numbers by cbow(words.txt, space)" in encoded.stdout
    assert np.load(home / "v.npy").dtype == np.float16
    again = run("encode", "cbow", *options, "--out", "v.npy")
    assert "; 0 of " in again.stdout
    done = run("probe", "--vectors", "v.npy", "--data", sample_folder, "--task", "WNLI", "--json")
    assert done.exit_code == 0, done.output
    score = json.loads(done.stdout)["tasks"]["WNLI"]["score"]
    assert score["low"] < score["value"] < score["high"]
    other = run("probe", "--vectors", "v.npy", "--data", sample_folder, "--task", "CoLA")
    assert other.exit_code == 1
    assert "sentences have no vector there" in other.stderr
    assert "Traceback" not in other.output


LENGTHS = """
import torch

def encode(sentences):
    values = torch.tensor([[len(sentence), 1.0] for sentence in sentences])
    return torch.nn.functional.linear(values, torch.tensor([[1.001, 0.0], [0.0, 1.001]])).float().numpy()
"""


def test_bf16_is_the_precision_of_an_encoder_of_pytorch(
    sample_folder: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "lengths.py").write_text(LENGTHS)
    monkeypatch.syspath_prepend(home)
    given = ["--data", sample_folder, "--task", "WNLI"]
    for precision in ("fp32", "bf16"):
        done = run(
            "encode", "encoder:lengths:encode", *given, "--precision", precision, "--out", f"{precision}.npy"
        )
        assert done.exit_code == 0, done.output
    exact, rounded = (np.load(home / f"{precision}.npy") for precision in ("fp32", "bf16"))
    assert exact[:, 1] == pytest.approx(1.001, abs=1e-6)
    assert (rounded[:, 1] == 1.0).all(), "bfloat16 keeps 8 bits"
    stored = home / "cache" / "gluebench" / "vectors"
    for number, precision in enumerate(("fp32", "bf16", "bf16"), 1):
        done = run("probe", "encoder:lengths:encode", *given, "--precision", precision)
        assert done.exit_code == 0, done.output
        assert len(list(stored.glob("*.npy"))) == min(number, 2), "one file for each precision"


@pytest.mark.parametrize(
    ("command", "arguments", "code", "message"),
    [
        ("probe", ["cbwo"], 2, "No encoder is called 'cbwo'"),
        ("probe", [], 2, "name the ENCODER"),
        ("probe", ["cbow", "--preset", "paper:cbov"], 2, "Did you mean paper:cbow"),
        ("probe", ["cbow", "-o", "dim"], 2, "'dim' is not NAME=VALUE"),
        ("probe", ["cbow", "-o", "size=3"], 2, "has no option size"),
        ("probe", ["cbow", "--task", "RTEE"], 2, "Did you mean RTE"),
        ("probe", ["cbow", "--out", "mine.txt"], 2, "does not end in .zip"),
        ("probe", ["encoder:my_own_encoder:encode", "--device", "warp"], 2, "The device warp cannot be used"),
        ("probe", ["encoder:nothing_there:f"], 1, "no module is called 'nothing_there'"),
        ("probe", ["cbow", "-o", "vectors=none.txt"], 1, "none.txt: cannot be read"),
        ("probe", ["--vectors", "none.npy"], 1, "none.npy.index: no such file"),
        ("encode", ["cbow"], 2, "Missing option '--out'"),
    ],
)
def test_mistakes_are_told_plainly(
    sample_folder: Path, command: str, arguments: list[str], code: int, message: str
) -> None:
    Path("my_own_encoder.py").write_text("def encode(texts):\n    return [[len(text)] for text in texts]\n")
    done = run(
        command, *arguments, "--data", sample_folder, *([] if "--task" in arguments else ["--task", "WNLI"])
    )
    assert done.exit_code == code, done.output
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_missing_data_are_told(home: Path) -> None:
    done = run("encode", "encoder:json:dumps", "--data", home, "--task", "WNLI", "--out", "v.npy")
    assert done.exit_code == 1
    done = run("probe", "cbow", "--data", home, "--task", "WNLI")
    assert (done.exit_code, "words occur" in done.stderr) == (1, True)


def test_the_time_left_follows_from_the_rate() -> None:
    progress = Progress("encoded", "sentences")
    assert progress.line(2500, 10000, 50.0) == "encoded 2,500 of 10,000 sentences, 50 a second, 2:30 left"
    assert progress.line(10000, 10000, 200.0) == "encoded 10,000 sentences: 3:20"
    slow = Progress("trained", "steps")
    slow(300, 400)  # what an earlier run did
    assert slow.line(310, 400, 20.0) == "trained 310 of 400 steps, 30.0 a minute, 3:00 left"
    assert slow.line(324, 400, 10.0) == "trained 324 of 400 steps, 2.4 a second, 0:32 left"
    assert [clock(7.4), clock(59.6), clock(11045)] == ["0:07", "1:00", "3:04:05"]
