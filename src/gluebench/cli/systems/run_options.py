"""Options of `gluebench run` that go with some kinds of MODEL only; given with another they are refused."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.cli.common import option
from gluebench.cli.common.output import notices

if TYPE_CHECKING:
    from gluebench.systems.adapters.fine_tuning import Recipe
    from gluebench.systems.adapters.resolve import ModelOptions

_OURS = ("model", "messages", "prompt")
"""Fields of a request that the run sets itself."""


def _json_object(context: click.Context, parameter: click.Parameter, value: str | None) -> dict[str, Any]:
    """Parse a JSON object of fields for requests. Raises BadParameter."""
    if value is None:
        return {}
    try:
        body = json.loads(value)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise click.BadParameter(f'{value!r} is no JSON object, such as {{"seed": 1}}.', context, parameter)
    for name in _OURS:
        if name in body:
            raise click.BadParameter(f"{name} is set by the run; leave it out.", context, parameter)
    return body


_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_TYPES: Mapping[str, Mapping[str, Any]] = {
    "text": {},
    "flag": {"is_flag": True},
    "switch": {"default": None},
    "NAME=VALUE": {"multiple": True, "callback": option.pairs},
    "JSON": {"callback": _json_object},
    "X > 0": {"type": click.FloatRange(min=0, min_open=True), "metavar": "X"},
    "X >= 0": {"type": click.FloatRange(min=0), "metavar": "X"},
    "X to 1": {"type": click.FloatRange(0, 1, min_open=True), "metavar": "X"},
    "file": {"type": _FILE},
    "files": {"type": _FILE, "multiple": True},
    "new folder": {"type": click.Path(file_okay=False, path_type=Path)},
}
"""Types of run_options.tsv, which also has "N >= 0" and choices as "a|b"."""
_COMMAND_LINE = click.core.ParameterSource.COMMANDLINE
_TUNED = ("epochs", "learning_rate", "batch_size", "accumulate", "max_length", "best_on_dev", "begin_with")
"""Options that override a recipe's settings, by their names."""


class _ModelOption(click.Option):
    """An option for some kinds of MODEL only."""

    def __init__(self, *args: Any, kinds: tuple[str, ...], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.kinds = kinds


def _option(flags: str, name: str, kinds: str, type: str, metavar: str, default: str, help: str) -> Any:
    """An option as a row of run_options.tsv describes it."""
    settings = dict(_TYPES.get(type, {}))
    if type.startswith("N >= "):
        settings |= {"type": click.IntRange(min=int(type[5:])), "metavar": "N"}
    elif "|" in type:
        settings["type"] = click.Choice(type.split("|"))
    if metavar:
        settings["metavar"] = metavar
    if default:
        settings["default"] = int(default) if default.isdigit() else default
    if kinds:
        settings |= {"cls": _ModelOption, "kinds": tuple(kinds.split(","))}
    return option.text(*flags.split(), name, help=help, **settings)


with Path(__file__).with_suffix(".tsv").open(encoding="utf-8") as _file:
    _ROWS = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))
model_options = option.together(*(_option(**row) for row in _ROWS))
"""All options of models, passed under the names that `ModelOptions` and `PromptOptions` have for them."""
run_options = option.together(
    option.text(
        "--seeds N,N[,N]",
        callback=option.whole_numbers,
        help="A run for each seed, in OUT-N.zip, and their mean on dev.",
    ),
    option.text(
        "--batch-out FILE",
        cls=_ModelOption,
        kinds=("api",),
        type=click.Path(dir_okay=False, path_type=Path),
        help="api: write the requests for a batch API, and send none.",
    ),
)
"""Those of whole runs only."""


def settings_of(settings: ModelOptions, seed: int) -> ModelOptions:
    """The same with one of several seeds, whose models have a folder of their own."""
    save = settings.save
    if save:
        save = save / f"seed-{seed}"
    return replace(settings, seed=seed, save=save)


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
    if kind(model) in ("api", "causal", "log"):
        from gluebench.systems.adapters.endpoint import BatchWriter
        from gluebench.systems.adapters.openai import PromptOptions

        batch_out = given.get("batch_out")
        if batch_out and given["method"] == "likelihood":
            raise click.UsageError("--batch-out goes with answers in a chat; choose another --answer-by.")
        values_of_prompts = _fields_given(PromptOptions, given)
        values_of_prompts["collect"] = BatchWriter(batch_out) if batch_out else None
        asking = PromptOptions(**values_of_prompts)

    def say(line: str) -> None:
        if leads():
            notices([f"  {line}"])

    values = _fields_given(ModelOptions, given)
    values["recipe"] = recipe
    values["asking"] = asking
    values["precision"] = _precision(given, fine_tunes=recipe is not None)
    values["longest"] = given["max_length"] or 128
    values["counting"] = Progress if leads() else silent
    return ModelOptions(**values, say=say)


def _fields_given(settings: type[Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The options that are called as fields of these settings."""
    return {field.name: given[field.name] for field in fields(settings) if field.name in given}


def _refuse_others(context: click.Context, model: str) -> None:
    for parameter in context.command.params:
        kinds = parameter.kinds if isinstance(parameter, _ModelOption) else (model,)
        source = context.get_parameter_source(parameter.name or "")
        if model not in kinds and source == _COMMAND_LINE:
            shown = {"name": "an encoder's name", "folder": "a trained folder"}
            models = " or ".join(shown.get(other, f"{other}:") for other in kinds)
            raise click.UsageError(f"{parameter.opts[-1]} goes with {models}; leave it out.")
    if model == "hf" and not (context.params["fine_tune"] or context.params["recipe"]):
        for name in _TUNED + ("save",):
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

    recipe = Recipe()
    if given["recipe"]:
        recipe = recipe_called(given["recipe"])
    overrides = {name: given[name] for name in _TUNED if given[name] is not None}
    if overrides.get("begin_with") == "none":
        overrides["begin_with"] = ""
    return recipe._replace(overrides=overrides)
