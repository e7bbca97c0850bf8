"""Resolve the MODEL that a user names to a system, with all settings that its results depend on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.lookup import did_you_mean
from gluebench.data.home import data_folder
from gluebench.systems.adapters import ModelError, files_digest
from gluebench.systems.devices import device
from gluebench.systems.encoders import ENCODERS, encoder_called
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.options import arguments
from gluebench.systems.protocols import Counting, Predictor, SentenceEncoder, silent
from gluebench.systems.registry import SYSTEMS
from gluebench.systems.run import fit_data, quiet

if TYPE_CHECKING:
    from gluebench.systems.adapters.fine_tuning import Recipe
    from gluebench.systems.adapters.openai import PromptOptions


def file_option(text: str) -> str:
    """An option's value, with size and time appended if it is the path of a file."""
    path = Path(text)
    if not path.is_file():
        return text
    return f"{text} ({path.stat().st_size} bytes, {path.stat().st_mtime_ns})"


TRAINED = "trained.json"
"""The file that marks a folder written by `gluebench train`."""
FORMS: Mapping[str, str] = {
    "system:majority": "a simple system of the package",
    "py:mine:Model": "a class, object or function of a Python module",
    "encoder:mine:encode": "a function from sentences to vectors, with a probe on top",
    "cbow": "an encoder of the package, with a probe on top",
    "recipe:single-bilstm": "a row of the paper's Table 4",
    "runs/multi": "a folder that gluebench train left",
    "hf:NAME-or-folder": "a checkpoint of Hugging Face's, fine-tuned, or to be (--fine-tune)",
    "st:NAME-or-folder": "a model of sentence-transformers, with a probe on top",
    "causal:NAME-or-folder": "a causal language model, asked by the likelihood of each answer",
    "api:MODEL@http://localhost:8000/v1": "a chat model behind an OpenAI-compatible address",
    "log:FILE-or-folder": "answers that inspect_ai or lm-evaluation-harness logged (gluebench questions)",
}
"""An example of each form of MODEL, with its meaning."""


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Everything a user may set for a model beside its name; options that do not apply are refused."""

    seed: int | None = None
    """None for that of the preset or recipe, else 0."""
    device: str | None = None
    """None or auto for a GPU where there is one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of an encoder, or of a recipe."""
    probe: str | None = None
    """Preset of the probe."""
    precision: str = "fp32"
    """fp32, tf32 or bf16: `gluebench.systems.devices.Precision`."""
    recipe: Recipe | None = None
    """To fine-tune a checkpoint by; None to use it as it is."""
    save: Path | None = None
    """Folder for fine-tuned models; None to keep none."""
    longest: int = 128
    labels: Mapping[str, str] = field(default_factory=dict)
    """A checkpoint's label to the task's label word."""
    asking: PromptOptions | None = None
    key_variable: str | None = None
    retries: int = 6
    timeout: float = 120.0
    cache: Path | None = None
    """Folder of answers; None for the one of all projects."""
    counting: Counting = silent
    say: Callable[[str], None] = quiet


class Model(NamedTuple):
    """A system, ready to run."""

    system: Predictor
    identity: Mapping[str, Any]
    """All settings that its results depend on, JSON-ready."""
    sources: Mapping[str, str] = {}
    """Python modules and the digests of their files, to report results of other versions."""
    together: bool = False
    """Whether it learns all tasks jointly, and so needs the data of all before it predicts one."""
    about: str = ""
    """Device, precision and settings, for people."""
    precision: str | None = None
    """Of PyTorch's arithmetic while it runs; None for a model that gluebench runs without PyTorch."""


class _Request(NamedTuple):
    """The arguments of a function in _MAKERS."""

    name: str
    """MODEL; for most forms without its prefix."""
    corpus: Corpus
    folder: Path
    """Of the run: vectors and trained models may be kept there."""
    options: ModelOptions


def resolve(model: str, corpus: Corpus, folder: Path, options: ModelOptions) -> Model:
    """The system that `model` names. Raises ModelError, UnknownNameError, and errors of the model's files.

    `corpus` is the benchmark, its data and the tasks that the system will answer; `folder` that of the run.
    """
    prefix, colon, name = model.partition(":")
    make = _MAKERS.get(prefix, _plain) if colon else _plain
    keeps_prefix = make in (_plain, _encoder)
    resolved = make(_Request(model if keeps_prefix else name, corpus, folder, options))
    return resolved._replace(identity={"model": model, "seed": options.seed, **resolved.identity})


