"""`gluebench encode`: the vectors of a benchmark's sentences, stored for probing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.encoders import chosen, encoder_options, encoding
from gluebench.cli.options import benchmark_option

if TYPE_CHECKING:
    from gluebench.systems import SentenceEncoder


@click.command
@click.argument("encoder", metavar="ENCODER")
@click.option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(dir_okay=False),
    help="Where to store them (.npy).",
)
@encoder_options
@benchmark_option
def encode(
    encoder: str,
    out: str,
    options: dict[str, str],
    tasks: tuple[str, ...],
    data: str | None,
    float16: bool,
    batch_size: int,
    benchmark: str,
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
    from gluebench.benchmark import load_benchmark
    from gluebench.cli.progress import Progress
    from gluebench.data.home import data_folder
    from gluebench.systems.encoders import encoder_called
    from gluebench.systems.encoders.corpus import Corpus
    from gluebench.systems.probe.encode import encode_into, store_of

    suite = load_benchmark(benchmark)
    corpus = Corpus(suite, data_folder(data), chosen(suite, tasks))
    with encoding():
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
