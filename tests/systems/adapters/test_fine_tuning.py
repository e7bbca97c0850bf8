"""Fine-tuning: batches, recipes, float32 weights, resuming, best epoch, and what stops it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nearly import same_weights
from systems.adapters import tiny

from gluebench.benchmark import UnknownNameError, load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError
from gluebench.systems.adapters.fine_tuning import FineTuning, Recipe, recipe_called, shipped

GLUE = load_benchmark("glue")
RTE = GLUE.task("RTE")


def test_every_recipe_of_the_package_can_be_read_and_names_tasks_of_glue():
    assert {"bert", "deberta-v3", "lora", "minilm", "modernbert", "roberta"} == set(shipped())
    for name in shipped():
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


torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
from gluebench.systems.adapters import fine_tuner  # noqa: E402
from gluebench.systems.adapters.fine_tuner import Examples, Loop, batches, rate  # noqa: E402
from gluebench.systems.training.engine import Engine  # noqa: E402


def test_the_rate_rises_over_a_share_or_a_number_of_steps():
    assert [rate(step, 20, 0.1) for step in range(3)] == [0.5, 1.0, 1.0]
    assert [rate(step, 20, 4) for step in range(5)] == [0.25, 0.5, 0.75, 1.0, 1.0]


def test_batches_have_every_row_once_and_rows_of_like_lengths():
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(5, 120, (1000,), generator=generator).tolist()
    parts = batches(lengths, 16, seed=1, epoch=0)
    assert sorted(row for part in parts for row in part) == list(range(1000))
    padded = sum(max(lengths[row] for row in part) * len(part) for part in parts)
    shuffled = torch.randperm(1000, generator=generator).split(16)
    by_chance = sum(max(lengths[row] for row in part) * len(part) for part in shuffled)
    assert padded < 1.1 * sum(lengths) < 0.7 * by_chance
    assert parts == batches(lengths, 16, seed=1, epoch=0)
    assert parts != batches(lengths, 16, seed=1, epoch=1) != batches(lengths, 16, seed=2, epoch=1)


class Line(torch.nn.Module):
    """A linear model of a checkpoint's interface, with dropout so that the random state matters."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.layer = torch.nn.Linear(4, 2)
        self.outputs = []

    def forward(self, values):
        from types import SimpleNamespace

        dropped = torch.nn.functional.dropout(values, 0.5, self.training)
        return SimpleNamespace(logits=self.layer(dropped))


VALUES = torch.randn(40, 4, generator=torch.Generator().manual_seed(0))
TARGETS = (VALUES[:, 0] > 0).long()


def loop(model, settings=None, **options):
    examples = Examples([4] * 40, lambda rows: {"values": VALUES[list(rows)]}, TARGETS)
    settings = settings or FineTuning(learning_rate=0.05, epochs=3, batch_size=8)
    return Loop(model, examples, settings, name="x, RTE", seed=0, engine=Engine(), **options)


class KilledError(Exception):
    """Stands for a kill between two steps."""


@pytest.mark.parametrize("at", [3, 5, 8, 14])
def test_training_that_was_killed_goes_on_to_the_same_weights(tmp_path: Path, at: int):
    scores = [0.3, 0.9, 0.5]
    whole = Line()
    expected = loop(whole).run(iter(scores).__next__, lambda done, of: None)
    assert expected.scores == (0.3, 0.9, 0.5)
    assert expected.steps == 15

    def advance(done, of):
        if done == at:
            raise KilledError

    state = {"state": tmp_path / "s.pt", "fingerprint": "a", "save_every": 0.0}
    given = iter(scores)
    with pytest.raises(KilledError):
        loop(Line(), **state).run(given.__next__, advance)
    torch.manual_seed(99)
    resumed, steps = Line(), []
    done = at // 5 - (at % 5 == 0)  # epochs whose check was saved before the kill
    outcome = loop(resumed, **state).run(iter(scores[done:]).__next__, lambda step, of: steps.append(step))
    assert steps[0] == at - 1
    assert outcome.scores == expected.scores
    assert same_weights(resumed.state_dict(), whole.state_dict())
    other = loop(Line(), **{**state, "fingerprint": "b"})
    other.run(None, lambda step, of: steps.append(step))
    assert steps[-16:] == list(range(16))


def test_the_best_epoch_is_kept_and_parts_of_a_batch_add_up():
    weights = []
    model = Line()

    def score():
        weights.append(model.layer.weight.detach().clone())
        return [0.3, 0.9, 0.9][len(weights) - 1]

    loop(model).run(score, lambda done, of: None)
    assert torch.equal(model.layer.weight, weights[1])
    whole, parts = Line().eval(), Line().eval()
    for one, accumulate in ((whole, 1), (parts, 3)):
        one.train = lambda mode=True, one=one: one  # no dropout: the parts would draw other numbers
        settings = FineTuning(learning_rate=0.05, epochs=2, batch_size=8, accumulate=accumulate)
        loop(one, settings).run(None, lambda done, of: None)
    assert torch.allclose(whole.layer.weight, parts.layer.weight, atol=1e-6)


def test_a_loss_that_is_not_finite_stops_the_training():
    model = Line()
    model.layer.weight.register_hook(lambda gradient: gradient * float("nan"))
    with pytest.raises(ModelError, match=r"x, RTE: the loss is nan at step 2 of 15.*--learning-rate"):
        loop(model).run(None, lambda done, of: None)
    assert fine_tuner.CHECK_EVERY > 5  # so the end of the first epoch saw it


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


def test_a_half_precision_checkpoint_is_trained_in_float32(tmp_path: Path):
    fine_tuned = needs_transformers()
    import transformers

    folder = tiny.body(tmp_path / "bert")
    transformers.BertModel.from_pretrained(folder).to(torch.bfloat16).save_pretrained(folder)
    system = fine_tuned.FineTunedHere(
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
        return fine_tuned.FineTunedHere(
            folder, recipe, folder=tmp_path / "f", seed=seed, keep=True, say=lines.append
        )

    train = [*examples(15), *examples(5, words=30)]
    first = system()
    first.fit(RTE, train, examples(8))
    assert lines == [
        "25 % of the training pairs of RTE (5 of 20) are cut at 16 tokens; --max-length keeps more"
    ]
    record = tmp_path / "f" / "RTE" / fine_tuned.RECORD
    assert len(json.loads(record.read_bytes())["scores"]) == 1
    assert not (record.parent / fine_tuned.STATE).exists()
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
    system = fine_tuned.FineTunedHere(
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
    system = fine_tuned.FineTunedHere(
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
