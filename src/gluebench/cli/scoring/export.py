"""`gluebench export`: the scores of a submission in the formats of other sites."""

import re
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from gluebench.benchmark.atomic import write_text
from gluebench.cli.common import option
from gluebench.cli.common.inputs import Inputs, inputs_options, labels_option
from gluebench.cli.common.output import notices
from gluebench.leaderboard.apps.common.fields import EVALUATORS

_deployments = click.Choice(["self_deployed", "externally_managed", "unknown"])
_availabilities = click.Choice(["open_weights", "closed_weights", "unknown"])


@click.command
@click.argument("sub", metavar="SUB", type=click.Path(exists=True))
@labels_option
@option.text("--model ID", required=True, help="The model: developer/model.")
@option.new_folder("--eee", help="Write Every Eval Ever 0.3.0 below DIR/data; needs the next two.")
@option.text("--organization NAME", help="Who evaluated the model.")
@click.option(
    "--relationship",
    type=click.Choice([relation for relation in EVALUATORS if relation]),
    help="Of the organization to the model.",
)
@click.option("--deployment", type=_deployments, default="unknown", help="Who ran it [unknown].")
@click.option("--availability", type=_availabilities, default="unknown", help="Of its weights [unknown].")
@option.new_file("--model-index", help="Write the scores into this model card, new or existing.")
@option.new_file("--eval-results", help="Write a YAML file for .eval_results/ on the hub; needs --dataset.")
@option.text("--dataset ID", help="The benchmark's repository on the hub.")
@option.settings("--task-id", "task_ids", help="A task's identifier there, as RTE=rte; may be repeated.")
@option.text("--source-url URL", default="", help="Where this evaluation is described.")
@inputs_options("Score what the gold covers")
def export(
    sub: str,
    model: str,
    eee: str | None,
    organization: str | None,
    relationship: str | None,
    deployment: str,
    availability: str,
    model_index: str | None,
    eval_results: str | None,
    dataset: str | None,
    task_ids: dict[str, str],
    source_url: str,
    inputs: Inputs,
) -> None:
    """Write the scores of a submission, with their intervals, in standard formats.

    Every Eval Ever also gets a row for each answer to a task whose labels are public, without texts.

    \b
    Example:
      gluebench export a.zip --gold gold/ --model acme/tiny --eee . --organization Acme --relationship other
      gluebench export a.zip --gold gold/ --model acme/tiny --model-index README.md
    """
    from gluebench.scoring import exports as records
    from gluebench.scoring import grade

    if not re.fullmatch(records.MODEL_ID, model):
        raise click.UsageError(f"--model is {model!r}; expected developer/model, such as acme/tiny.")
    if not (eee or model_index or eval_results):
        raise click.UsageError("name what to write: --eee DIR, --model-index FILE or --eval-results FILE.")
    if eee and not (organization and relationship):
        raise click.UsageError("--eee says who evaluated: give --organization and --relationship.")
    if eval_results and not dataset:
        raise click.UsageError("--eval-results needs --dataset, the benchmark's repository on the hub.")
    labels = inputs.labels()
    submission = inputs.submission(sub)
    report = grade(submission, labels)
    notices(f"warning: {warning}" for warning in report.warnings)
    if eee and organization and relationship:
        about = records.Evaluated(
            model, organization, relationship, deployment=deployment, availability=availability
        )
        record = records.aggregate(report, inputs.manifest, about, at=time.time())
        rows = records.instances(record, submission, labels, public=inputs.data is not None)
        notices([f"written: {records.write_records(Path(eee), record, rows)}"])
    if model_index:
        from gluebench.scoring.exports import model_card

        path = Path(model_index)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        try:
            card = model_card(text, report, inputs.manifest, model=model, dataset=dataset or "")
        except ValueError as error:
            raise click.ClickException(f"{path}: {error}") from None
        write_text(path, card)
        notices([f"written: {path}"])
    if eval_results and dataset:
        from gluebench.scoring.exports import eval_results_yaml

        today = datetime.now(UTC).date()
        text = eval_results_yaml(report, dataset=dataset, tasks=task_ids, day=today, source=source_url)
        write_text(Path(eval_results), text)
        notices([f"written: {eval_results}"])