def _plain(request: _Request) -> Model:
    """A folder, or an encoder by its bare name."""
    if Path(request.name).is_dir():
        return _read_trained(request)
    if request.name in ENCODERS:
        return _encoder(request)
    hint = f" Did you mean system:{request.name}?" if request.name in SYSTEMS else ""
    hint = hint or did_you_mean(request.name.partition(":")[0], [*_MAKERS, *ENCODERS])
    width = max(map(len, FORMS))
    forms = "\n".join(f"  {example:<{width}}  {about}" for example, about in FORMS.items())
    raise ModelError(
        f"{request.name!r} is neither a MODEL nor a folder.{hint} MODEL is one of these:\n{forms}"
    )


def _simple(request: _Request) -> Model:
    if request.name not in SYSTEMS:
        raise UnknownNameError(request.name, list(SYSTEMS), what="simple system")
    return Model(SYSTEMS[request.name].make(), {})


def _python(request: _Request) -> Model:
    from gluebench.systems.adapters.python import predictor_at, sources

    return Model(predictor_at(request.name), {}, sources(request.name))


def _encoder(request: _Request) -> Model:
    """An encoder of the package, or `encoder:module:function`."""
    from gluebench.systems.adapters.python import sources

    given = request.options.options
    made = encoder_called(request.name, given, request.corpus)
    identity = {"options": {name: file_option(text) for name, text in given.items()}}
    function = request.name.partition(":")[2]
    modules = sources(function) if function else {}
    return _make_probe(made, request, identity, identity, modules)._replace(sources=modules)


def _sentence_transformers(request: _Request) -> Model:
    from gluebench.systems.adapters.huggingface import SentenceTransformerEncoder

    encoder = SentenceTransformerEncoder(request.name, device=device(request.options.device))
    return _make_probe(encoder, request, {"content": encoder.content})


def _make_probe(
    encoder: SentenceEncoder, request: _Request, identity: Mapping[str, Any], *depends: object
) -> Model:
    """A probe on an encoder; `depends` is what its vectors depend on beside the encoder's content."""
    from gluebench.systems.probe.settings import DEFAULT, preset_called
    from gluebench.systems.probe.store import shared_path
    from gluebench.systems.probe.system import ProbedEncoder

    options = request.options
    preset = preset_called(options.probe or DEFAULT).seeded(options.seed)
    bf16 = ("bf16",) if options.precision == "bf16" else ()
    system = ProbedEncoder(
        encoder,
        preset,
        vectors=shared_path(encoder, *depends, *bf16),
        device=device(options.device),
        arithmetic=options.precision,
        advance=options.counting("encoded", "sentences"),
    )
    settings = {"probe": preset.name, "precision": options.precision}
    about = f"{_device_and_precision(options)}, probe {preset.name}"
    identity = {"encoder": encoder.name, **settings, **identity}
    return Model(system, identity, about=about, precision=options.precision)


def _device_and_precision(options: ModelOptions) -> str:
    return f"device {device(options.device)}, precision {options.precision}"


def _huggingface(request: _Request) -> Model:
    from gluebench.systems.adapters.huggingface import FineTunedCheckpoint

    options = request.options
    shared: dict[str, Any] = {
        "device": device(options.device),
        "precision": options.precision,
        "counting": options.counting,
    }
    identity = {"files": files_digest(request.name), "precision": options.precision}
    if options.recipe is not None:
        return _fine_tuned(request, options.recipe, shared, identity)
    benchmark = request.corpus.benchmark
    names = dict.fromkeys(task.predict_with or task.name for task in request.corpus.tasks)
    tasks = [benchmark.task(name) for name in names]
    system = FineTunedCheckpoint(
        request.name, tasks, labels=options.labels, longest=options.longest, **shared
    )
    settings = {"longest": options.longest, "labels": dict(options.labels)}
    return Model(
        system, {**identity, **settings}, about=_device_and_precision(options), precision=options.precision
    )


def _fine_tuned(
    request: _Request, recipe: Recipe, shared: Mapping[str, Any], identity: Mapping[str, Any]
) -> Model:
    from gluebench.systems.adapters.fine_tuned import CheckpointPerTask, Splits

    options = request.options
    corpus = request.corpus

    def data(name: str) -> Splits:
        return corpus.benchmark.task(name), *fit_data(corpus.benchmark, name, corpus.folder)

    system = CheckpointPerTask(
        request.name,
        recipe,
        folder=options.save or request.folder / "training",
        keep=options.save is not None,
        data=data,
        seed=options.seed or 0,
        say=options.say,
        **shared,
    )
    settings = {task.name: recipe.of(task.name)._asdict() for task in corpus.tasks}
    about = f"{_device_and_precision(options)}, recipe {recipe.name}, seed {options.seed or 0}"
    identity = {**identity, "recipe": recipe.name, "fine_tuning": settings}
    return Model(system, identity, about=about, precision=options.precision)


