"""From the MODEL that a user names to a system, and to what makes its results differ from another's."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from gluebench.benchmark import UnknownNameError
from gluebench.data.home import data_folder
from gluebench.systems.adapters.errors import ModelError
from gluebench.systems.adapters.marks import device, file_option, files_digest
from gluebench.systems.adapters.progress import Counting, silent
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.protocols import Predictor, SentenceEncoder

if TYPE_CHECKING:
    from gluebench.systems.adapters.huggingface import FineTuning
    from gluebench.systems.adapters.openai import Asking

TRAINED = "trained.json"
"""The file by which a folder is known to be one that `gluebench train` left."""
FORMS: Mapping[str, str] = {
    "system:majority": "a simple system of the package",
    "py:mine:Model": "a class, object or function of a Python module",
    "encoder:mine:encode": "a function from sentences to vectors, with a probe on top",
    "cbow": "an encoder of the package, with a probe on top",
    "recipe:single-bilstm": "a row of the paper's Table 4",
    "runs/multi": "a folder that gluebench train left",
    "hf:NAME-or-folder": "a checkpoint of Hugging Face's, fine-tuned, or to be (--fine-tune)",
    "st:NAME-or-folder": "a model of sentence-transformers, with a probe on top",
    "api:MODEL@http://localhost:8000/v1": "a chat model behind an OpenAI-compatible address",
}
"""What MODEL may be, by example."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """Everything a user may say of a model beside its name. What does not concern it is refused."""

    seed: int | None = None
    """None for that of the preset or recipe, else 0."""
    device: str | None = None
    """None for a GPU where there is one."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Of an encoder, or of a recipe."""
    probe: str | None = None
    """Preset of the probe."""
    fine_tuning: FineTuning | None = None
    longest: int = 128
    labels: Mapping[str, str] = field(default_factory=dict)
    """A checkpoint's labels as the task's words."""
    asking: Asking | None = None
    key_variable: str | None = None
    retries: int = 6
    timeout: float = 120.0
    cache: Path | None = None
    """Folder of answers; None for the one of all projects."""
    counting: Counting = silent
    say: Callable[[str], None] = lambda line: None


class Model(NamedTuple):
    """A system, ready to run."""

    system: Predictor
    identity: Mapping[str, Any]
    """All that makes its results differ from another's, JSON-ready."""
    sources: Mapping[str, str] = {}
    """Python modules and the digests of their files: results made with another are told of."""
    together: bool = False
    """Whether it learns all tasks at once, and so has to be given all of them before it answers one."""


class _Asked(NamedTuple):
    """What a form is made from."""

    name: str
    """MODEL without its prefix."""
    corpus: Corpus
    folder: Path
    """Of the run: vectors and trained models may be kept there."""
    wishes: Wishes


def resolve(model: str, corpus: Corpus, folder: Path, wishes: Wishes) -> Model:
    """The system that `model` names. Raises ModelError, UnknownNameError, and what its own files can cause.

    `corpus` is the benchmark, its data and the tasks it will be asked about; `folder` that of the run.
    """
    prefix, colon, name = model.partition(":")
    if colon and prefix in _MAKERS:
        made = _MAKERS[prefix](_Asked(name, corpus, folder, wishes))
    else:
        made = _plain(_Asked(model, corpus, folder, wishes))
    seed = {"seed": wishes.seed}
    return made._replace(identity={"model": model, **seed, **made.identity})


def forms() -> str:
    """What MODEL may be, a line each."""
    width = max(map(len, FORMS))
    return "\n".join(f"  {example:<{width}}  {about}" for example, about in FORMS.items())


def _plain(asked: _Asked) -> Model:
    """A folder, or an encoder by its bare name."""
    from gluebench.benchmark import closest
    from gluebench.systems.encoders import ENCODERS
    from gluebench.systems.registry import SYSTEMS

    if Path(asked.name).is_dir():
        return _trained(asked)
    if asked.name in ENCODERS:
        return _named_encoder(asked)
    hint = f" Did you mean system:{asked.name}?" if asked.name in SYSTEMS else ""
    close = closest(asked.name.partition(":")[0], [*_MAKERS, *ENCODERS])
    hint = hint or (f" Did you mean {' or '.join(close)}?" if close else "")
    raise ModelError(f"{asked.name!r} is no MODEL, nor a folder.{hint} MODEL is one of these:\n{forms()}")


def _simple(asked: _Asked) -> Model:
    from gluebench.systems.registry import SYSTEMS

    if asked.name not in SYSTEMS:
        raise UnknownNameError(asked.name, list(SYSTEMS), what="simple system")
    return Model(SYSTEMS[asked.name].make(), {})


def _python(asked: _Asked) -> Model:
    from gluebench.systems.adapters.python import predictor_at

    return Model(predictor_at(asked.name), {}, _sources(asked.name))


def _function(asked: _Asked) -> Model:
    """`encoder:module:function`."""
    made = _named_encoder(asked._replace(name=f"encoder:{asked.name}"))
    return made._replace(sources=_sources(asked.name))


def _sources(address: str) -> dict[str, str]:
    from gluebench.systems.adapters.python import source_digest

    module = address.partition(":")[0]
    digest = source_digest(module)
    return {module: digest} if digest else {}


def _named_encoder(asked: _Asked) -> Model:
    from gluebench.systems.encoders import encoder_called

    options = {name: file_option(text) for name, text in asked.wishes.options.items()}
    return _probed(
        encoder_called(asked.name, asked.wishes.options, asked.corpus), asked, {"options": options}
    )


