"""`gluebench probe`: a frozen encoder with SentEval's classifier on top, scored and submitted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.encoders import chosen, encoder_options, encoding
from gluebench.cli.options import Form, benchmark_option, output_options, zip_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gluebench.benchmark import Benchmark, Role
    from gluebench.submission import Column
    from gluebench.systems import SentenceEncoder
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.probe.system import ProbedEncoder


@click.command
@click.argument("encoder", metavar="[ENCODER]", required=False)
@click.option(
    "--preset",
    metavar="NAME",
    default="senteval-default",
    show_default=True,
    help="Settings of the classifier: senteval-default, senteval-prototype or paper:ROW.",
)
@click.option(
    "--vectors",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Where vectors are stored, by this command or by encode [the user's cache].",
)
@click.option(
    "--out",
    metavar="ZIP",
    type=click.Path(dir_okay=False),
    callback=zip_name,
    help="Predict the test splits too and write the submission here.",
)
@click.option(
    "--seed", metavar="N", type=click.IntRange(min=0), help="Seed of the classifiers [the preset's]."
)
@click.option(
    "--device", metavar="DEVICE", default="cpu", show_default=True, help="Where to train: cpu, cuda, cuda:1."
)
@encoder_options
@benchmark_option
@output_options
def probe(
    encoder: str | None,
    preset: str,
    vectors: str | None,
    out: str | None,
    seed: int | None,
    device: str,
    options: dict[str, str],
    tasks: tuple[str, ...],
    data: str | None,
    float16: bool,
    batch_size: int,
    benchmark: str,
    form: Form,
) -> None:
    """Train a classifier per task on the vectors of a frozen encoder.

    ENCODER is a name (cbow) or encoder:module:function; it may be left out where the file given as --vectors
    has all sentences. Prints the scores on the dev splits, which also chose the classifiers: those of the
    test splits will be lower.

    \b
    Example:
      gluebench probe cbow -o vectors=glove.840B.300d.txt --preset paper:cbow --data data/ --out cbow.zip
      gluebench probe --vectors mine.npy --data data/ --task RTE
    """
    from gluebench.benchmark import load_benchmark
    from gluebench.data.home import data_folder
    from gluebench.systems.encoders.corpus import Corpus

    suite = load_benchmark(benchmark)
    corpus = Corpus(suite, data_folder(data), chosen(suite, tasks))
    with encoding():
        from gluebench.cli.progress import Progress
        from gluebench.systems.probe.settings import preset_called
        from gluebench.systems.probe.system import ProbedEncoder

        settings = preset_called(preset).seeded(seed)
        made = _encoder(encoder, options, corpus, vectors=vectors)
        system = ProbedEncoder(
            made,
            settings,
            vectors=vectors or _kept(made),
            precision="float16" if float16 else "float32",
            batch_size=batch_size,
            device=_device(device),
            advance=Progress("encoded", "sentences"),
        )
        columns = _answers(system, corpus, roles=("dev", "test") if out else ("dev",))
        _grade(columns["dev"], corpus, form=form, source=f"{made.name}, {settings.name}")
    if out:
        _write(out, columns["test"], suite)


def _encoder(
    name: str | None, options: Mapping[str, str], corpus: Corpus, *, vectors: str | None
) -> SentenceEncoder:
    """The encoder named, or the vectors stored in its place."""
    if name is not None:
        from gluebench.systems.encoders import encoder_called

        return encoder_called(name, options, corpus)
    if vectors is None or options:
        raise click.UsageError("name the ENCODER, or the file that has all vectors: --vectors FILE.")
    from gluebench.systems.probe.stored import StoredEncoder

    return StoredEncoder(Path(vectors))


def _kept(encoder: SentenceEncoder) -> Path:
    """Where the vectors of an encoder are kept from one call to the next."""
    import re
    from hashlib import blake2b

    from gluebench.data.home import data_folder

    words = re.sub(r"[^A-Za-z0-9.]+", "-", encoder.name).strip("-")[:60]
    digest = blake2b(f"{encoder.name} {encoder.dim}".encode(), digest_size=4).hexdigest()
    return data_folder() / "vectors" / f"sentences-{words}-{digest}.npy"


def _device(name: str) -> str:
    import torch

    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise click.UsageError(f"--device {name} cannot be used: {reason}") from None
    return name


def _answers(
    system: ProbedEncoder, corpus: Corpus, *, roles: Sequence[Role]
) -> dict[Role, dict[str, Column]]:
    """Predictions for the splits of each role; every task is fitted once."""
    from gluebench.cli.output import notices
    from gluebench.systems import run

    part = corpus.benchmark._replace(tasks=corpus.tasks)
    found: dict[Role, dict[str, Column]] = {}
    for role in roles:
        asked = _Fitted(system) if found else system
        found[role] = run(asked, part, corpus.folder, role=role, progress=lambda line: notices([line]))
    notices(_trained(system))
    return found


class _Fitted:
    """A system that has learnt: it is asked, not fitted again."""

    def __init__(self, system: ProbedEncoder) -> None:
        self.predict = system.predict


def _trained(system: ProbedEncoder) -> list[str]:
    """Which run was kept, task by task."""
    lines = []
    for name, found in system.probes.items():
        run = found.runs[found.chosen]
        penalty = f"L2 {run.penalty:g}, " if len(found.runs) > 1 else ""
        lines.append(f"{name}: {penalty}{run.epochs} epochs, {run.score:.3f} on dev")
    return lines


def _grade(columns: Mapping[str, Column], corpus: Corpus, *, form: Form, source: str) -> None:
    from gluebench.cli.output import emit, notices
    from gluebench.cli.report_view import report_output
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import grade

    gold = gold_from_data(corpus.folder, corpus.benchmark, role="dev", partial=True)
    report = grade(columns, gold)
    notices(f"warning: {warning}" for warning in report.warnings)
    emit(report_output(report, corpus.benchmark, source=source), form)


def _write(out: str, columns: Mapping[str, Column], benchmark: Benchmark) -> None:
    from gluebench.cli.output import notices
    from gluebench.submission import write_submission

    write_submission(out, columns, benchmark)
    absent = [f"{file.name}.tsv" for file in benchmark.files() if file.name not in columns]
    if absent:
        notices([f"INCOMPLETE: no predictions for {', '.join(absent)}."])
    notices([f"{out}: {len(columns)} file{'s' * (len(columns) != 1)}."])
