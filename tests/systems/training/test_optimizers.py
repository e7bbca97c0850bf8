"""Optimizer and learning rate: groups by hand, and a plain PyTorch loop as the oracle of whole runs."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from nearly import same_weights
from systems.training.several import main as stoppable
from systems.training.toy import TOY, best_weights, toy_data, toy_model

from gluebench.systems.training.log import read_log
from gluebench.systems.training.optimizers import linear_factor, make_optimizer
from gluebench.systems.training.sampling import batch_draws
from gluebench.systems.training.settings import FINE_TUNING, Settings
from gluebench.systems.training.trainer import Trainer

TUNED = replace(
    TOY, optimizer="adamw", schedule="linear", minimum_learning_rate=0.0, weight_decay=0.1, bucketed=False
)


def test_the_rate_rises_over_a_share_or_a_number_of_updates_and_falls_to_nothing() -> None:
    factors = [linear_factor(update, updates=20, warm_up=0.1) for update in range(21)]
    assert factors[:3] == [0.5, 1.0, 1.0]
    assert factors[-2:] == [pytest.approx(1 / 18), 0.0]
    assert sorted(factors[2:], reverse=True) == factors[2:]
    assert [linear_factor(update, updates=20, warm_up=4) for update in range(5)] == [0.25, 0.5, 0.75, 1, 1]
    assert linear_factor(0, updates=1, warm_up=0.1) == 1.0


def test_biases_and_scales_do_not_decay_and_lower_layers_have_lower_rates(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    from systems.adapters import tiny

    from gluebench.systems.neural.model import MultiTaskModel
    from gluebench.systems.neural.transformer import pretrained_body
    from gluebench.systems.training.settings import TransformerSpec

    encoder = str(tiny.body(tmp_path, layers=2))
    data = toy_data("RTE")
    model = MultiTaskModel(pretrained_body(encoder, TransformerSpec(encoder)), [data["RTE"].task])
    settings = replace(FINE_TUNING, learning_rate=1.0, layer_decay=0.5)
    found = {}
    for group in make_optimizer(model, settings).param_groups:
        found |= {id(weights): (group["lr"], group["weight_decay"]) for weights in group["params"]}
    rates = {"encoder.layer.1.": 0.5, "encoder.layer.0.": 0.25, "embeddings.": 0.125, "heads.": 1.0}
    for name, weights in model.named_parameters():
        (rate,) = (rate for part, rate in rates.items() if part in name)
        decay = 0.0 if name.endswith("bias") or "LayerNorm" in name else settings.weight_decay
        assert found[id(weights)] == (rate, decay), name


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_run_is_what_a_plain_loop_with_adamw_comes_to(tmp_path: Path, accumulate: int) -> None:
    """Batches in parts too: their gradients add up to that of the whole batch."""
    data = toy_data("STS-B")
    task, examples = data["STS-B"].task, data["STS-B"].train
    settings = replace(TUNED, check_every=10, max_checks=2, accumulate=accumulate, best="last")
    trained = toy_model([task], dropout=0.0)
    Trainer(trained, data, settings, tmp_path).train()

    model = toy_model([task], dropout=0.0).train()
    matrices = [weights for weights in model.parameters() if weights.ndim > 1]
    others = [weights for weights in model.parameters() if weights.ndim == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=0.0)
    items = model.body.prepare([tuple(example.inputs.values()) for example in examples])
    lengths = [model.body.lengths(item) for item in items]
    batches = batch_draws("STS-B", lengths, size=8, seed=settings.seed, bucketed=False)
    for update, rows in enumerate(islice(batches, 20)):
        rate = min((update + 1) / 2, (20 - update) / 18, 1)
        for group in optimizer.param_groups:
            group["lr"] = settings.learning_rate * rate
        outputs = model("STS-B", model.body.collate([items[row] for row in rows]))
        gold = torch.tensor([float(examples[row].label or 0) / 5 for row in rows])
        torch.nn.functional.mse_loss(outputs, gold).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimizer.step()
        optimizer.zero_grad()
    assert same_weights(trained.state_dict(), model.state_dict(), atol=2e-6)


def test_the_last_weights_are_kept_if_asked_and_the_best_otherwise(tmp_path: Path) -> None:
    data = toy_data("SST-2")
    for best in ("macro", "last"):
        settings = replace(TUNED, best=best, check_every=3, max_checks=6)  # type: ignore[arg-type]
        model = toy_model([data["SST-2"].task])
        outcome = Trainer(model, data, settings, tmp_path / best).train()
        scores = [row["SST-2 score"] for row in read_log(tmp_path / best)]
        expected = 6 if best == "last" else 1 + scores.index(max(scores))
        assert outcome.tasks["SST-2"].check == expected
        assert [path.name for path in (tmp_path / best).glob("best-*")] == [f"best-{expected}.safetensors"]


def test_a_tuned_run_that_is_stopped_comes_to_the_same_end(tmp_path: Path) -> None:
    settings = replace(TUNED, save_minutes=0, check_every=9, max_checks=1, accumulate=2, layer_decay=0.9)
    for folder, stops in (("whole", [0]), ("stopped", [7, 0])):
        for stop in stops:
            stoppable(tmp_path / folder, json.dumps(asdict(settings)), "toy", stop)
    weights: list[dict[str, Any]] = []
    for folder in ("whole", "stopped"):
        weights.append(best_weights(tmp_path / folder))
    assert all(torch.equal(values, weights[1][name]) for name, values in weights[0].items())


def test_fine_tuning_has_berts_values() -> None:
    assert (FINE_TUNING.learning_rate, FINE_TUNING.max_checks, FINE_TUNING.warm_up) == (2e-5, 3, 0.1)
    assert (FINE_TUNING.optimizer, FINE_TUNING.schedule, FINE_TUNING.weight_decay) == (
        "adamw",
        "linear",
        0.01,
    )
    assert Settings().optimizer == "adam"
