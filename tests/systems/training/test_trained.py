"""From data to a system that answers: rows, their folders, and the systems they leave."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch
from nearly import same_columns
from systems.adapters import tiny
from systems.reproduce.small_world import SAMPLE, write_cut
from systems.training.toy import best_weights

from gluebench.benchmark import Benchmark, UnknownNameError, load_benchmark
from gluebench.data import DataError, load_split
from gluebench.data.vectors import vector_width
from gluebench.systems import Predictor, run
from gluebench.systems.training.data import dev_splits, load_task_data
from gluebench.systems.training.evaluation import score
from gluebench.systems.training.row import Row, preset, train_row, transformer_row
from gluebench.systems.training.trained import TrainedSystem

QUICK = {"max_checks": 1, "check_every": 3, "batch_size": 16}


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of vectors of eight numbers for a few words."""
    path = tmp_path_factory.mktemp("vectors") / "few.txt"
    words = ["the", "a", "of", "is", "The", "not", "."]
    path.write_text(
        "".join(f"{word} {' '.join(f'{len(word) + at}.5' for at in range(8))}\n" for word in words)
    )
    return path


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def quick(
    vectors: Path | None, *, multi: bool, seeds: tuple[int, ...] = (1,), attention: bool = False
) -> Row:
    spec = {"hidden": 4, "classifier": 4, "attention": attention}
    return preset("tiny", multi=multi, vectors=vectors, seeds=seeds, spec=spec, settings=QUICK)


def train(row: Row, folder: Path, data: Path, suite: Benchmark, *names: str) -> TrainedSystem:
    found = load_task_data(data, suite, names)
    return train_row(row, found, folder, benchmark=suite, data_folder=data, device="cpu")


def test_a_multi_task_row_answers_every_task_and_the_diagnostic_set_when_loaded_again(
    sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    data = write_cut(sample_folder, tmp_path / "data")
    part = SAMPLE._replace(tasks=tuple(SAMPLE.task(name) for name in ("MNLI", "STS-B", "AX")))
    trained = train(quick(vectors, multi=True, attention=True), tmp_path / "out", data, part)
    again = TrainedSystem(tmp_path / "out")
    assert isinstance(again, Predictor)
    assert again.tasks == ("MNLI", "STS-B")
    first = run(trained, part, data)
    assert set(first) == {"STS-B", "MNLI-m", "MNLI-mm", "AX"}
    # `trained` predicts in batches of 16, `again` in batches of 128, so the last bits of scores may differ.
    scores = run(again, part._replace(tasks=(part.task("STS-B"),)), data)
    assert same_columns({"STS-B": first["STS-B"]}, scores)
    rows = load_split(data, part, "AX", "test")
    assert again.predict(part.task("AX"), rows) == first["AX"].words()
    with pytest.raises(UnknownNameError, match="CoLA"):
        again.predict(load_benchmark("sample").task("CoLA"), [])


def train_transformer(
    encoder: Path, folder: Path, data: Path, suite: Benchmark, tuning: str, *names: str
) -> TrainedSystem:
    """Train a tiny encoder for some updates, fast enough that each weight moves."""
    settings = {**QUICK, "learning_rate": 1e-2}
    row = transformer_row(str(encoder), multi=True, seeds=(1,), spec={"tuning": tuning}, settings=settings)
    return train(row, folder, data, suite, *names)


def need(tuning: str) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    if tuning == "lora":
        pytest.importorskip("peft", reason="peft is not installed (gluebench[lora])")


@pytest.mark.parametrize("tuning", ["full", "lora", "frozen"])
def test_a_transformer_trained_on_several_tasks_answers_when_loaded_again(
    sample_folder: Path, tmp_path: Path, tuning: str
) -> None:
    need(tuning)
    data = write_cut(sample_folder, tmp_path / "data")
    part = SAMPLE._replace(tasks=tuple(SAMPLE.task(name) for name in ("CoLA", "RTE", "STS-B")))
    encoder = tiny.body(tmp_path / "bert")
    trained = train_transformer(encoder, tmp_path / "out", data, part, tuning)
    first = run(trained, part, data)
    if tuning == "full":  # the folder of the runs has all that is needed
        shutil.rmtree(encoder)
    tmp_path.joinpath("out").rename(tmp_path / "moved")
    again = TrainedSystem(tmp_path / "moved")
    assert set(again.tasks) == {"CoLA", "STS-B", "RTE"}
    assert same_columns(first, run(again, part, data))
    card = (tmp_path / "moved" / "seed-1" / "card.json").read_text()
    assert json.loads(card)["about"]["body"]["encoder"] == "bert"
    for path in (tmp_path / "moved").rglob("*.json"):
        assert str(tmp_path) not in path.read_text()


@pytest.mark.parametrize("tuning", ["lora", "frozen"])
def test_weights_that_training_leaves_stay_with_their_encoder(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, tuning: str
) -> None:
    need(tuning)
    encoder = tiny.body(tmp_path / "bert")
    train_transformer(encoder, tmp_path / "out", sample_folder, sample, tuning, "RTE")
    saved = best_weights(tmp_path / "out" / "seed-1")
    trained = {name for name in saved if name.startswith("heads.") or "lora_" in name}
    assert set(saved) == trained
    assert any("lora_" in name for name in trained) == (tuning == "lora")

    task = sample.task("RTE")
    tiny.body(encoder, words=tiny.TEXT + " moon")
    with pytest.raises(DataError, match=r"best-1\.safetensors: was trained on top of an encoder with other"):
        TrainedSystem(tmp_path / "out").predict(task, [])
    encoder.rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"bert: the encoder .* is not there; put it there, or write where"):
        TrainedSystem(tmp_path / "out").predict(task, [])


