"""The sentences of a benchmark, as encoders and their stores are given them."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gluebench.benchmark import Benchmark, Task
from gluebench.data import DataError, load_split
from gluebench.data.errors import refuse


class Corpus:
    """Some tasks of a benchmark, or all, with the folder that its data are in."""

    def __init__(self, benchmark: Benchmark, folder: Path, tasks: Sequence[Task] | None = None) -> None:
        self.benchmark = benchmark
        self.folder = folder
        self.tasks = benchmark.tasks if tasks is None else tuple(tasks)
        """Those that will be encoded."""

    def sentences(self) -> Iterator[str]:
        """Every distinct text of the tasks, in the order of the files.

        Raises DataError for what is missing or wrong, all of it, when the rest has been given.
        """
        seen: set[str] = set()
        problems: list[str] = []
        for task in self.tasks:
            for split in task.splits:
                try:
                    yield from self._new(task, split, seen)
                except DataError as error:
                    problems += error.problems
        refuse(list(dict.fromkeys(problems)))

    def there(self) -> Iterator[str]:
        """Yield the sentences of the splits that exist; a missing split fails later, when it is loaded."""
        try:
            yield from self.sentences()
        except DataError:
            return

    def training(self) -> Iterator[str]:
        """Every distinct text of the training splits that are there, of all tasks of the benchmark."""
        seen: set[str] = set()
        for task in self.benchmark.tasks:
            if "train" in task.splits:
                try:
                    yield from self._new(task, "train", seen)
                except DataError:  # missing, or damaged and reported when the task is fitted
                    continue

    def texts(
        self, tasks: Sequence[Task], *, absent: Callable[[str], None] = lambda split: None
    ) -> Iterator[str]:
        """Every text of all splits of some tasks and of those that they answer (AX), as often as it occurs.

        `absent` is called with the task and split that is not there, as "MNLI test_matched".
        """
        names = {task.name for task in tasks}
        answered = [task for task in self.benchmark.tasks if task.predict_with in names]
        for task in (*tasks, *answered):
            for split in task.splits:
                try:
                    examples = load_split(self.folder, self.benchmark, task.name, split)
                except DataError:  # test data need not be there
                    absent(f"{task.name} {split}")
                    continue
                yield from (text for example in examples for text in example.inputs.values())

    def _new(self, task: Task, split: str, seen: set[str]) -> Iterator[str]:
        """Yield the texts of a split that are not in `seen`, and add them to it."""
        for example in load_split(self.folder, self.benchmark, task.name, split):
            for text in example.inputs.values():
                if text not in seen:
                    seen.add(text)
                    yield text