def _sentence_transformers(asked: _Asked) -> Model:
    from gluebench.systems.adapters.sentence_transformers import SentenceTransformerEncoder

    encoder = SentenceTransformerEncoder(asked.name, device=device(asked.wishes.device))
    return _probed(encoder, asked, {"files": files_digest(asked.name)})


def _probed(encoder: SentenceEncoder, asked: _Asked, identity: Mapping[str, Any]) -> Model:
    from gluebench.systems.probe.settings import DEFAULT, preset_called
    from gluebench.systems.probe.system import ProbedEncoder

    preset = preset_called(asked.wishes.probe or DEFAULT).seeded(asked.wishes.seed)
    told = {"encoder": encoder.name, "probe": preset.name, **identity}
    digest = hashlib.sha256(repr(told).encode()).hexdigest()[:8]
    system = ProbedEncoder(
        encoder,
        preset,
        vectors=asked.folder / "vectors" / f"{digest}.npy",
        device=device(asked.wishes.device),
        advance=asked.wishes.counting("encoded", "sentences"),
    )
    return Model(system, told)


def _huggingface(asked: _Asked) -> Model:
    from gluebench.systems.adapters.huggingface import FineTunedCheckpoint, FineTunedHere

    wishes = asked.wishes
    shared: dict[str, Any] = {
        "longest": wishes.longest,
        "device": device(wishes.device),
        "counting": wishes.counting,
    }
    identity = {"files": files_digest(asked.name), "longest": wishes.longest}
    if wishes.fine_tuning is not None:
        tuned = FineTunedHere(asked.name, wishes.fine_tuning, seed=wishes.seed or 0, **shared)
        return Model(tuned, {**identity, "fine_tuning": wishes.fine_tuning._asdict()})
    tasks = list({task.name: task for task in map(_answering(asked.corpus), asked.corpus.tasks)}.values())
    system = FineTunedCheckpoint(asked.name, tasks, labels=wishes.labels, **shared)
    return Model(system, {**identity, "labels": dict(wishes.labels)})


def _answering(corpus: Corpus) -> Callable[[Any], Any]:
    return lambda task: corpus.benchmark.task(task.predict_with) if task.predict_with else task


def _chat(asked: _Asked) -> Model:
    from gluebench.systems.adapters.answer_cache import AnswerCache
    from gluebench.systems.adapters.endpoint import Endpoint
    from gluebench.systems.adapters.openai import Asking, ChatModel

    name, at, url = asked.name.rpartition("@")
    if not (name and at and url):
        raise ModelError(f"api:{asked.name}: expected api:MODEL@URL, as api:llama@http://localhost:8000/v1")
    wishes, asking = asked.wishes, asked.wishes.asking or Asking()
    endpoint = Endpoint(
        url,
        key_variable=wishes.key_variable,
        retries=wishes.retries,
        timeout=wishes.timeout,
        connections=asking.concurrency,
    )
    home = wishes.cache or data_folder() / "answers"
    digest = hashlib.sha256(f"{endpoint.address} {name}".encode()).hexdigest()[:8]
    cache = AnswerCache(home / f"{urlsplit(url).hostname}-{digest}.jsonl")
    system = ChatModel(
        name, endpoint, cache, asking, seed=wishes.seed or 0, counting=wishes.counting, say=wishes.say
    )
    told = {"shots": asking.shots, "scored": asking.scored, "most_tokens": asking.most_tokens}
    return Model(system, told)


def _recipe(asked: _Asked) -> Model:
    from gluebench.systems.rows.build import system as make
    from gluebench.systems.rows.files import CannotBeHadError
    from gluebench.systems.rows.row import row_called

    known = ("preset", "vectors", "weights")
    for name in asked.wishes.options:
        if name not in known:
            raise ModelError(f"a recipe has no option {name!r}; its options: {', '.join(known)}")
    options = dict(asked.wishes.options)
    try:
        system = make(
            asked.name,
            asked.corpus,
            folder=asked.folder / "training",
            seeds=() if asked.wishes.seed is None else (asked.wishes.seed,),
            device=device(asked.wishes.device),
            say=asked.wishes.say,
            **options,
        )
    except CannotBeHadError as error:
        raise ModelError(
            str(error).replace("--vectors ", "-o vectors=").replace("--weights ", "-o weights=")
        ) from None
    told = {"options": {name: file_option(text) for name, text in options.items()}}
    together = row_called(asked.name).training == "multi-task"
    learnt = {"tasks": [task.name for task in asked.corpus.tasks]} if together else {}
    return Model(system, {**told, **learnt}, together=together)


def _trained(asked: _Asked) -> Model:
    from gluebench.systems.training.trained import TrainedSystem

    folder = Path(asked.name)
    if not (folder / TRAINED).is_file():
        raise ModelError(
            f"{folder}: is a folder without {TRAINED}, so not one that gluebench train left; "
            f"for a checkpoint say hf:{folder} or st:{folder}"
        )
    system = TrainedSystem(folder, device=device(asked.wishes.device))
    untrained = [
        task.name
        for task in asked.corpus.tasks
        if task.name not in system.tasks and task.predict_with not in system.tasks
    ]
    if untrained:
        raise ModelError(
            f"{folder}: was not trained for {', '.join(untrained)}; "
            f"name what it was trained for: --tasks {','.join(system.tasks)}"
        )
    return Model(system, {"files": files_digest(asked.name)})


_MAKERS: Mapping[str, Callable[[_Asked], Model]] = {
    "system": _simple,
    "py": _python,
    "encoder": _function,
    "recipe": _recipe,
    "hf": _huggingface,
    "st": _sentence_transformers,
    "api": _chat,
}
