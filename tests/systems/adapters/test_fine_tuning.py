"""Fine-tuning by the one training loop: recipes, float32 weights, resuming, best epoch, what stops it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from nearly import same_weights
from systems.adapters import tiny

from gluebench.benchmark import UnknownNameError, load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.fine_tuning import FineTuning, Recipe, packaged_recipe_names, recipe_called

GLUE = load_benchmark("glue")
RTE = GLUE.task("RTE")


def test_every_recipe_of_the_package_can_be_read_and_names_tasks_of_glue():
    assert {"bert", "deberta-v3", "lora", "minilm", "modernbert", "roberta"} == set(packaged_recipe_names())
    for name in packaged_recipe_names():
        recipe = recipe_called(name)
        assert {GLUE.task(task).name for task in recipe.tasks} == set(recipe.tasks)
        assert all(recipe.of(task.name).epochs > 0 for task in GLUE.tasks)
    roberta = recipe_called("roberta")
    assert roberta.of("RTE")[:2] == (2e-5, 10)
    assert roberta.of("CoLA").learning_rate == 1e-5
    assert roberta.of("RTE").begin_with == "MNLI"
    assert roberta.of("MNLI").begin_with == ""
    assert roberta._replace(overrides={"epochs": 2}).of("RTE").epochs == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("learning_rat = 1e-5", "did you mean learning_rate"),
        ("epochs = 2.5", "epochs is 2.5; expected a whole number"),
        ("epochs = 0", "epochs is 0; expected 1 or more"),
        ("best_on_dev = 1", "expected true or false"),
        ("[tasks.RTE]\nlearning_rate = 0", r"\[tasks.RTE\]: learning_rate is 0"),
        ("tasks = 3", "one table for each task"),
        ("epochs 3", "not TOML"),
    ],
)
def test_a_recipe_that_cannot_be_used_is_explained(tmp_path: Path, text: str, says: str):
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(ModelError, match=says):
        recipe_called(str(tmp_path / "mine.toml"))
    with pytest.raises(UnknownNameError, match="roberta"):
        recipe_called("robrta")


def test_a_recipe_becomes_settings_of_the_one_training_loop():
    recipe = FineTuning(learning_rate=1e-4, epochs=7, batch_size=16, warm_up=50, best_on_dev=True, patience=2)
    settings = recipe.training(seed=3, precision="bf16", has_dev=True)
    assert (settings.learning_rate, settings.batch_size, settings.warm_up) == (1e-4, 16, 50)
    assert (settings.max_checks, settings.check_every) == (7, None)  # a check in each epoch
    assert (settings.best, settings.stop_rule, settings.stop_after) == ("task", "textbook", 2)
    assert (settings.seed, settings.precision) == (3, "bf16")
    without_dev = recipe.training(seed=3, precision="fp32", has_dev=False)
    assert (without_dev.best, without_dev.stop_rule) == ("last", "none")
    assert FineTuning().training(seed=0, precision="fp32", has_dev=True).best == "last"


torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
from gluebench.systems.training import trainer  # noqa: E402
from gluebench.systems.training.log import read_log  # noqa: E402
from gluebench.systems.training.sampling import batch_draws  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")


def examples(count: int, words: int = 2) -> list[Example]:
    """Entailed where the second text is red, not where it is blue."""
    return [
        Example(
            row,
            {"premise": "tom saw the house", "hypothesis": " ".join(["red" if row % 2 else "blue"] * words)},
            "entailment" if row % 2 else "not_entailment",
        )
        for row in range(count)
    ]


def needs_transformers():
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    from gluebench.systems.adapters import fine_tuned

    return fine_tuned


class KilledError(Exception):
    """Stands for a kill between two updates."""


def killed_after(update: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each run save often, and stop this one after an update."""
    plain = trainer.Trainer._update

    def counted(self):
        plain(self)
        if self._progress.update == update:
            self._save()
        if self._progress.update == update + 1:
            raise KilledError

    monkeypatch.setattr(trainer.Trainer, "_update", counted)


