"""Options of `gluebench run` that go with some kinds of MODEL only; given with another they are refused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.output import notices

if TYPE_CHECKING:
    from gluebench.systems.adapters.resolve import ModelOptions

_PRICE = click.FloatRange(min=0)


class _ModelOption(click.Option):
    """An option for some kinds of MODEL only."""

    def __init__(self, *args: Any, kinds: tuple[str, ...], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.kinds = kinds


def _kinds(*kinds: str) -> dict[str, Any]:
    return {"cls": _ModelOption, "kinds": kinds}


_trained = _kinds("encoder", "st", "name", "recipe", "folder", "hf", "causal")
_given = _kinds("name", "recipe")
_probed = _kinds("encoder", "st", "name")
_hf = _kinds("hf")
_api = _kinds("api")
_prompted = _kinds("api", "causal")
model_options = option.together(
    option.number("--seed", help="Seed of what is trained."),
    click.option("--device", **_trained, metavar="DEVICE", help="cpu or cuda [a GPU if any]."),
    option.settings(
        "-o", "--option", "options", **_given, help="An option of the encoder or recipe; may be repeated."
    ),
    click.option(
        "--preset", **_probed, metavar="NAME", help="encoders: settings of the probe [senteval-default]."
    ),
    option.flag("--fine-tune", **_hf, help="hf: train it on each task first."),
    option.number("--epochs", **_hf, least=1, default=3, help="hf: of training."),
    option.positive("--learning-rate", **_hf, metavar="X", default=2e-5, help="hf: the highest."),
    option.number("--batch-size", **_hf, least=1, default=32, help="hf: in training."),
    option.number("--max-length", **_hf, least=8, default=128, help="hf: tokens kept of an example."),
    option.settings(
        "--label",
        "labels",
        **_hf,
        metavar="LABEL=WORD",
        help="hf: a label of the checkpoint, or TASK:LABEL, as a word of the task; may be repeated.",
    ),
    option.number(
        "--shots", **_prompted, default=0, help="api, causal: training examples shown before each question."
    ),
    click.option(
        "--answer-by",
        **_api,
        type=click.Choice(["first-token", "text", "choice", "likelihood"]),
        default="first-token",
        show_default=True,
        help="api: what chooses a label: the first token's probabilities, the text, a text restricted to the "
        "answers, or each answer's likelihood.",
    ),
    option.file("--templates", **_prompted, help="api, causal: prompts of your own, a TOML file."),
    click.option(
        "--template",
        **_prompted,
        metavar="NAME",
        help="api, causal: which template, or all [a task's first].",
    ),
    option.flag("--chat-template", **_kinds("causal"), help="causal: ask in the form of the model's chats."),
    option.number(
        "--max-tokens", **_api, least=1, default=4096, help="api: of an answer, reasoning included."
    ),
    click.option("--temperature", **_api, metavar="X", type=_PRICE, help="api: [0; 0.7 with --samples]."),
    click.option(
        "--top-p", **_api, metavar="X", type=click.FloatRange(0, 1, min_open=True), help="api: sent as top_p."
    ),
    option.number("--samples", **_api, least=1, default=1, help="api: answers per example, which vote."),
    option.number("--concurrency", **_api, least=1, default=8, help="api: questions at a time."),
    option.new_file("--batch-out", **_api, help="api: write the requests for a batch API, and send none."),
    option.repeated(
        "--batch-in",
        **_api,
        metavar="FILE",
        type=click.Path(exists=True, dir_okay=False),
        help="api: results of a batch API; may be repeated.",
    ),
    click.option("--price-in", **_api, metavar="X", type=_PRICE, help="api: of a million tokens asked."),
    click.option("--price-out", **_api, metavar="X", type=_PRICE, help="api: of a million tokens answered."),
    click.option(
        "--key-from",
        **_api,
        metavar="VARIABLE",
        help="api: environment variable with the key to send; none is sent otherwise.",
    ),
    option.number("--retries", **_api, default=6, help="api: how often to ask again."),
    option.positive(
        "--timeout", **_api, metavar="SECONDS", default=120, help="api: how long to wait for an answer."
    ),
    option.new_folder(
        "--cache", **_api, help="api: where answers are kept [answers/ in the folder of data]."
    ),
)
"""All options of models, passed under their names."""


def kind(model: str) -> str:
    """The kind of MODEL: its prefix, "folder", or "name" for an encoder's."""
    prefix, colon, _ = model.partition(":")
    if colon:
        return prefix
    return "folder" if Path(model).is_dir() else "name"


def chosen_options(context: click.Context, model: str, given: Mapping[str, Any]) -> ModelOptions:
    """The model's options. Raises UsageError for one that does not go with the model."""
    from gluebench.cli.common.progress import Progress
    from gluebench.systems.adapters.resolve import ModelOptions

    _refuse_others(context, kind(model))
    tuning = asking = None
    if given["fine_tune"]:
        from gluebench.systems.adapters.huggingface import FineTuning

        tuning = FineTuning(given["learning_rate"], given["epochs"], given["batch_size"])
    if kind(model) in ("api", "causal"):
        from gluebench.systems.adapters.batch import BatchWriter
        from gluebench.systems.adapters.openai import PromptOptions

        if given["batch_out"] and given["answer_by"] == "likelihood":
            raise click.UsageError("--batch-out goes with answers in a chat; choose another --answer-by.")
        asking = PromptOptions(
            shots=given["shots"],
            method=given["answer_by"],
            templates=Path(given["templates"]) if given["templates"] else None,
            template=given["template"],
            most_tokens=given["max_tokens"],
            temperature=given["temperature"],
            top_p=given["top_p"],
            chat=given["chat_template"],
            collect=BatchWriter(Path(given["batch_out"])) if given["batch_out"] else None,
            batches=tuple(map(Path, given["batch_in"])),
            samples=given["samples"],
            concurrency=given["concurrency"],
            price_in=given["price_in"],
            price_out=given["price_out"],
        )
    return ModelOptions(
        seed=given["seed"],
        device=given["device"],
        options=given["options"],
        probe=given["preset"],
        fine_tuning=tuning,
        longest=given["max_length"],
        labels=given["labels"],
        asking=asking,
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
