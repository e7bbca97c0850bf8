"""One process of several that fine-tune together: python several_tuned.py MODEL FOLDER STOP."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import torch

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.systems.adapters.fine_tuned import CheckpointPerTask
from gluebench.systems.adapters.fine_tuning import Recipe
from gluebench.systems.training.trainer import Trainer

RTE = load_benchmark("glue").task("RTE")
SETTINGS = {"epochs": 3, "batch_size": 8, "accumulate": 3, "learning_rate": 1e-2, "best_on_dev": True}


def examples(count: int) -> list[Example]:
    """Pairs of several lengths, entailed where the second text is red."""
    return [
        Example(
            row,
            {
                "premise": "tom saw the house",
                "hypothesis": " ".join(["red" if row % 2 else "blue"] * (1 + row % 7)),
            },
            "entailment" if row % 2 else "not_entailment",
        )
        for row in range(count)
    ]


def main(model: str, folder: Path, stop: int = 0) -> None:
    """Fine-tune on 37 examples, so the last batch has 5; the leading process dies after update `stop`."""
    torch.set_num_threads(1)
    plain = Trainer._update

    def counted(self: Trainer) -> None:
        plain(self)
        if self._progress.update == stop > 0 and os.environ.get("RANK", "0") == "0":
            os.kill(os.getpid(), signal.SIGKILL)

    Trainer._update = counted  # type: ignore[method-assign]
    system = CheckpointPerTask(model, Recipe(overrides=SETTINGS), folder=folder, keep=True)
    system.fit(RTE, examples(37), examples(9))
    answers = system.predict(RTE, examples(11))
    (folder / f"answers-{os.environ.get('RANK', '0')}.json").write_text(json.dumps(answers))
    system.forget(RTE)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
