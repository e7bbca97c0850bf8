"""One row of models from data to a trained system: the work of `gluebench train`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import torch

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import source_file
from gluebench.data.vectors import vector_width
from gluebench.systems.devices import leads
from gluebench.systems.encoders.corpus import Corpus
from gluebench.systems.neural.model import MultiTaskModel
from gluebench.systems.run import Say, quiet
from gluebench.systems.text.embeddings import embedding_matrix
from gluebench.systems.text.ptb import Tokenize, cached_tokenizer
from gluebench.systems.text.vocabulary import Vocabulary, most_frequent
from gluebench.systems.training.data import TaskData
from gluebench.systems.training.engine import engine
from gluebench.systems.training.runs import MakeModel, Runs
from gluebench.systems.training.settings import (
    FINE_TUNING,
    PLAIN_WIDTH,
    PRESETS,
    SEEDS,
    SINGLE,
    SIZES,
    BiLstmSpec,
    Settings,
    Spec,
    TransformerSpec,
)
from gluebench.systems.training.trained import (
    ENCODER,
    TrainedSystem,
    assemble,
    spec_for_card,
    write_model,
    write_trained,
)


@dataclass(frozen=True, slots=True)
class Row:
    """The settings of a row: one model for all tasks, or one for each."""

    spec: Spec
    settings: Settings
    multi: bool = True
    seeds: tuple[int, ...] = SEEDS
    vectors: Path | None = None

    def title(self, tasks: int) -> str:
        """Return the title in a table, given the number of tasks."""
        kind = "Multi-task" if self.multi and tasks > 1 else "Single-task"
        spec = self.spec
        if isinstance(spec, TransformerSpec):
            tuning = {"full": "", "frozen": ", frozen", "lora": f", LoRA of rank {spec.lora_rank}"}
            return f"{kind} {Path(spec.encoder).name}{tuning[spec.tuning]}"
        return f"{kind} BiLSTM{' + attention' if spec.attention else ''}, {spec.hidden} per direction"


def preset(
    name: str,
    *,
    multi: bool,
    vectors: Path | None,
    seeds: Sequence[int] = (),
    spec: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    """Return the row of a preset ("tiny", "small", "paper", "released") with some of its values changed.

    Raises ValueError for invalid values, DataError for vectors that cannot be read.
    """
    width = PLAIN_WIDTH if vectors is None else vector_width(vectors)
    sizes = {**SIZES[name], "width": width, **(spec or {})}
    base = PRESETS[name] if multi else SINGLE.get(name, PRESETS[name])
    chosen = tuple(seeds) or (SEEDS if name in SINGLE else SEEDS[:1])
    return Row(BiLstmSpec(**sizes), replace(base, **(settings or {})), multi, chosen, vectors)


def transformer_row(
    encoder: str,
    *,
    multi: bool,
    seeds: Sequence[int] = (),
    spec: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Row:
    """Return the row of a pre-trained encoder, with BERT's settings but for those changed.

    Raises ValueError for invalid values.
    """
    own = TransformerSpec(encoder, **(spec or {}))
    return Row(own, replace(FINE_TUNING, **(settings or {})), multi, tuple(seeds) or SEEDS[:1])


def train_row(
    row: Row,
    data: Mapping[str, TaskData],
    folder: Path,
    *,
    benchmark: Benchmark,
    data_folder: Path,
    device: str | None = None,
    trackers: Sequence[str] = (),
    say: Say = quiet,
) -> TrainedSystem:
    """Train, or continue training, and write a system that `TrainedSystem` loads.

    The best seed on dev answers: for a multi-task row the run with the best macro-average, for a single-task
    row each task's best run (section 5).
    """
    if not row.multi and (extra := [name for name, task_data in data.items() if task_data.auxiliary]):
        raise ValueError(f"{', '.join(extra)} can join multi-task training only, as a task of its own")
    if isinstance(row.spec, TransformerSpec):
        make_model = _transformer_maker(row, row.spec, folder)
    else:
        make_model = _bilstm_maker(row, row.spec, Corpus(benchmark, data_folder), folder, say)
    runs = Runs(
        make_model,
        row.settings,
        row.seeds,
        make_engine=lambda: engine(row.settings.precision, device),
        about=_facts_for_card(row, benchmark, tasks=len(data)),
        trackers=trackers,
    )
    chosen = runs.best(data, folder, together=row.multi, say=say)
    write_trained(folder, chosen, title=row.title(len(data)))
    system = TrainedSystem(folder, batch_size=row.settings.batch_size)
    if isinstance(row.spec, TransformerSpec) and row.spec.tuning == "lora" and leads():
        system.write_adapters()
    return system


def _home(row: Row, folder: Path, tasks: Sequence[Task]) -> Path:
    """The folder of a model: that of the row, or of its task."""
    return folder if row.multi else folder / quote(tasks[0].name, safe="")


def _transformer_maker(row: Row, spec: TransformerSpec, folder: Path) -> MakeModel:
    """Return a function that makes models of a pre-trained encoder, and keeps what rebuilds them."""
    from gluebench.systems.neural.transformer import pretrained_body, save_configuration

    def make_model(tasks: Sequence[Task]) -> MultiTaskModel:
        body = pretrained_body(spec.encoder, spec)
        home = _home(row, folder, tasks)
        write_model(home, spec, tasks, None)
        if leads() and not body.unchanged:
            save_configuration(body, home / ENCODER)
        return MultiTaskModel(body, tasks, hidden=spec.classifier)

    return make_model


def _bilstm_maker(row: Row, spec: BiLstmSpec, corpus: Corpus, folder: Path, say: Say) -> MakeModel:
    """Return a function that makes the models of a row; words of the same tasks are counted once."""
    known: dict[tuple[str, ...], tuple[Vocabulary, Tokenize]] = {}

    def make_model(tasks: Sequence[Task]) -> MultiTaskModel:
        names = tuple(task.name for task in tasks)
        if names not in known:
            read = corpus.texts(
                tasks, absent=lambda split: say(f"{split} is not there: words of it alone will be unknown")
            )
            texts = list(read)
            tokenize = cached_tokenizer(texts, spec.tokenizer, spec.longest)
            known[names] = most_frequent(map(tokenize, texts), most=spec.most), tokenize
            write_model(_home(row, folder, tasks), spec, tasks, known[names][0])
        (words, tokenize) = known[names]
        seed = torch.initial_seed()
        table = embedding_matrix(
            words, row.vectors, dim=spec.width, oov=spec.oov, seed=seed, lower=spec.lower
        )
        return assemble(spec, tasks, words, table, tokenize=tokenize)

    return make_model


def _facts_for_card(row: Row, benchmark: Benchmark, *, tasks: int) -> dict[str, Any]:
    """Return the row's part of each run's card; files of vectors and encoders by name and content."""
    about = {
        "title": row.title(tasks),
        "benchmark": benchmark.name,
        "multi_task": row.multi,
        "body": spec_for_card(row.spec),
        "vectors": row.vectors and source_file(row.vectors, row.vectors.name)._asdict(),
    }
    if isinstance(row.spec, TransformerSpec) and Path(row.spec.encoder).is_dir():
        paths = sorted(path for path in Path(row.spec.encoder).iterdir() if path.is_file())
        about["encoder"] = {path.name: source_file(path, path.name).sha256 for path in paths}
    return about
