"""One process of several that train together: python several.py FOLDER SETTINGS-JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from systems.training.toy import toy_data, toy_model

from gluebench.systems.training.engine import engine
from gluebench.systems.training.settings import Settings
from gluebench.systems.training.trainer import Trainer


def main(folder: Path, settings: str) -> None:
    torch.set_num_threads(1)
    data = toy_data("SST-2", "STS-B", "MNLI", sizes=[61, 33, 20])
    model = toy_model([each.task for each in data.values()], dropout=0.0)
    chosen = Settings(**json.loads(settings))
    made = engine(chosen.precision, "cpu")
    Trainer(model, data, chosen, folder, engine=made, tensorboard=False).train()
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