def saved_weights(folder: Path):
    from safetensors.torch import load_file

    return load_file(folder / "RTE" / "model.safetensors")


@pytest.mark.parametrize("lora", [0, 2])
def test_training_that_was_killed_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lora: int
):
    fine_tuned = needs_transformers()
    if lora:
        pytest.importorskip("peft", reason="peft is not installed (gluebench[lora])")
    name = str(tiny.body(tmp_path / "bert"))
    changes = {"learning_rate": 1e-2, "epochs": 3, "batch_size": 8, "best_on_dev": True, "lora_rank": lora}

    def fit(folder: Path, **more) -> list[str]:
        lines: list[str] = []
        recipe = Recipe(overrides={**changes, **more})
        system = fine_tuned.CheckpointPerTask(name, recipe, folder=folder, keep=True, say=lines.append)
        system.fit(RTE, examples(40), examples(9))
        return lines

    fit(tmp_path / "whole")
    with monkeypatch.context() as patch:
        killed_after(7, patch)
        with pytest.raises(KilledError):
            fit(tmp_path / "killed")
    (state,) = (tmp_path / "killed" / "RTE" / fine_tuned.RUNS).iterdir()
    with monkeypatch.context() as patch:  # a run of other settings does not disturb it
        killed_after(2, patch)
        with pytest.raises(KilledError):
            fit(tmp_path / "killed", epochs=2)
    torch.manual_seed(99)
    assert "going on after update 7" in fit(tmp_path / "killed")
    whole, resumed = saved_weights(tmp_path / "whole"), saved_weights(tmp_path / "killed")
    assert all(torch.equal(values, resumed[name]) for name, values in whole.items())
    assert [path.name for path in state.parent.iterdir()] == [state.name]
    logs = [next((tmp_path / run).rglob("log.csv")).read_bytes() for run in ("whole", "killed")]
    assert logs[0] == logs[1]


def plain_loop(folder: str, task, train, *, rate: float, size: int, epochs: int):
    """Train by PyTorch and transformers alone: its own loss, its documented choices of AdamW."""
    import transformers

    words = transformers.AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(0)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, num_labels=len(task.words) or 1
    ).train()
    weights = [values for name, values in model.named_parameters() if not name.endswith("bias")]
    matrices = [values for values in weights if values.ndim > 1]
    others = [values for values in model.parameters() if values.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate)
    updates = epochs * -(-len(train) // size)
    rising = round(0.1 * updates)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min((at + 1) / rising, (updates - at) / (updates - rising))
    )
    encoded = [words(*example.inputs.values()) for example in train]
    lengths = [(len(fields["input_ids"]),) for fields in encoded]
    for rows in islice(batch_draws(task.name, lengths, size=size, seed=0, bucketed=True), updates):
        if task.labels:
            gold = torch.tensor([task.words.index(train[row].label) for row in rows])
        else:
            gold = torch.tensor([train[row].label for row in rows])
        batch = words.pad([encoded[row] for row in rows], return_tensors="pt")
        model(**batch, labels=gold).loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    return model.state_dict()


@pytest.mark.parametrize("name", ["RTE", "STS-B"])
def test_fine_tuning_is_a_plain_loop_of_transformers(tmp_path: Path, name: str):
    """The classification head is the library's own, and its loss that of raw scores."""
    fine_tuned = needs_transformers()
    task = GLUE.task(name)
    rates = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    folder = str(tiny.body(tmp_path / "bert", **rates))
    train = []
    for example in examples(44):
        label = example.label if task.labels else 5.0 * (example.label == "entailment")
        inputs = dict(zip(task.columns, example.inputs.values(), strict=True))
        train.append(Example(example.index, inputs, label))
    recipe = Recipe(overrides={"learning_rate": 1e-3, "epochs": 4, "batch_size": 8})
    system = fine_tuned.CheckpointPerTask(folder, recipe)
    system.fit(task, train, [])
    expected = plain_loop(folder, task, train, rate=1e-3, size=8, epochs=4)
    trained = system._models[name].state_dict()
    # The gradient of the keys' bias is 0 but for rounding errors, which Adam scales up to whole steps.
    compared = [key for key in expected if not key.endswith("key.bias")]
    one, other = ({key: weights[key] for key in compared} for weights in (trained, expected))
    assert same_weights(one, other)


