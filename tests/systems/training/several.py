"""One process of several that train together: python several.py FOLDER SETTINGS-JSON BODY [STOP]."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path

import torch
from systems.training.toy import toy_data, toy_model

from gluebench.systems.training.engine import engine
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trainer import Trainer


class Stopped(Trainer):
    """Stops after its update `stop`."""

    stop: int

    def _update(self) -> None:
        super()._update()
        if self._progress.update == self.stop:
            raise KeyboardInterrupt


def main(folder: Path, settings: str, body: str = "toy", stop: int = 0) -> None:
    torch.set_num_threads(1)
    data = toy_data("SST-2", "STS-B", "MNLI", sizes=[61, 33, 20])
    model = toy_model([each.task for each in data.values()], dropout=0.0, body=body)
    chosen = Settings(**json.loads(settings))
    made = engine(chosen.precision, "cpu")
    kind = type("Stopped", (Stopped,), {"stop": stop}) if stop else Trainer
    with suppress(KeyboardInterrupt):
        kind(model, data, chosen, folder, engine=made).train()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]))