def test_an_adapter_is_read_by_peft_on_the_same_encoder(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    need("lora")
    import peft
    import transformers

    encoder = tiny.body(tmp_path / "bert")
    system = train_transformer(encoder, tmp_path / "out", sample_folder, sample, "lora", "RTE", "STS-B")
    body = system._model("RTE").body
    batch = body.collate(body.prepare([("tom saw the house", "ann is in the tree")]))
    ours = body.encoder(**batch).last_hidden_state  # type: ignore[operator]
    plain = transformers.AutoModel.from_pretrained(encoder)
    assert not torch.allclose(ours, plain(**batch).last_hidden_state, atol=1e-3)
    adapter = tmp_path / "out" / "seed-1" / "best-1"
    adapted = peft.PeftModel.from_pretrained(plain, str(adapter)).eval()
    assert torch.equal(ours, adapted(**batch).last_hidden_state)
    assert {path.name for path in adapter.iterdir()} == {"adapter_config.json", "adapter_model.safetensors"}
    config = json.loads((adapter / "adapter_config.json").read_text())
    assert config["base_model_name_or_path"] == "bert"


def test_weights_of_an_earlier_version_are_read(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    system = train(quick(vectors, multi=True), tmp_path, sample_folder, sample, "STS-B")
    folder = tmp_path / "seed-1"
    rows = load_split(sample_folder, sample, "STS-B", "dev")
    answers = system.predict(sample.task("STS-B"), rows)
    torch.save(best_weights(folder), folder / "best-1.pt")
    (folder / "best-1.safetensors").unlink()
    outcome = folder / "outcome.json"
    outcome.write_text(outcome.read_text().replace("best-1.safetensors", "best-1.pt"))
    assert TrainedSystem(tmp_path, batch_size=16).predict(sample.task("STS-B"), rows) == answers


def test_weights_that_cannot_be_read_are_named(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    train(quick(vectors, multi=True), tmp_path, sample_folder, sample, "STS-B")
    file = tmp_path / "seed-1" / "best-1.safetensors"
    file.write_bytes(file.read_bytes()[:-4])
    with pytest.raises(DataError, match=r"best-1\.safetensors: cannot be read as safetensors \(.*; remove"):
        TrainedSystem(tmp_path).predict(sample.task("STS-B"), [])


def test_an_encoder_of_other_content_makes_another_run(sample_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    data = write_cut(sample_folder, tmp_path / "data")
    for position, words in enumerate((tiny.TEXT, tiny.TEXT + " moon")):
        row = transformer_row(
            str(tiny.body(tmp_path / "bert", words=words)), multi=False, seeds=(1,), settings=QUICK
        )
        if position == 0:
            train(row, tmp_path / "out", data, SAMPLE, "RTE")
        else:
            with pytest.raises(DataError, match=r"another run: about encoder model\.safetensors was"):
                train(row, tmp_path / "out", data, SAMPLE, "RTE")


def test_loaded_weights_are_those_of_the_file_to_the_last_bit(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    train(quick(vectors, multi=True), tmp_path, sample_folder, sample, "STS-B")
    saved = best_weights(tmp_path / "seed-1")
    loaded = TrainedSystem(tmp_path)._model("STS-B").state_dict()
    assert loaded.keys() == saved.keys()
    assert all(torch.equal(values, saved[name]) for name, values in loaded.items())


def test_single_tasks_are_each_answered_by_their_best_run(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    row = quick(None, multi=False, seeds=(1, 2))
    system = train(row, tmp_path, sample_folder, sample, "RTE", "STS-B")
    found = load_task_data(sample_folder, sample, ["RTE", "STS-B"])
    for name, place in json.loads((tmp_path / "trained.json").read_text())["tasks"].items():
        cards = {
            path.parent.name: json.loads(path.read_text()) for path in (tmp_path / name).glob("*/card.json")
        }
        scores = {run: card["dev"]["score"] for run, card in cards.items()}
        assert set(scores) == {"seed-1", "seed-2"}
        assert scores[Path(place).name] == max(scores.values())
        answers = {"dev": system.predict(sample.task(name), found[name].dev["dev"])}
        assert score(found[name], answers).score == pytest.approx(max(scores.values()), abs=1e-6)


def test_the_card_says_what_the_row_was_and_names_no_place_of_this_machine(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    train(quick(vectors, multi=True), tmp_path / "out", sample_folder, sample, "RTE")
    text = (tmp_path / "out" / "seed-1" / "card.json").read_text()
    card = json.loads(text)
    assert card["about"]["body"]["width"] == 8
    assert card["about"]["vectors"]["name"] == "few.txt"
    assert card["about"]["vectors"]["bytes"] == vectors.stat().st_size
    assert str(tmp_path) not in text
    assert str(sample_folder) not in text


def test_other_vectors_make_another_run(
    sample: Benchmark, sample_folder: Path, tmp_path: Path, vectors: Path
) -> None:
    train(quick(vectors, multi=True), tmp_path / "out", sample_folder, sample, "RTE")
    other = tmp_path / "other.txt"
    other.write_text(vectors.read_text().replace(".5", ".25"))
    with pytest.raises(DataError, match=r"another run: about vectors name was .*few.txt"):
        train(quick(other, multi=True), tmp_path / "out", sample_folder, sample, "RTE")


def test_a_folder_without_a_system_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"trained.json: .*expected a folder that gluebench train wrote"):
        TrainedSystem(tmp_path)
    (tmp_path / "trained.json").write_text('{"schema": "other/1"}')
    with pytest.raises(DataError, match=r"its schema is 'other/1', expected 'gluebench.trained/1'"):
        TrainedSystem(tmp_path)


def test_presets_are_the_papers_sizes_or_smaller(vectors: Path) -> None:
    paper = preset("paper", multi=True, vectors=None)
    assert (paper.spec.hidden, paper.spec.classifier, paper.spec.layers, paper.spec.dropout) == (
        1500,
        512,
        2,
        0.2,
    )
    assert paper.seeds == (111, 222, 333)
    assert preset("paper", multi=False, vectors=None).settings.check_every is None
    assert preset("small", multi=True, vectors=vectors).spec.width == 8


def test_the_width_of_vectors_is_read_from_a_header_or_the_first_line(tmp_path: Path, vectors: Path) -> None:
    headed = tmp_path / "headed.txt"
    headed.write_text("2 3\na 1 2 3\nb 4 5 6\n")
    assert (vector_width(vectors), vector_width(headed)) == (8, 3)
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(DataError, match="line 1 has no numbers"):
        vector_width(tmp_path / "empty.txt")


def test_data_that_cannot_be_trained_on_are_named(sample: Benchmark, sample_folder: Path) -> None:
    with pytest.raises(DataError, match="AX has no training data; it is answered by MNLI"):
        load_task_data(sample_folder, sample, ["AX"])
    with pytest.raises(DataError, match="RTE is both a task and auxiliary data"):
        load_task_data(sample_folder, sample, ["RTE"], ["RTE"])


def test_the_dev_splits_of_auxiliary_data_are_those_named_so() -> None:
    glue = load_benchmark("glue")
    assert dev_splits(glue.dataset("SNLI")) == ["dev"]
    assert dev_splits(glue.task("MNLI")) == ["dev_matched", "dev_mismatched"]