def test_the_epoch_that_is_best_on_dev_is_kept(tmp_path: Path):
    fine_tuned = needs_transformers()
    changes = {"learning_rate": 1e-2, "epochs": 5, "batch_size": 8, "best_on_dev": True}
    system = fine_tuned.CheckpointPerTask(
        str(tiny.body(tmp_path / "bert")), Recipe(overrides=changes), folder=tmp_path / "f", keep=True
    )
    dev = examples(9)
    system.fit(RTE, examples(40), dev)
    (run,) = (tmp_path / "f" / "RTE" / fine_tuned.RUNS).iterdir()
    scores = [row["RTE score"] for row in read_log(run)]
    record = json.loads((tmp_path / "f" / "RTE" / fine_tuned.RECORD).read_bytes())
    assert record["epoch"] == 1 + scores.index(max(scores))
    right = [given == row.label for given, row in zip(system.predict(RTE, dev), dev, strict=True)]
    assert sum(right) / len(right) == pytest.approx(max(scores))


def test_a_loss_that_is_not_finite_stops_the_training_and_saves_nothing(tmp_path: Path):
    fine_tuned = needs_transformers()
    recipe = Recipe(overrides={"learning_rate": 1e30, "epochs": 1, "batch_size": 8})
    system = fine_tuned.CheckpointPerTask(str(tiny.body(tmp_path / "bert")), recipe, folder=tmp_path / "f")
    with pytest.raises(
        ModelError, match=r"hf:.*the training loss of RTE is .* by update 5; a lower learning"
    ):
        system.fit(RTE, examples(40), examples(9))
    assert not list((tmp_path / "f").rglob("*.pt"))
    assert not list((tmp_path / "f").rglob("best-*"))


def test_a_half_precision_checkpoint_is_trained_in_float32(tmp_path: Path):
    fine_tuned = needs_transformers()
    import transformers

    folder = tiny.body(tmp_path / "bert")
    transformers.BertModel.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    system = fine_tuned.CheckpointPerTask(
        str(folder), Recipe(overrides={"epochs": 1}), folder=tmp_path / "f", keep=True, precision="bf16"
    )
    system.fit(RTE, examples(16), [])
    saved = transformers.AutoModel.from_pretrained(tmp_path / "f" / "RTE", dtype="auto")
    assert {value.dtype for value in system._models["RTE"].parameters()} == {torch.float32}
    assert {value.dtype for value in saved.parameters()} == {torch.float32}
    assert set(system.predict(RTE, examples(4))) <= set(RTE.words)


def test_a_model_that_is_complete_is_not_trained_again_and_cut_pairs_are_counted(tmp_path: Path):
    fine_tuned = needs_transformers()
    folder, lines = str(tiny.body(tmp_path / "bert")), []
    recipe = Recipe(overrides={"epochs": 1, "max_length": 16, "best_on_dev": True})

    def system(seed=0):
        return fine_tuned.CheckpointPerTask(
            folder, recipe, folder=tmp_path / "f", seed=seed, keep=True, say=lines.append
        )

    train = [*examples(15), *examples(5, words=30)]
    first = system()
    first.fit(RTE, train, examples(8))
    assert lines[0] == (
        "25 % of the training pairs of RTE (5 of 20) are cut at 16 tokens; --max-length keeps more"
    )
    assert lines[1].startswith("at most 1 updates, about ")
    assert lines[2].startswith("check 1 of at most 1, update 1: RTE ")
    record = tmp_path / "f" / "RTE" / fine_tuned.RECORD
    assert json.loads(record.read_bytes())["epoch"] == 1
    assert not list(record.parent.rglob("*.pt"))
    assert not list(record.parent.rglob("best-*"))
    before = record.stat().st_mtime_ns
    again = system()
    again.fit(RTE, train, examples(8))
    assert record.stat().st_mtime_ns == before
    assert again.predict(RTE, examples(6)) == first.predict(RTE, examples(6))
    system(seed=1).fit(RTE, train, examples(8))
    assert record.stat().st_mtime_ns != before
    system().forget(RTE)
    assert record.exists()


