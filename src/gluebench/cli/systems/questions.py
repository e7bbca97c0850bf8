"""`gluebench questions`: a benchmark's questions as tasks of lm-evaluation-harness."""

from __future__ import annotations

from pathlib import Path

import click

from gluebench.benchmark import Benchmark, Role
from gluebench.benchmark.figures import counted
from gluebench.cli.common import option
from gluebench.cli.common.output import notice


@click.command
@option.text(
    "--to DIR", required=True, type=click.Path(file_okay=False, path_type=Path), help="Where to write them."
)
@option.data()
@option.tasks("--tasks", help="These tasks only, and what their models answer.")
@option.split
@option.number("--shots", default=0, help="Training examples shown before each question.")
@option.text("--template NAME", help="Which template [a task's first].")
@option.file("--templates FILE", help="Prompts of your own, a TOML file.")
@option.number("--seed", default=0, help="Of the draw of the shown examples.")
@option.benchmark
def questions(
    to: Path,
    data: Path,
    tasks: tuple[str, ...],
    split: Role,
    shots: int,
    template: str | None,
    templates: str | None,
    seed: int,
    suite: Benchmark,
) -> None:
    """Write a benchmark's questions as tasks of lm-evaluation-harness.

    Each test file becomes a YAML file and its examples, in which the harness chooses an answer by its
    likelihood. `gluebench run log:FOLDER` makes a submission of the samples that it logs.

    \b
    Example:
      gluebench questions --data data/ --tasks RTE,CoLA --split dev --to tasks/
      lm_eval --include_path tasks/ --tasks glue_RTE_dev --log_samples --output_path logs/ --model hf …
      gluebench run log:logs/ --data data/ --tasks RTE --split dev --out gpt2.zip
    """
    from gluebench.systems.harnesses.lm_eval import write_task
    from gluebench.systems.harnesses.questions import questions_of
    from gluebench.systems.run import choose_tasks

    chosen = {task.name for task in choose_tasks(suite, tasks)}
    names = []
    for file in suite.files(split):
        if file.task not in chosen:
            continue
        question_set = questions_of(
            suite,
            file,
            data,
            split,
            shots=shots,
            template=template,
            templates=Path(templates) if templates else None,
            seed=seed,
        )
        write_task(question_set, to)
        names.append(question_set.task_name)
        notice(f"{question_set.task_name}: {counted(len(question_set.examples), 'question')}")
    if not names:
        raise click.UsageError(f"None of these tasks has a {split} split.")
    notice(f"Next: lm_eval --include_path {to} --tasks {','.join(names)} --log_samples --output_path DIR …")
