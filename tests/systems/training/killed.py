"""Runs that die without warning and are begun again: python killed.py FOLDER BODY UPDATE-MOMENT...

Or by a signal at random moments: python killed.py FOLDER BODY random SIGNAL TIMES; prints for each the update
after which the signal came, the one that was saved (0 if the run has finished), and how it ended when it went
on. `FOLDER/whole` is a run that nothing ended.

Each is killed at its update, "during" the loop or in the middle of writing its state ("state") or its weights
("weights"), and begun again in another process, all in `FOLDER/UPDATE-MOMENT`; prints how each of them ended.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import torch
from systems.training.toy import TOY, toy_data, toy_model

from gluebench.systems.training import checkpoint, trainer
from gluebench.systems.training.settings import Settings

SETTINGS = Settings(**{**asdict(TOY), "save_minutes": 0, "max_checks": 3})


def die(*args: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def arm(update: int, moment: str) -> None:
    """Have the process kill itself when the run is there."""
    plain_update, plain_save = trainer.Trainer._update, checkpoint.replacing
    place = {"update": 0}

    def counted(self: Any) -> None:
        plain_update(self)
        place["update"] = self._progress.update
        if moment == "during" and place["update"] == update:
            die()

    def cut(path: Path) -> AbstractContextManager[BinaryIO]:
        kind = "state" if path.name == checkpoint.STATE else "weights"
        if kind == moment and place["update"] >= update:
            path.with_name(f".{path.name}.part").write_bytes(b"half of it")
            die()
        return plain_save(path)

    trainer.Trainer._update = counted  # type: ignore[method-assign]
    checkpoint.replacing = cut


def main(folder: Path, body: str = "toy") -> None:
    torch.set_num_threads(1)
    data = toy_data("SST-2", "STS-B", "MNLI")
    model = toy_model([each.task for each in data.values()], body=body)
    trainer.Trainer(model, data, SETTINGS, folder).train()


def in_child(folder: Path, body: str, update: int, moment: str) -> int:
    """Minus the signal that ended a process that trains, or its exit code."""
    child = os.fork()
    if not child:
        if update:
            arm(update, moment)
        main(folder, body)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def saved_update(folder: Path) -> int:
    """The update of a run's saved state; 0 if there is none, or no longer."""
    path = folder / checkpoint.STATE
    return checkpoint.load(path)["progress"]["update"] if path.is_file() else 0


def send_signal_after(update: int, number: int, seconds: float) -> None:
    """Have a thread send this process a signal some time after the update, wherever the run then is."""
    reached = threading.Event()
    plain_update = trainer.Trainer._update

    def counted(self: Any) -> None:
        plain_update(self)
        if self._progress.update == update:
            reached.set()

    def wait_and_send() -> None:
        reached.wait()
        time.sleep(seconds)
        os.kill(os.getpid(), number)

    trainer.Trainer._update = counted  # type: ignore[method-assign]
    threading.Thread(target=wait_and_send, daemon=True).start()


def end_at_random(folder: Path, body: str, number: int, times: int) -> None:
    in_child(folder / "whole", body, 0, "-")
    moments = random.Random(number)
    for at in range(times):
        place, update, seconds = folder / str(at), moments.randint(1, 30), moments.uniform(0, 0.02)
        child = os.fork()
        if not child:
            send_signal_after(update, number, seconds)
            main(place, body)
            os._exit(0)
        os.waitpid(child, 0)
        print(at, update, saved_update(place), in_child(place, body, 0, "-"), flush=True)


if __name__ == "__main__":
    import torch._dynamo  # PyTorch's optimizers import it: here once, not in every child

    folder, body, *names = sys.argv[1:]
    if names[0] == "random":
        if body in ("full", "lora"):
            import transformers.models.bert.modeling_bert  # noqa: F401
        end_at_random(Path(folder), body, int(names[1]), int(names[2]))
        sys.exit()
    for name in names:
        update, moment = name.split("-")
        place = Path(folder, name)
        print(name, in_child(place, body, int(update), moment), in_child(place, body, 0, "-"))