def test_a_task_can_begin_with_the_model_of_another(tmp_path: Path):
    fine_tuned = needs_transformers()
    mnli = GLUE.task("MNLI")
    trained = []

    def data(name):
        trained.append(name)
        return GLUE.task(name), [Example(each.index, each.inputs, "entailment") for each in examples(8)], []

    recipe = Recipe(settings={"epochs": 1, "learning_rate": 1e-2}, tasks={"RTE": {"begin_with": "MNLI"}})
    system = fine_tuned.CheckpointPerTask(
        str(tiny.body(tmp_path / "bert")), recipe, folder=tmp_path / "f", data=data
    )
    starts = []
    original = system._new
    system._new = lambda start, task, settings: starts.append(start) or original(start, task, settings)
    system.fit(RTE, examples(8), [])
    system.forget(RTE)
    system.fit(*data("MNLI"))
    assert starts == [str(tmp_path / "bert"), str(tmp_path / "f" / "MNLI")]
    system.forget(mnli)
    assert (tmp_path / "f" / "MNLI").is_dir()
    assert not (tmp_path / "f" / "RTE").exists()


def test_lora_trains_few_weights_and_leaves_a_plain_checkpoint(tmp_path: Path):
    fine_tuned = needs_transformers()
    pytest.importorskip("peft", reason="peft is not installed (gluebench[lora])")
    import transformers

    recipe = Recipe(overrides={"epochs": 1, "lora_rank": 2, "learning_rate": 1e-2})
    system = fine_tuned.CheckpointPerTask(
        str(tiny.body(tmp_path / "bert")), recipe, folder=tmp_path / "f", keep=True
    )
    model = system._new(str(tmp_path / "bert"), RTE, recipe.of("RTE"))
    trained = [name for name, value in model.named_parameters() if value.requires_grad]
    assert trained
    assert all("lora_" in name or "classifier" in name for name in trained)
    system.fit(RTE, examples(16), [])
    saved = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "f" / "RTE")
    assert saved.config.id2label == dict(enumerate(RTE.words))
    fields = system._batch(system._encodings(RTE, examples(4), 128))
    assert torch.allclose(saved.eval()(**fields).logits, system._models["RTE"].eval()(**fields).logits)
    assert not any("lora" in name for name in saved.state_dict())


def test_a_model_that_begins_with_another_is_trained_again_if_that_one_changes(tmp_path: Path):
    fine_tuned = needs_transformers()
    name = str(tiny.body(tmp_path / "bert"))
    records = []
    for seed in (1, 1, 2):
        start = fine_tuned.CheckpointPerTask(
            name, Recipe(overrides={"epochs": 1}), folder=tmp_path / "start", keep=True, seed=seed
        )
        start.fit(RTE, examples(8), [])
        recipe = Recipe(overrides={"epochs": 1, "begin_with": str(tmp_path / "start" / "RTE")})
        system = fine_tuned.CheckpointPerTask(name, recipe, folder=tmp_path / "f", keep=True)
        system.fit(RTE, examples(8), [])
        records.append((tmp_path / "f" / "RTE" / fine_tuned.RECORD).stat().st_mtime_ns)
    assert records[0] == records[1] != records[2]
