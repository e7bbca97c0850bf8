"""`gluebench diagnose`: which phenomena, which labels and which directions a system gets wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option, table_option
from gluebench.cli.common.output import Form, draw, emit, notices

if TYPE_CHECKING:
    from gluebench.analysis.diagnostics.diagnosis import Diagnosis, SetDiagnosis
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
    subs, manifest = inputs.systems(subs), inputs.manifest
    if inputs.scored and (table5 or phenomenon is not None):
        raise click.UsageError("--table5 and --phenomenon are of a diagnostic set, not of a table.")
    if not subs:
        raise click.UsageError("Missing argument 'SUB...'.")
    if phenomenon is not None:
        view.category(phenomenon, manifest.diagnostics)  # unknown names are refused before anything is read
    sources = dict(zip(subs, subs, strict=True)) if inputs.scored else names(subs)
    labels = inputs.labels()
    files = None if inputs.scored else labels.categories
    systems = {name: inputs.submission(source, files=files) for name, source in sources.items()}
    diagnosis = diagnostics.diagnose(systems, labels, withhold_below=withhold_below)
    notices(f"warning: {warning}" for warning in diagnosis.warnings)
    if withhold_below:
        notices(_public(diagnosis, labels))
    if table5:
        output = view.table5_output(diagnosis, manifest)
    elif phenomenon is not None:
        output = view.phenomenon_output(diagnosis, phenomenon)
    else:
        output = view.diagnosis_output(diagnosis, manifest)
    emit(output, form)
    for place, part in enumerate(diagnosis.sets.values()):
        draw(part, plot and _of_set(plot, part, place))


def names(sources: tuple[str, ...]) -> dict[str, str]:
    """A name to show for each submission, to its path: the last part, or all of it where two are alike."""
    if len(set(sources)) < len(sources):
        raise click.UsageError("a submission is named twice; name each once.")
    last = [os.path.basename(os.path.normpath(source)).removesuffix(".zip") for source in sources]
    return {
        name if last.count(name) == 1 else source: source for name, source in zip(last, sources, strict=True)
    }


def _public(diagnosis: Diagnosis, labels: Gold) -> list[str]:
    """A notice for each set with public labels: there --withhold-below has no effect."""
    from gluebench.analysis.diagnostics.diagnosis import withholds

    return [
        f"{name}: its labels are public (the manifest says `private = false`, or the split is not test), "
        "so nothing is withheld"
        for name, part in diagnosis.sets.items()
        if not withholds(part.task, labels)
    ]


def _of_set(path: str, part: SetDiagnosis, place: int) -> Path:
    """The file of a diagnostic set; those after the first have the set's name before the suffix."""
    to = Path(path)
    return to if place == 0 else to.with_stem(f"{to.stem}-{part.task.name}")
