"""What a callback writes when training ends: the model's answers as a submission, and its dev scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.benchmark.figures import counted
from gluebench.data import DataError, load_split
from gluebench.scoring import Report, Score
from gluebench.scoring.report import score_words
from gluebench.submission import write_submission
from gluebench.systems.adapters.session import RunPlan, Session, lock_folder
from gluebench.systems.protocols import Predictor
from gluebench.systems.run import Say, choose_tasks
from gluebench.systems.scores import FILE, keep_scores


class TrainingResults:
    """The results of one model on its tasks, kept as `gluebench run` keeps them.

    Models of other tasks that are trained with the same `out` add theirs to the submission.
    """

    def __init__(
        self,
        tasks: str | Sequence[str],
        data: str | os.PathLike[str],
        out: str | os.PathLike[str],
        *,
        benchmark: Benchmark | str | os.PathLike[str],
        say: Say = print,
    ) -> None:
        """Name the tasks, the folder of prepared data and the zip to write. Raises UnknownNameError."""
        names = [tasks] if isinstance(tasks, str) else tasks
        suite = load_benchmark(benchmark)
        self._plan = RunPlan(suite, Path(data), choose_tasks(suite, names))
        self._out = Path(out)
        self._say = say
        self.report: Report | None = None
        """The dev scores of all models that wrote to `out`, once training has ended."""

    @property
    def tasks(self) -> list[Task]:
        """The tasks whose training data the model learns from; it answers diagnostic sets as one of these."""
        return [unit.task for unit in self._plan.units()]

    def expect_data(self) -> None:
        """Raise DataError if an example to answer is missing: better before training than after it."""
        for unit in self._plan.units():
            for query in unit.queries:
                split = query.file.splits[query.role].name
                load_split(self._plan.data, self._plan.benchmark, query.file.task, split)

    def write(self, model: Predictor, name: str) -> None:
        """Answer test and dev examples; write the submission and the scores. Raises what the model does."""
        folder = self._out.with_suffix(".run")
        session = Session(folder, self._plan, {"model": "callback"})
        with lock_folder(folder):
            session.claim("give another out")
            session.discard()
            session.run(model)
            columns = session.columns("test")
            write_submission(self._out, columns, self._plan.benchmark)
            self._say(f"{self._out}: {self._parts(len(columns))}")
            self._score(session, name)

    def _parts(self, count: int) -> str:
        """How much of the benchmark the submission has."""
        files = counted(count, "file")
        of_all = len(list(self._plan.benchmark.files("test")))
        if count == of_all:
            return f"{files}, complete"
        return f"{files} of {of_all}; other tasks that are trained with the same out add theirs"

    def _score(self, session: Session, name: str) -> None:
        """Grade the dev answers and keep the scores for `gluebench results`; say it where there are none."""
        try:
            self.report = session.dev_report()
        except DataError as error:
            self._say(f"no dev scores: {error}")
            return
        if self.report is None:
            self._say("no dev scores: none of these tasks has a dev split")
            return
        seconds = sum(result.seconds for result in session.results().values())
        keep_scores(session.folder / FILE, name, self.report, seconds=seconds)
        for metric, score in self._scores():
            self._say(f"{metric}: {score_words(score)}")
        for warning in self.report.warnings:
            self._say(f"warning: {warning}")

    def _scores(self) -> Iterator[tuple[str, Score]]:
        """The dev score of each metric of this model's tasks, named `RTE/accuracy`."""
        for task in self.tasks:
            scored = self.report.tasks.get(task.name) if self.report else None
            for metric, score in scored.metrics.items() if scored else ():
                yield f"{task.name}/{metric}", score

    def figures(self) -> dict[str, float]:
        """The dev scores for a log, as fractions; the ends of the interval are `_low` and `_high`."""
        figures: dict[str, float] = {}
        for name, score in self._scores():
            ends = {"": score.value, "_low": score.low, "_high": score.high}
            for end, value in ends.items():
                if value is not None:
                    figures[name + end] = value
        return figures
