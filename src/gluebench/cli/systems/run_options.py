"""Options of `gluebench run` that go with some kinds of MODEL only; given with another they are refused."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.output import notices

if TYPE_CHECKING:
    from gluebench.systems.adapters.fine_tuning import Recipe
    from gluebench.systems.adapters.resolve import ModelOptions

_PRICE = click.FloatRange(min=0)
_COMMAND_LINE = click.core.ParameterSource.COMMANDLINE
_TUNED = (
    "epochs",
    "learning_rate",
    "batch_size",
    "accumulate",
    "max_length",
    "best_on_dev",
    "begin_with",
)
"""Options that override a recipe's settings, by their names."""


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
    click.option("--device", **_trained, metavar="auto|cpu|cuda[:N]", help="[auto: a GPU if any]."),
    click.option(
        "--precision",
        **_trained,
        type=option.PRECISIONS,
        help="Of a GPU's arithmetic; bf16 on a CPU too [fp32].",
    ),
    option.settings(
        "-o", "--option", "options", **_given, help="An option of the encoder or recipe; may be repeated."
    ),
    click.option(
        "--preset", **_probed, metavar="NAME", help="encoders: settings of the probe [task-metric]."
    ),
    option.flag("--fine-tune", **_hf, help="hf: train it on each task first."),
    click.option(
        "--recipe",
        **_hf,
        metavar="NAME|FILE",
        help="hf: fine-tune by bert, roberta, deberta-v3, modernbert, minilm, lora, or a TOML file.",
    ),
    option.number("--epochs", **_hf, least=1, help="hf: of training [3]."),
    option.positive("--learning-rate", **_hf, metavar="X", help="hf: the highest [2e-5]."),
    option.number("--batch-size", **_hf, least=1, help="hf: in training [32]."),
    option.number(
        "--accumulate", **_hf, least=1, help="hf: parts in which a batch goes through the model [1]."
    ),
    option.number("--max-length", **_hf, least=8, help="hf: tokens kept of an example [128]."),
    click.option("--best-on-dev/--last-epoch", **_hf, default=None, help="hf: which epoch is kept [last]."),
    click.option(
        "--begin-with",
        **_hf,
        metavar="TASK|FOLDER",
        help="hf: begin with the model of this task (MNLI), or with a checkpoint; none for the model itself.",
    ),
    option.new_folder("--save", **_hf, help="hf: keep the fine-tuned models here, with model cards."),
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
run_options = option.together(
    click.option(
        "--seeds",
        metavar="N,N[,N]",
        callback=lambda context, parameter, value: _seeds(value),
        help="A run for each seed, in OUT-N.zip, and their mean on dev.",
    ),
    option.new_file("--batch-out", **_api, help="api: write the requests for a batch API, and send none."),
)
"""Those of whole runs only."""


def _seeds(value: str | None) -> tuple[int, ...]:
    """The seeds that are listed. Raises BadParameter."""
    words = option.listed(value or "")
    if not all(word.isdigit() for word in words) or len(set(words)) != len(words):
        raise click.BadParameter(f"{value!r}; expected different whole numbers, as 1,2,3")
    return tuple(map(int, words))


def settings_of(settings: ModelOptions, seed: int) -> ModelOptions:
    """The same with one of several seeds, whose models have a folder of their own."""
    return replace(settings, seed=seed, save=settings.save / f"seed-{seed}" if settings.save else None)


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
    from gluebench.systems.devices import leads
    from gluebench.systems.protocols import silent

    _refuse_others(context, kind(model))
    recipe = _recipe(given)
    asking = None
    if kind(model) in ("api", "causal"):
        from gluebench.systems.adapters.batch import BatchWriter
        from gluebench.systems.adapters.openai import PromptOptions

        batch_out = given.get("batch_out")
        if batch_out and given["answer_by"] == "likelihood":
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
            collect=BatchWriter(Path(batch_out)) if batch_out else None,
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
        precision=_precision(given, fine_tunes=recipe is not None),
        recipe=recipe,
        save=Path(given["save"]) if given["save"] else None,
        longest=given["max_length"] or 128,
        labels=given["labels"],
        asking=asking,
        key_variable=given["key_from"],
        retries=given["retries"],
        timeout=given["timeout"],
        cache=Path(given["cache"]) if given["cache"] else None,
        counting=Progress if leads() else silent,
        say=lambda line: notices([f"  {line}"] * leads()),
    )


def _refuse_others(context: click.Context, model: str) -> None:
    for parameter in context.command.params:
        kinds = parameter.kinds if isinstance(parameter, _ModelOption) else (model,)
        source = context.get_parameter_source(parameter.name or "")
        if model not in kinds and source == _COMMAND_LINE:
            shown = {"name": "an encoder's name", "folder": "a trained folder"}
            models = " or ".join(shown.get(other, f"{other}:") for other in kinds)
            raise click.UsageError(f"{parameter.opts[-1]} goes with {models}; leave it out.")
    if model == "hf" and not (context.params["fine_tune"] or context.params["recipe"]):
        for name in (*_TUNED, "save"):
            if name != "max_length" and context.get_parameter_source(name) == _COMMAND_LINE:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with --fine-tune or --recipe.")


def _precision(given: Mapping[str, Any], *, fine_tunes: bool) -> str:
    """The precision given, or for fine-tuning that of Accelerate's launcher.

    Raises UsageError for one that is not supported, and for several processes that do not fine-tune.
    """
    from gluebench.systems.devices import launched_precision

    processes = os.environ.get("WORLD_SIZE", "1")
    if not fine_tunes and processes != "1":
        raise click.UsageError(
            f"A launcher started {processes} processes, which work together only with --fine-tune or "
            "--recipe of hf:; start the command without it."
        )
    precision = given["precision"] or (fine_tunes and launched_precision()) or "fp32"
    if precision not in option.PRECISIONS.choices:
        raise click.UsageError(f"The launcher's mixed precision is {precision}; set bf16 there, or no.")
    return str(precision)


def _recipe(given: Mapping[str, Any]) -> Recipe | None:
    """The recipe of fine-tuning with the options that were given beside it; None to train nothing."""
    if not (given["fine_tune"] or given["recipe"]):
        return None
    from gluebench.systems.adapters.fine_tuning import Recipe, recipe_called

    recipe = recipe_called(given["recipe"]) if given["recipe"] else Recipe()
    overrides = {name: given[name] for name in _TUNED if given[name] is not None}
    if overrides.get("begin_with") == "none":
        overrides["begin_with"] = ""
    return recipe._replace(overrides=overrides)
