"""`gluebench encode` and `gluebench probe`: frozen encoders, and SentEval's classifier on their vectors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import counted
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, command_line, notice

if TYPE_CHECKING:
    from gluebench.systems import SentenceEncoder
    from gluebench.systems.encoders.corpus import Corpus

encoder_options = option.together(
    option.settings("-o", "--option", "options", help="An option of the encoder; may be repeated."),
    option.tasks("--task", "--tasks", "tasks", help="These tasks only; may be repeated."),
    option.data(),
    option.flag("--float16", help="Store vectors at half the size, to three digits."),
    option.number(
        "--batch-size", default=128, least=1, help="Sentences that the encoder is given at a time."
    ),
)
"""Options of both commands: `-o NAME=VALUE`, `--task`, `--data`, `--float16` and `--batch-size`."""


def _corpus(suite: Benchmark, data: Path, tasks: Sequence[str]) -> Corpus:
    """The sentences of the named tasks, and of those that their models answer; of all if none is named."""
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.run import choose_tasks

    return Corpus(suite, data, choose_tasks(suite, tasks))


@click.command
@click.argument("encoder", metavar="ENCODER")
@option.new_file("--out", required=True, help="Where to store them (.npy).")
@option.precision
@encoder_options
@option.benchmark
def encode(
    encoder: str,
    out: str,
    precision: str | None,
    options: dict[str, str],
    tasks: tuple[str, ...],
    data: Path,
    float16: bool,
    batch_size: int,
    suite: Benchmark,
) -> None:
    """Encode every sentence of a benchmark once.

    ENCODER is a name (cbow) or encoder:module:function, a function from a list of sentences to an array with
    a row for each. What is stored stays: after an interruption the same command goes on, and another
    benchmark's sentences can be added to the same file.

    \b
    Example:
      gluebench encode cbow -o vectors=glove.840B.300d.txt --data data/ --out cbow.npy
      gluebench encode encoder:mine:encode --data data/ --task RTE,MRPC --out mine.npy
    """
    from gluebench.cli.common.progress import Progress
    from gluebench.systems.devices import arithmetic, autocast
    from gluebench.systems.encoders import encoder_called
    from gluebench.systems.probe.store import encode_into, store_of

    corpus = _corpus(suite, data, tasks)
    precise = precision or "fp32"
    place = options.get("device", "cpu")
    with autocast(precise, place), arithmetic(precise):
        made: SentenceEncoder = encoder_called(encoder, options, corpus)
        store = store_of(Path(out), made, "float16" if float16 else "float32")
        sentences = list(corpus.sentences())
        new = encode_into(
            store, made, sentences, batch_size=batch_size, advance=Progress("encoded", "sentences")
        )
    click.echo(
        f"{out}: {len(store):,} vectors of {made.dim} numbers by {made.name}; "
        f"{new:,} of {len(sentences):,} sentences were new."
    )


@click.command
@click.argument("encoder", metavar="[ENCODER]", required=False)
@option.text(
    "--preset NAME",
    default="task-metric",
    help="Settings of the classifier: task-metric, senteval-default, senteval-prototype or paper:ROW.",
)
@option.new_file(
    "--vectors", help="Where vectors are stored, by this command or by encode [the user's cache]."
)
@option.zip_file("--out", help="Predict the test splits too and write the submission here.")
@option.number("--seed", help="Seed of the classifiers [the preset's].")
@option.device
@option.precision
@encoder_options
@option.benchmark
@option.output
def probe(
    encoder: str | None,
    preset: str,
    vectors: str | None,
    out: str | None,
    seed: int | None,
    device: str,
    precision: str | None,
    options: dict[str, str],
    tasks: tuple[str, ...],
    data: Path,
    float16: bool,
    batch_size: int,
    suite: Benchmark,
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
    from gluebench.cli.common.progress import Progress
    from gluebench.cli.scoring.grade import print_report
    from gluebench.systems.scores import FILE, keep_scores

    began = time.monotonic()
    corpus = _corpus(suite, data, tasks)
    from gluebench.data.gold import gold_from_data
    from gluebench.scoring import grade
    from gluebench.submission import write_submission
    from gluebench.systems.devices import arithmetic
    from gluebench.systems.devices import device as resolved
    from gluebench.systems.probe.settings import preset_called
    from gluebench.systems.probe.store import shared_path
    from gluebench.systems.probe.system import ProbedEncoder
    from gluebench.systems.run import answer, run

    settings = preset_called(preset).seeded(seed)
    precise = precision or "fp32"
    bf16 = ("bf16",) if precise == "bf16" else ()
    made = _encoder(encoder, options, corpus, vectors=vectors)
    system = ProbedEncoder(
        made,
        settings,
        vectors=vectors or shared_path(made, dict(options), float16, *bf16),
        precision="float16" if float16 else "float32",
        batch_size=batch_size,
        device=resolved(device),
        arithmetic=precise,
        advance=Progress("encoded", "sentences"),
    )
    part = suite._replace(tasks=corpus.tasks)
    files = part.files() if out else ()
    with arithmetic(precise):
        dev = run(system, part, data, role="dev", progress=notice)
        test = {file.name: answer(system, part, file, data, role="test", say=notice).column for file in files}
    for name, fitted in system.probes.items():
        best = fitted.runs[fitted.chosen]
        facts = []
        if len(fitted.runs) > 1:
            facts.append(f"L2 {best.penalty:g}")
        if best.balanced:
            facts.append("classes weighted equally")
        facts += [f"{best.epochs} epochs", f"{best.score:.3f} on dev"]
        notice(f"{name}: {', '.join(facts)}")
    report = grade(dev, gold_from_data(data, suite, role="dev", partial=True))
    name = f"{made.name}, {settings.name}"
    if out:
        kept = Path(out).with_suffix(".run") / FILE
        keep_scores(kept, name, report, seconds=time.monotonic() - began, command=command_line())
    print_report(report, suite, source=name, form=form)
    if out:
        write_submission(out, test, suite)
        absent = [file.path for file in suite.files() if file.name not in test]
        if absent:
            notice(f"INCOMPLETE: no predictions for {', '.join(absent)}.")
        notice(f"{out}: {counted(len(test), 'file')}.")


def _encoder(
    name: str | None, options: Mapping[str, str], corpus: Corpus, *, vectors: str | None
) -> SentenceEncoder:
    """The named encoder, or one that reads stored vectors. Raises UsageError."""
    if name is not None:
        from gluebench.systems.encoders import encoder_called

        return encoder_called(name, options, corpus)
    if vectors is None or options:
        raise click.UsageError("name the ENCODER, or the file that has all vectors: --vectors FILE.")
    from gluebench.systems.probe.store import StoredEncoder

    return StoredEncoder(Path(vectors))
