"""Each task of the packaged benchmarks loads from files in its released shape, with labels.

The files are made here, with the keys and column names that the code of the organizers reads; each release
file names the place. SuperGLUE's WSC is read from its real files in `test_published`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from gluebench import check, grade, write_submission
from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.benchmark import TestFile as File
from gluebench.data import load
from gluebench.data.errors import DataError
from gluebench.data.gold import gold_from_data
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.systems.registry import SYSTEMS
from gluebench.systems.run import run

ROWS = 6
BENCHMARKS = ["advglue", "clue", "klej", "klue", "plue", "russian-superglue", "superglue"]


def small(name: str) -> Benchmark:
    """A packaged benchmark with six examples in each split."""
    benchmark = load_benchmark(name)
    tasks = []
    for task in benchmark.tasks:
        splits = {
            key: split._replace(size=ROWS, ids=IDS.get((name, task.name, key), ()))
            for key, split in task.splits.items()
        }
        files = tuple(
            file._replace(splits={role: splits[split.name] for role, split in file.splits.items()})
            for file in task.files
        )
        tasks.append(task._replace(splits=splits, files=files))
    return benchmark._replace(tasks=tuple(tasks))


BLANKS = tuple(f"#idiom{number:06}#" for number in range(ROWS))
QUERIES = tuple(f"DEV_{number // 2}_QUERY_{number % 2}" for number in range(ROWS))
IDS = {("clue", "ChID", "dev"): BLANKS, ("clue", "CMRC2018", "dev"): QUERIES}


def label(task: Task, row: int) -> Any:
    """A gold answer, as the word or number of a file."""
    if task.words:
        return task.words[row % len(task.words)]
    return 1.0 + row / 2


def objects(task: Task, keys: dict[str, str], **more: Any) -> Callable[[bool], list[dict[str, Any]]]:
    """A function that makes an object for each example, with the inputs under other keys."""

    def make(labeled: bool) -> list[dict[str, Any]]:
        made = []
        for row in range(ROWS):
            values: dict[str, Any] = {keys.get(name, name): f"{name} {row}" for name in task.columns}
            if labeled:
                values[keys.get("label", "label")] = label(task, row)
            made.append(values | more | {"idx": row})
        return made

    return make


def as_lines(values: Sequence[Any]) -> str:
    return "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def multirc(labeled: bool) -> str:
    answers = [{"text": f"answer {n}", "idx": n} | ({"label": n % 2} if labeled else {}) for n in range(2)]
    questions = [{"question": f"why {n}", "answers": answers, "idx": n} for n in range(3)]
    return as_lines([{"idx": 0, "version": 1.1, "passage": {"text": "A passage.", "questions": questions}}])


def record(labeled: bool) -> str:
    passage = {"text": "Ann met Bea.", "entities": [{"start": 0, "end": 2}]}
    answers = [{"start": 0, "end": 2, "text": "Ann"}, {"start": 8, "end": 10, "text": "Bea"}]
    queries = [
        {"query": f"@placeholder {n}", "idx": n} | ({"answers": answers} if labeled else {}) for n in range(3)
    ]
    return as_lines([{"source": "news", "passage": passage, "qas": queries, "idx": n} for n in range(2)])


def winograd(task: Task, labeled: bool) -> str:
    lines = []
    for row in range(ROWS):
        spans = {"span1_index": 0, "span1_text": "Ann", "span2_index": 3, "span2_text": "She"}
        line: dict[str, Any] = {"text": f"Ann ran {row}. She won.", "target": spans, "idx": row}
        word = label(task, row)
        lines.append(
            line | ({"label": word if task.name == "CLUEWSC" else word == "True"} if labeled else {})
        )
    return as_lines(lines)


def squad(id_key: str, names: Sequence[str]) -> str:
    paragraphs = []
    for at in range(0, ROWS, 2):
        questions = [
            {
                id_key: names[row],
                "question": f"why {row}",
                "answers": [{"text": f"so {row}", "answer_start": 0}],
            }
            for row in (at, at + 1)
        ]
        paragraphs.append({"context": f"So {at}.", "qas": questions})
    return json.dumps({"version": "1", "data": [{"title": "t", "paragraphs": paragraphs}]})


def tsv(header: Sequence[str], rows: Iterator[Sequence[object]]) -> str:
    lines = [header, *rows] if header else [*rows]
    return "".join("\t".join(map(str, line)) + "\n" for line in lines)


KLEJ_LABELS = {"CDSC-E": "entailment_judgment", "CDSC-R": "relatedness_score", "PSC": "label", "AR": "rating"}
PLUE_COLUMNS = {
    "MRPC": ["Quality", "#1 ID", "#2 ID", "#1 String", "#2 String"],
    "STS-B": ["index", "genre", "sentence1", "sentence2", "score"],
    "QQP": ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"],
    "MNLI": ["index", "genre", "sentence1", "sentence2", "label1", "gold_label"],
    "QNLI": ["index", "question", "sentence", "label"],
    "RTE": ["index", "sentence1", "sentence2", "label"],
    "WNLI": ["index", "sentence1", "sentence2", "label"],
    "SST-2": ["sentence", "label"],
    "SNLI": ["premise", "hypothesis", "label"],
}
PLUE_BARE = {"CoLA": ["source", "label", "mark", "sentence"], "SciTail": ["premise", "hypothesis", "label"]}


def plue(task: Task, labeled: bool) -> str:
    names = PLUE_COLUMNS.get(task.name) or PLUE_BARE[task.name]
    answers = ("Quality", "score", "is_duplicate", "gold_label", "label")
    hidden = not labeled and task.name != "SciTail"
    if task.name == "CoLA" and not labeled:
        return tsv(["index", "sentence"], ([row, f"text {row}"] for row in range(ROWS)))
    if hidden:
        names = ["index", *(name for name in names if name not in (*answers, "index"))]
    rows = []
    for row in range(ROWS):
        cells: list[object] = []
        for name in names:
            own = label(task, row) if name in answers else f"{name} {row}"
            cells.append(row if name == "index" else own)
        rows.append(cells)
    return tsv(names if task.name in PLUE_COLUMNS or hidden else [], iter(rows))


def klue(task: Task) -> str:
    rows = range(ROWS)
    match task.name:
        case "YNAT":
            return json.dumps([{"guid": f"g{n}", "title": f"t {n}", "label": label(task, n)} for n in rows])
        case "STS":
            scores = [{"label": label(task, n), "real-label": 1.01, "binary-label": 0} for n in rows]
            return json.dumps(
                [{"guid": f"g{n}", "sentence1": "a", "sentence2": "b", "labels": scores[n]} for n in rows]
            )
        case "NLI":
            return json.dumps(
                [
                    {"guid": f"g{n}", "premise": "a", "hypothesis": "b", "gold_label": label(task, n)}
                    for n in rows
                ]
            )
        case "NER":
            return "## a comment\n" + "## g\tAnn\nA\tB-PS\nn\tI-PS\n \tO\nx\tO\n\n" * ROWS
        case "DP":
            return (
                "## a comment\n"
                + "## g\tAnn ran\n1\tAnn\tAnn\tNNP\t2\tNP_SBJ\n2\tran\trun\tVV\t0\tVP\n\n" * ROWS
            )
        case "RE":
            words = {"word": "Ann", "start_idx": 0, "end_idx": 2, "type": "PER"}
            made = {"sentence": "Ann ran.", "subject_entity": words, "object_entity": words, "source": "w"}
            return json.dumps([{"guid": f"g{n}", "label": task.vocabulary[n], **made} for n in rows])
        case "MRC":
            return squad("guid", [f"g{n}" for n in rows])
        case _:
            state = [["a-b-c"], []]
            turns = [{"role": "user", "text": "hi", "state": state[n % 2]} for n in range(ROWS)]
            other = {"role": "sys", "text": "hello", "state": []}
            pairs = [turn for user in turns for turn in (user, other)]
            return json.dumps([{"guid": "g", "domains": ["a"], "dialogue": pairs}])


def clue(task: Task, labeled: bool) -> dict[str, str]:
    """File suffix to content."""
    match task.name:
        case "CLUEWSC":
            return {"": winograd(task, labeled)}
        case "CSL":
            made = objects(task, {"abstract": "abst"}, keyword=["a", "b"])(labeled)
            return {
                "": as_lines(
                    [{key: value for key, value in each.items() if key != "keywords"} for each in made]
                )
            }
        case "CMRC2018" | "CMRC2018 F1":
            return {"": squad("id", QUERIES)}
        case "ChID":
            content = [f"a {blank} b" for blank in BLANKS]
            answers = {blank: at for at, blank in enumerate(BLANKS)}
            line = as_lines([{"content": content, "candidates": [f"c{n}" for n in range(10)]}])
            return {"": line} | ({"_answer": json.dumps(answers)} if labeled else {})
        case "C3":
            asked = [
                {"question": f"q {n}", "choice": ["a", "b"]} | ({"answer": "ab"[n % 2]} if labeled else {})
                for n in range(3)
            ]
            return {"": json.dumps([[["A: hi", "B: ho"], asked, "1-2"]])}
        case "OCNLI":
            made = objects(task, {})(labeled)
            without = [{"sentence1": "x", "sentence2": "y", "label": "-"}] if labeled else []
            return {"": as_lines(without + made)}
        case _:
            return {"": as_lines(objects(task, {}, label_desc="d")(labeled))}


def write(folder: Path, benchmark: Benchmark, task: Task) -> None:
    """Write the files of a task as they are released."""
    release = load_release(benchmark.name).tasks[task.name]
    home = folder / release.folders[0]
    home.mkdir(parents=True, exist_ok=True)
    for name in task.splits:
        labeled = not name.startswith("test") or benchmark.name == "klue"
        files = release.splits[name].files
        if benchmark.name == "clue":
            write_clue(home, task, name, files, clue(task, labeled))
            continue
        match benchmark.name:
            case "advglue":
                text = advglue(task, [split.records for split in release.splits.values()])
            case "klej":
                text = klej(task, labeled)
            case "plue":
                text = plue(task, labeled)
            case "klue":
                text = klue(task)
            case _:
                text = super_glue(task, labeled)
        (home / files[0]).write_text(text)


def advglue(task: Task, keys: Sequence[str]) -> str:
    rows = objects(task, {})(True)
    for row in rows:
        row["label"] = int(row["label"])
    another = [{"premise": "a", "hypothesis": "b", "label": 0, "idx": 0}]
    return json.dumps({"other": another} | dict.fromkeys(keys, rows))


def klej(task: Task, labeled: bool) -> str:
    names = [*task.columns, *([KLEJ_LABELS.get(task.name, "target")] if labeled else [])]
    rows = []
    for row in range(ROWS):
        cells: list[object] = [f"{column} {row}" for column in task.columns]
        rows.append([*cells, label(task, row)] if labeled else cells)
    return tsv(names, iter(rows))


def write_clue(home: Path, task: Task, split: str, files: Sequence[str], contents: dict[str, str]) -> None:
    """Write a split under its released name, with its answers or its other half beside it."""
    named = {"train": ["train.50k.json", "c3-d-train.json"], "dev": ["c3-d-dev.json"]}
    chosen = next((file for file in named.get(split, []) if file in files), files[0])
    for ending, content in contents.items():
        path = home / chosen
        path.with_name(f"{path.stem}{ending}.json").write_text(content)
        if "-d-" in chosen:
            path.with_name(chosen.replace("-d-", "-m-")).write_text(content)
        elif task.name == "C3":
            path.write_text(json.dumps(json.loads(content) * 2))


def super_glue(task: Task, labeled: bool) -> str:
    if task.name in ("MultiRC", "MuSeRC"):
        return multirc(labeled)
    if task.name in ("ReCoRD", "RuCoS"):
        return record(labeled)
    if task.name in ("WSC", "RWSD"):
        return winograd(task, labeled)
    more = {"pair_id": 7} if task.name.startswith("AX-g") else {}
    made = objects(task, {}, **more)(labeled or not task.scored)
    for row in made:
        if task.words[:2] == ("true", "false") and labeled:
            row["label"] = row["label"] == "true"
    return as_lines(made)


TASKS = [(name, task.name) for name in BENCHMARKS for task in load_benchmark(name).tasks]


@pytest.mark.parametrize(("name", "task_name"), TASKS)
def test_a_task_loads_from_its_released_shape(tmp_path: Path, name: str, task_name: str) -> None:
    benchmark = small(name)
    task = benchmark.task(task_name)
    write(tmp_path / "from", benchmark, task)
    prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release(name))
    for split in task.splits:
        table = load(task_name, split, tmp_path / "data", benchmark=benchmark)
        assert len(table) == ROWS
        assert all(text for example in table for text in example.inputs.values())
        if split.startswith(("train", "dev")):
            assert table.labeled
            assert all(example.label is not None for example in table)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_commonest_answer_can_be_graded_on_dev(tmp_path: Path, name: str) -> None:
    """The simplest model on every task with a dev split: the most frequent answer."""
    benchmark = small(name)
    tasks = [task for task in benchmark.tasks if any(split.startswith("dev") for split in task.splits)]
    for task in tasks:
        write(tmp_path / "from", benchmark, task)
        prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release(name))
    gold = gold_from_data(tmp_path / "data", benchmark, partial=True)
    answers = {
        file.name: [commonest(benchmark, file, tmp_path / "data")] * ROWS
        for file in benchmark.files("dev")
        if file.name in gold.columns
    }
    report = grade(answers, gold, intervals=False, benchmark=benchmark)
    scores = {task.name: report.tasks[task.name].score for task in tasks if task.scored}
    assert len(scores) == len([task for task in benchmark.scored if task in tasks])
    assert all(score is not None and score.value >= 0 for score in scores.values())


SYSTEMS_LEARN_FROM = [name for name in BENCHMARKS if name != "advglue"]
"""The benchmarks with training data."""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["majority", "bag-of-words"])
@pytest.mark.parametrize("name", SYSTEMS_LEARN_FROM)
def test_a_simple_system_runs_on_every_task(tmp_path: Path, name: str, system: str) -> None:
    """On each task of labels and numbers, from the released shape to a valid submission."""
    benchmark = small(name)
    tasks = tuple(task for task in benchmark.tasks if task.form in ("labels", "numbers"))
    benchmark = benchmark._replace(tasks=tasks)
    for task in tasks:
        write(tmp_path / "from", benchmark, task)
        prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release(name))
    predictions = run(SYSTEMS[system].make(), benchmark, tmp_path / "data")
    write_submission(tmp_path / "s.zip", predictions, benchmark)
    checked = check(tmp_path / "s.zip", benchmark)
    assert checked.verdict == "valid", checked.problems
    assert {*checked.predictions} == {file.name for file in benchmark.files("test")}
    if system == "majority":
        assert all(len({*column.values}) == 1 for column in checked.predictions.values())


def test_a_task_without_training_data_says_so(tmp_path: Path) -> None:
    benchmark = small("advglue")
    for task in benchmark.tasks:
        write(tmp_path / "from", benchmark, task)
        prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release("advglue"))
    expected = "SST-2 has no training split; run a system that is trained already"
    with pytest.raises(DataError, match=expected):
        run(SYSTEMS["majority"].make(), benchmark, tmp_path / "data")


def commonest(benchmark: Benchmark, file: File, data: Path) -> Any:
    """The most frequent answer of a dev split, as a prediction."""
    task = benchmark.task(file.task)
    labels = load(task.name, file.splits["dev"].name, data, benchmark=benchmark).column("label")
    ((answer, _),) = Counter(labels).most_common(1)
    if task.form == "text" and answer.startswith("["):
        return json.loads(answer)[0]
    if task.form == "probabilities":
        return " ".join("1" if word == answer else "0" for word in task.vocabulary)
    return answer


def test_answers_of_one_question_are_one_group(tmp_path: Path) -> None:
    benchmark = small("superglue")
    task = benchmark.task("MultiRC")
    write(tmp_path / "from", benchmark, task)
    prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release("superglue"))
    table = load("MultiRC", "dev", tmp_path / "data", benchmark=benchmark)
    assert table.column("group") == [0, 0, 1, 1, 2, 2]
    assert table.column("index") == [*range(ROWS)]
    assert table[3].inputs == {"paragraph": "A passage.", "question": "why 1", "answer": "answer 1"}
    gold = gold_from_data(tmp_path / "data", benchmark, partial=True)
    assert gold.metadata["MultiRC"].groups == (0, 0, 1, 1, 2, 2)


def test_several_right_answers_are_one_list(tmp_path: Path) -> None:
    benchmark = small("superglue")
    task = benchmark.task("ReCoRD")
    write(tmp_path / "from", benchmark, task)
    prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release("superglue"))
    assert load("ReCoRD", "dev", tmp_path / "data", benchmark=benchmark)[0].label == '["Ann", "Bea"]'


def test_a_training_split_without_labels_is_refused_with_its_columns(tmp_path: Path) -> None:
    benchmark = small("klej")
    task = benchmark.task("CBD")
    write(tmp_path / "from", benchmark, task)
    path = tmp_path / "from/klej_cbd/train.tsv"
    path.write_text(path.read_text().replace("target", "harmful"))
    with pytest.raises(DataError) as caught:
        prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release("klej"))
    (told,) = caught.value.problems
    assert "the train split has no labels" in told
    assert "other columns are 'harmful'" in told
    assert 'columns = { NAME = "label" }' in told
    assert not (tmp_path / "data/klej/CBD").exists()


def test_rows_without_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    benchmark = small("clue")
    task = benchmark.task("OCNLI")
    write(tmp_path / "from", benchmark, task)
    dataset = prepare_from_folder(tmp_path / "from", tmp_path / "data", benchmark, task, load_release("clue"))
    assert "train: 1 rows whose label is - are left out" in dataset.notes
    assert (
        load("OCNLI", "train", tmp_path / "data", benchmark=benchmark)[0].inputs["sentence1"] == "sentence1 0"
    )
