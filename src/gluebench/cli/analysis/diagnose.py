"""`gluebench diagnose`: which phenomena, which labels and which directions a system gets wrong."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, draw, emit, notices

if TYPE_CHECKING:
    from gluebench.analysis.diagnostics.diagnosis import Diagnosis
    from gluebench.scoring import Gold


@click.command
@click.argument("subs", metavar="SUB...", nargs=-1, type=click.Path())
@labels_option
@table_option
@option.flag("--table5", help="Print the columns of the paper's Table 5 alone.")
@option.text(
    "--phenomenon NAME",
    help="What one phenomenon is about, how it was answered, and pairs of the sample's that show it.",
)
@option.plot("systems by phenomena as a heat map with intervals")
@option.text(
    "--withhold-below N",
    type=click.IntRange(min=0),
    default=0,
    help="Withhold categories with fewer examples, unless the manifest says that labels are public.",
    show_default=False,
)
@inputs_options("Diagnose what the gold covers")
@option.output
def diagnose(
    subs: tuple[str, ...],
    table5: bool,
    phenomenon: str | None,
    plot: str | None,
    withhold_below: int,
    inputs: Inputs,
    form: Form,
) -> None:
    """Diagnose systems by linguistic phenomenon.

    Scores by phenomenon, domain and direction, which label is taken for which, and whether the two directions
    of a pair agree. Only the files of diagnostic sets are looked at (GLUE: AX.tsv). With --table, systems are
    named, by default all of the table, and diagnosed by its categories.

    \b
    Example:
      gluebench diagnose ours.zip theirs.zip --gold gold/
      gluebench diagnose ours.zip theirs.zip --gold gold/ --table5 --plot phenomena.svg
      gluebench diagnose bert esim --table scores.csv
    """
    from gluebench.analysis import diagnostics
    from gluebench.cli.analysis import diagnose_view as view

    if table5 and phenomenon is not None:
        raise click.UsageError("--table5 and --phenomenon print different tables; give one of them.")
    subs = inputs.systems(subs)
    manifest = inputs.manifest
    if inputs.scored and (table5 or phenomenon is not None):
        raise click.UsageError("--table5 and --phenomenon are of a diagnostic set, not of a table.")
    if not subs:
        raise click.UsageError("Missing argument 'SUB...'.")
    if phenomenon is not None:
        view.category(phenomenon, manifest.diagnostics)  # unknown names are refused before anything is read
    sources = {sub: sub for sub in subs} if inputs.scored else names_of_systems(subs)
    labels = inputs.labels()
    files = None if inputs.scored else labels.categories
    systems = {name: inputs.submission(source, files=files) for name, source in sources.items()}
    diagnosis = diagnostics.diagnose(systems, labels, withhold_below=withhold_below)
    notices(f"warning: {warning}" for warning in diagnosis.warnings)
    if withhold_below:
        notices(_sets_with_public_labels(diagnosis, labels))
    if table5:
        output = view.table5_output(diagnosis, manifest)
    elif phenomenon is not None:
        output = view.phenomenon_output(diagnosis, phenomenon)
    else:
        output = view.diagnosis_output(diagnosis, manifest)
    emit(output, form)
    if plot is not None:
        _draw_sets(diagnosis, Path(plot))


def _draw_sets(diagnosis: Diagnosis, path: Path) -> None:
    """Draw each diagnostic set; the files after the first have the set's name before the suffix."""
    for position, part in enumerate(diagnosis.sets.values()):
        if position == 0:
            draw(part, path)
        else:
            draw(part, path.with_stem(f"{path.stem}-{part.task.name}"))


def names_of_systems(sources: tuple[str, ...]) -> dict[str, str]:
    """A name to show for each submission, to its path: the last part, or all of it where two are alike."""
    if len(set(sources)) < len(sources):
        raise click.UsageError("a submission is named twice; name each once.")
    last_parts = [os.path.basename(os.path.normpath(source)).removesuffix(".zip") for source in sources]
    by_name = {}
    for name, source in zip(last_parts, sources, strict=True):
        if last_parts.count(name) == 1:
            by_name[name] = source
        else:
            by_name[source] = source
    return by_name


def _sets_with_public_labels(diagnosis: Diagnosis, labels: Gold) -> Iterator[str]:
    """A notice for each set with public labels: there --withhold-below has no effect."""
    from gluebench.analysis.diagnostics.diagnosis import withholds

    for name, part in diagnosis.sets.items():
        if not withholds(part.task, labels):
            yield (
                f"{name}: its labels are public (the manifest says `private = false`, or the split is not "
                "test), so nothing is withheld"
            )