def _chat(request: _Request) -> Model:
    from gluebench.systems.adapters.endpoint import AnswerCache, Endpoint, read_batch
    from gluebench.systems.adapters.openai import ChatModel, PromptOptions

    name, at, url = request.name.rpartition("@")
    if not (name and at and url):
        raise ModelError(f"api:{request.name}: expected api:MODEL@URL, as api:llama@http://localhost:8000/v1")
    options = request.options
    prompts = request.options.asking or PromptOptions()
    endpoint = Endpoint(
        url,
        key_variable=options.key_variable,
        retries=options.retries,
        timeout=options.timeout,
        connections=prompts.concurrency,
    )
    folder = options.cache or data_folder() / "answers"
    digest = hashlib.sha256(f"{endpoint.base} {name}".encode()).hexdigest()[:8]
    cache = AnswerCache(folder / f"{urlsplit(url).hostname}-{digest}.jsonl")
    for path in prompts.batches:
        kept, failed = read_batch(path, cache)
        options.say(f"{path}: {kept:,} answers, {failed:,} failed requests")
    system = ChatModel(
        name, endpoint, cache, prompts, seed=options.seed, counting=options.counting, say=options.say
    )
    return Model(system, {**prompts.identity(), "templates": _templates(request, prompts)})


def _causal(request: _Request) -> Model:
    from gluebench.systems.adapters.causal import CausalModel
    from gluebench.systems.adapters.openai import PromptOptions

    options = request.options
    prompts = request.options.asking or PromptOptions()
    identity = {"templates": _templates(request, prompts), "files": files_digest(request.name)}
    settings = {name: prompts.identity()[name] for name in ("shots", "template", "chat")}
    system = CausalModel(
        request.name,
        prompts,
        device=device(options.device),
        precision=options.precision,
        seed=options.seed,
        counting=options.counting,
    )
    identity = {**settings, **identity, "precision": options.precision}
    return Model(system, identity, precision=options.precision)


def _read_logs(request: _Request) -> Model:
    from gluebench.systems.harnesses.logs import LoggedAnswers

    place = Path(request.name)
    if not place.exists():
        raise ModelError(f"log:{place}: there is no such file or folder")
    asking = request.options.asking
    system = LoggedAnswers(place, asking.templates if asking else None)
    return Model(system, {"content": system.digest})


def _templates(request: _Request, prompts: PromptOptions) -> str:
    """A digest of the templates of the run's tasks. Raises ModelError if one is missing or invalid."""
    from gluebench.systems.adapters.prompts import template_called

    tasks = [request.corpus.benchmark.task(task.predict_with or task.name) for task in request.corpus.tasks]
    chosen = [template_called(task, prompts.template, prompts.templates) for task in tasks]
    return hashlib.sha256(repr(chosen).encode()).hexdigest()[:16]


def _recipe(request: _Request) -> Model:
    from gluebench.systems.reproduce.build import system as make
    from gluebench.systems.reproduce.row import MissingFilesError, row_called

    options = dict(request.options.options)
    if request.options.precision != "fp32":
        options.setdefault("precision", request.options.precision)
    given = {
        "name": request.name,
        "corpus": request.corpus,
        "folder": request.folder / "training",
        "seeds": () if request.options.seed is None else (request.options.seed,),
        "device": device(request.options.device),
        "say": request.options.say,
    }
    try:
        system = make(**arguments(make, options, owner="a recipe", given=given))
    except MissingFilesError as error:
        raise ModelError(
            str(error).replace("--vectors ", "-o vectors=").replace("--weights ", "-o weights=")
        ) from None
    identity = {"options": {name: file_option(text) for name, text in options.items()}}
    together = row_called(request.name).training == "multi-task"
    tasks = {"tasks": [task.name for task in request.corpus.tasks]} if together else {}
    return Model(system, {**identity, **tasks}, together=together, precision=request.options.precision)


def _read_trained(request: _Request) -> Model:
    from gluebench.systems.training.trained import TrainedSystem

    folder = Path(request.name)
    if not (folder / TRAINED).is_file():
        raise ModelError(
            f"{folder}: is a folder without {TRAINED}, so not one that gluebench train left; "
            f"for a checkpoint say hf:{folder} or st:{folder}"
        )
    system = TrainedSystem(folder, device=device(request.options.device))
    untrained = []
    for task in request.corpus.tasks:
        if task.name not in system.tasks and task.predict_with not in system.tasks:
            untrained.append(task.name)
    if untrained:
        raise ModelError(
            f"{folder}: was not trained for {', '.join(untrained)}; "
            f"name what it was trained for: --tasks {','.join(system.tasks)}"
        )
    return Model(system, {"files": files_digest(request.name)}, precision=request.options.precision)


_MAKERS: Mapping[str, Callable[[_Request], Model]] = {
    "system": _simple,
    "py": _python,
    "encoder": _encoder,
    "recipe": _recipe,
    "hf": _huggingface,
    "st": _sentence_transformers,
    "api": _chat,
    "causal": _causal,
    "log": _read_logs,
}
