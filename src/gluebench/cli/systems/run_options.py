"""Options of `gluebench run` that go with some kinds of MODEL only; given with another they are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from gluebench.cli.common.options import number_option, pairs
from gluebench.cli.common.output import notices

if TYPE_CHECKING:
    from gluebench.systems.adapters.resolve import ModelOptions

F = TypeVar("F", bound=Callable[..., Any])
COUNT = click.IntRange(min=1)
PRICE = click.FloatRange(min=0)


class _ModelOption(click.Option):
    """An option that goes with some kinds of MODEL."""

    def __init__(self, *args: Any, kinds: tuple[str, ...], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.kinds = kinds


def _option_for(*kinds: str) -> Callable[..., Callable[[F], F]]:
    return partial(click.option, cls=_ModelOption, kinds=kinds)


_trained = _option_for("encoder", "st", "name", "recipe", "folder", "hf")
_given = _option_for("name", "recipe")
_probed = _option_for("encoder", "st", "name")
_hf = _option_for("hf")
_api = _option_for("api")
_OPTIONS = (
    number_option("--seed", help="Seed of what is trained."),
    _trained("--device", metavar="DEVICE", help="cpu or cuda [a GPU if any]."),
    _given(
        "-o",
        "--option",
        "options",
        metavar="NAME=VALUE",
        multiple=True,
        callback=pairs,
        help="An option of the encoder or recipe; may be repeated.",
    ),
    _probed("--preset", metavar="NAME", help="encoders: settings of the probe [senteval-default]."),
    _hf("--fine-tune", is_flag=True, help="hf: train it on each task first."),
    _hf("--epochs", metavar="N", type=COUNT, default=3, show_default=True, help="hf: of training."),
    _hf(
        "--learning-rate",
        metavar="X",
        type=click.FloatRange(min=0, min_open=True),
        default=2e-5,
        show_default=True,
        help="hf: the highest.",
    ),
    _hf("--batch-size", metavar="N", type=COUNT, default=32, show_default=True, help="hf: in training."),
    _hf(
        "--max-length",
        metavar="N",
        type=click.IntRange(min=8),
        default=128,
        show_default=True,
        help="hf: tokens kept of an example.",
    ),
    _hf(
        "--label",
        "labels",
        metavar="LABEL=WORD",
        multiple=True,
        callback=pairs,
        help="hf: a label of the checkpoint, or TASK:LABEL, as a word of the task; may be repeated.",
    ),
    _api(
        "--shots",
        metavar="N",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="api: training examples shown before each question.",
    ),
    _api("--parse", is_flag=True, help="api: read answers as text; ask for no probabilities."),
    _api("--max-tokens", metavar="N", type=COUNT, default=16, show_default=True, help="api: of an answer."),
    _api(
        "--concurrency",
        metavar="N",
        type=COUNT,
        default=8,
        show_default=True,
        help="api: questions at a time.",
    ),
    _api("--price-in", metavar="X", type=PRICE, help="api: of a million tokens asked."),
    _api("--price-out", metavar="X", type=PRICE, help="api: of a million tokens answered."),
    _api(
        "--key-from",
        metavar="VARIABLE",
        help="api: environment variable with the key to send; none is sent otherwise.",
    ),
    _api(
        "--retries",
        metavar="N",
        type=click.IntRange(min=0),
        default=6,
        show_default=True,
        help="api: how often to ask again.",
    ),
    _api(
        "--timeout",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=120,
        show_default=True,
        help="api: how long to wait for an answer.",
    ),
    _api(
        "--cache",
        metavar="DIR",
        type=click.Path(file_okay=False),
        help="api: where answers are kept [answers/ in the folder of data].",
    ),
)


def model_options(command: F) -> F:
    """All of them, passed under their names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def kind(model: str) -> str:
    """The kind of MODEL: its prefix, "folder", or "name" for an encoder's."""
    prefix, colon, _ = model.partition(":")
    if colon:
        return prefix
    return "folder" if Path(model).is_dir() else "name"


def wishes(context: click.Context, model: str, given: Mapping[str, Any]) -> ModelOptions:
    """The model's options. Raises UsageError for one that does not go with the model."""
    from gluebench.cli.common.progress import Progress
    from gluebench.systems.adapters.resolve import ModelOptions

    _refuse_others(context, kind(model))
    return ModelOptions(
        seed=given["seed"],
        device=given["device"],
        options=given["options"],
        probe=given["preset"],
        fine_tuning=_fine_tuning(given),
        longest=given["max_length"],
        labels=given["labels"],
        asking=_asking(given) if kind(model) == "api" else None,
        key_variable=given["key_from"],
        retries=given["retries"],
        timeout=given["timeout"],
        cache=Path(given["cache"]) if given["cache"] else None,
        counting=Progress,
        say=lambda line: notices([f"  {line}"]),
    )


def _refuse_others(context: click.Context, model: str) -> None:
    for parameter in context.command.params:
        kinds = parameter.kinds if isinstance(parameter, _ModelOption) else (model,)
        source = context.get_parameter_source(parameter.name or "")
        if model not in kinds and source == click.core.ParameterSource.COMMANDLINE:
            shown = {"name": "an encoder's name", "folder": "a trained folder"}
            models = " or ".join(shown.get(other, f"{other}:") for other in kinds)
            raise click.UsageError(f"{parameter.opts[-1]} goes with {models}; leave it out.")
    if model == "hf" and not context.params["fine_tune"]:
        for name in ("epochs", "learning_rate", "batch_size"):
            if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with --fine-tune.")


def _fine_tuning(given: Mapping[str, Any]) -> Any:
    if not given["fine_tune"]:
        return None
    from gluebench.systems.adapters.huggingface import FineTuning

    return FineTuning(given["learning_rate"], given["epochs"], given["batch_size"])


def _asking(given: Mapping[str, Any]) -> Any:
    from gluebench.systems.adapters.openai import PromptOptions

    return PromptOptions(
        shots=given["shots"],
        scored=not given["parse"],
        most_tokens=given["max_tokens"],
        concurrency=given["concurrency"],
        price_in=given["price_in"],
        price_out=given["price_out"],
    )
