"""Checkpoints: labels by word, and training that learns."""

from __future__ import annotations

from pathlib import Path

import pytest
from nearly import same_weights
from systems.adapters import tiny

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters import ModelError

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
from gluebench.systems.adapters.fine_tuned import CheckpointPerTask  # noqa: E402
from gluebench.systems.adapters.fine_tuning import Recipe  # noqa: E402
from gluebench.systems.adapters.huggingface import FineTunedCheckpoint  # noqa: E402

pytestmark = pytest.mark.usefixtures("one_thread")

GLUE = load_benchmark("glue")


def pairs(count: int, label) -> list[Example]:
    """Entailed where the second text is red, not where it is blue."""
    texts = [
        ("tom saw the house .", "the tree is red" if row % 2 else "the tree is blue") for row in range(count)
    ]
    return [
        Example(row, dict(zip(("premise", "hypothesis"), each, strict=True)), label(row))
        for row, each in enumerate(texts)
    ]


@pytest.mark.slow
def test_fine_tuning_learns_and_the_same_seed_learns_the_same(tmp_path: Path):
    task = GLUE.task("RTE")
    folder = str(tiny.body(tmp_path / "bert"))
    train = pairs(64, lambda row: "entailment" if row % 2 else "not_entailment")
    recipe = Recipe(overrides={"learning_rate": 5e-3, "epochs": 12, "batch_size": 8})
    found = []
    for seed in (0, 0, 1):
        system = CheckpointPerTask(folder, recipe, seed=seed)
        state = torch.random.get_rng_state()
        system.fit(task, train, [])
        assert torch.equal(torch.random.get_rng_state(), state)
        found.append(system)
    # The gradient of the keys' bias is 0 but for rounding errors, which Adam scales up to whole steps.
    weights = [
        {
            name: values
            for name, values in system._models["RTE"].state_dict().items()
            if not name.endswith("key.bias")
        }
        for system in found
    ]
    assert same_weights(weights[0], weights[1])
    assert not same_weights(weights[0], weights[2])
    asked = pairs(10, lambda row: None)
    assert found[0].predict(task, asked) == ["not_entailment", "entailment"] * 5
    assert found[0].predict(task, []) == []
    found[0].forget(task)
    with pytest.raises(KeyError):
        found[0].predict(task, asked)


@pytest.mark.slow
def test_scores_are_learned_and_cut_to_the_range(tmp_path: Path):
    task = GLUE.task("STS-B")
    folder = str(tiny.body(tmp_path / "bert"))
    train = [
        Example(each.index, dict(zip(task.columns, each.inputs.values(), strict=True)), each.label)
        for each in pairs(64, lambda row: 5.0 if row % 2 else 0.0)
    ]
    system = CheckpointPerTask(
        folder, Recipe(overrides={"learning_rate": 1e-2, "epochs": 20, "batch_size": 8})
    )
    system.fit(task, train, [])
    found = system.predict(task, train[:4])
    assert all(0.0 <= score <= 5.0 for score in found)
    assert found[0] < 1.0 < 4.0 < found[1]


def test_a_checkpoint_answers_by_the_words_of_its_labels_in_any_order(tmp_path: Path):
    rte, mnli = GLUE.task("RTE"), GLUE.task("MNLI")
    asked = pairs(3, lambda row: None)
    for place, word in enumerate(["contradiction", "entailment", "neutral"]):
        folder = tiny.classifier(tmp_path / word, ["contradiction", "entailment", "neutral"], always=place)
        system = FineTunedCheckpoint(str(folder), [rte, mnli])
        assert system.predict(mnli, asked) == [word] * 3
        assert system.predict(rte, asked) == ["entailment" if word == "entailment" else "not_entailment"] * 3


def test_labels_that_mean_the_same_word_add_up(tmp_path: Path):
    """Entailment is likeliest by itself (0.40), and less likely than the other two together."""
    folder = tiny.classifier(tmp_path / "m", ["contradiction", "entailment", "neutral"], always=1, bias=0.288)
    asked = pairs(2, lambda row: None)
    system = FineTunedCheckpoint(str(folder), [GLUE.task("RTE"), GLUE.task("MNLI")])
    assert system.predict(GLUE.task("MNLI"), asked) == ["entailment"] * 2
    assert system.predict(GLUE.task("RTE"), asked) == ["not_entailment"] * 2


def test_all_that_a_checkpoint_cannot_answer_is_told_at_once(tmp_path: Path):
    folder = tiny.classifier(tmp_path / "m", ["LABEL_0", "LABEL_1"])
    with pytest.raises(ModelError) as caught:
        FineTunedCheckpoint(str(folder), [GLUE.task(name) for name in ("RTE", "STS-B", "MNLI")])
    lines = str(caught.value).splitlines()
    assert "--label LABEL_0=entailment --label LABEL_1=not_entailment" in lines[0]
    assert "expected a number" in lines[1]
    assert "nothing is entailment, neutral, contradiction" in lines[2]
    given = {"LABEL_0": "not_entailment", "LABEL_1": "entailment"}
    system = FineTunedCheckpoint(str(folder), [GLUE.task("RTE")], labels=given)
    assert set(system.predict(GLUE.task("RTE"), pairs(4, lambda row: None))) <= set(GLUE.task("RTE").words)


def test_a_body_alone_has_to_be_fine_tuned_and_a_wrong_folder_is_told(tmp_path: Path, sample: Benchmark):
    with pytest.raises(ModelError, match=r"no head .*--fine-tune"):
        FineTunedCheckpoint(str(tiny.body(tmp_path / "bert")), [sample.task("RTE")])
    with pytest.raises(ModelError, match="there is no such folder"):
        CheckpointPerTask(str(tmp_path / "nowhere"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot be loaded"):
        CheckpointPerTask(str(tmp_path / "empty"))
