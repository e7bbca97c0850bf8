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
        problems: list[str] = []
        yield from dict.fromkeys(self._read(self.tasks, lambda _, error: problems.extend(error.problems)))
        refuse(list(dict.fromkeys(problems)))

    def there(self) -> Iterator[str]:
        """Yield the sentences of the splits that exist; a missing split fails later, when it is loaded."""
        return iter(dict.fromkeys(self._read(self.tasks)))

    def training(self) -> Iterator[str]:
        """Every distinct text of the training splits that are there, of all tasks of the benchmark."""
        return iter(dict.fromkeys(self._read(self.benchmark.tasks, only="train")))

    def texts(
        self, tasks: Sequence[Task], *, absent: Callable[[str], None] = lambda split: None
    ) -> Iterator[str]:
        """Every text of all splits of some tasks and of those that they answer (AX), as often as it occurs.

        `absent` is called with the task and split that is not there, as "MNLI test_matched".
        """
        names = {task.name for task in tasks}
        answered = [task for task in self.benchmark.tasks if task.predict_with in names]
        return self._read((*tasks, *answered), lambda split, _: absent(split))

    def _read(
        self,
        tasks: Sequence[Task],
        failed: Callable[[str, DataError], None] = lambda split, error: None,
        *,
        only: str | None = None,
    ) -> Iterator[str]:
        """The texts of the splits of some tasks; `failed` is called with each split that cannot be read."""
        for task in tasks:
            for split in (name for name in task.splits if only in (None, name)):
                try:
                    examples = load_split(self.folder, self.benchmark, task.name, split)
                except DataError as error:
                    failed(f"{task.name} {split}", error)
                    continue
                for example in examples:
                    yield from example.inputs.values()
