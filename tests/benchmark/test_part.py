"""`extends`: a benchmark that is a part of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, ManifestError, load_benchmark

PUBLIC = '[benchmark]\nname = "glue-public"\nextends = "glue"\ntasks = ["SST-2", "AX"]\n'


MINE = """[tasks.Mine]
labels = ["good", "bad"]
metrics = [{ name = "accuracy" }]
splits.test.size = 4
"""


def load(folder: Path, text: str, name: str = "part.toml") -> Benchmark:
    path = folder / name
    path.write_text(text)
    return load_benchmark(path)


def problems(folder: Path, text: str, name: str = "part.toml") -> list[str]:
    with pytest.raises(ManifestError) as raised:
        load(folder, text, name)
    return [problem.removeprefix(f"{folder}/") for problem in raised.value.problems]


def test_the_issues_example(tmp_path: Path) -> None:
    glue, part = load_benchmark("glue"), load(tmp_path, PUBLIC)
    assert part.name == "glue-public"
    assert part.title == "GLUE: SST-2, AX"
    assert part.tasks == (glue.task("SST-2"), glue.task("AX"))
    assert [task.name for task in part.scored] == ["SST-2"]
    assert part.task("AX").predict_with == "MNLI"
    assert [file.name for file in part.files()] == ["SST-2", "AX"]
    assert [file.name for file in part.ignored] == [
        *("CoLA", "MRPC", "STS-B", "QQP", "MNLI-m", "MNLI-mm", "QNLI", "RTE", "WNLI")
    ]


def test_what_a_part_says_of_itself_stands_before_the_parents(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    plain = load(tmp_path, PUBLIC)
    assert (plain.url, plain.citation) == (glue.url, glue.citation)
    assert plain.description == "A part of GLUE, ranked by the mean over SST-2; AX is reported beside it."
    assert plain.notes == ()
    own = load(
        tmp_path,
        PUBLIC + 'title = "T"\ndescription = "D"\nurl = "U"\ncitation = "C"\nnotes = ["N"]\n'
        '[[benchmark.references]]\nname = "Human"\nsource = "us"\nscores = { score = 0.978 }\n',
    )
    assert (own.title, own.description, own.url, own.citation, own.notes) == ("T", "D", "U", "C", ("N",))
    assert own.references[0].scores == {"score": 0.978}


def test_the_parents_average_is_not_a_reference_of_a_part(tmp_path: Path) -> None:
    assert load_benchmark("glue").references
    assert load(tmp_path, PUBLIC).references == ()


def test_tasks_stand_as_listed_and_may_be_named_by_alias(tmp_path: Path) -> None:
    part = load(tmp_path, PUBLIC.replace('["SST-2", "AX"]', '["quora", "diagnostic", "Cola", "mnli", "rte"]'))
    assert [task.name for task in part.tasks] == ["QQP", "AX", "CoLA", "MNLI", "RTE"]
    assert part.title == "GLUE: 4 of 9 tasks"


def test_a_part_of_a_part_found_beside_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    load(tmp_path, PUBLIC, "outer.toml")
    text = '[benchmark]\nname = "one"\nextends = "../outer.toml"\ntasks = ["sst"]\n'
    part = load(tmp_path / "inner", text)
    assert [task.name for task in part.tasks] == ["SST-2"]
    assert [file.name for file in part.ignored][:2] == ["AX", "CoLA"]
    assert len(part.ignored) == 10


def test_a_task_is_added_to_all_of_a_benchmark(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    ten = load(tmp_path, f'[benchmark]\nname = "ten"\nextends = "glue"\n{MINE}')
    assert ten.tasks[:-1] == glue.tasks
    assert [task.name for task in ten.averaged] == [*(task.name for task in glue.averaged), "Mine"]
    assert (ten.title, ten.references, ten.ignored) == ("GLUE and Mine", (), ())
    assert ten.task("RTE").references == glue.task("RTE").references
    assert ten.auxiliary == glue.auxiliary
    assert ten.lineage == ("ten", "glue")


def test_added_tasks_stand_where_they_are_named_or_at_the_end(tmp_path: Path) -> None:
    head = '[benchmark]\nname = "ten"\nextends = "glue"\n'
    first = load(tmp_path, f'{head}tasks = ["Mine", "RTE"]\n{MINE}')
    assert [task.name for task in first.tasks] == ["Mine", "RTE"]
    last = load(tmp_path, f'{head}tasks = ["RTE", "AX"]\n{MINE}')
    assert [task.name for task in last.tasks] == ["RTE", "AX", "Mine"]
    assert last.title == "GLUE: RTE, AX, Mine"
    inner = load(tmp_path, '[benchmark]\nname = "in"\nextends = "./part.toml"\ntasks = ["mine"]\n', "in.toml")
    assert [file.name for file in inner.files()] == ["Mine"]
    assert {file.name for file in inner.ignored} >= {"RTE", "AX", "CoLA"}


def test_an_added_task_is_predicted_with_one_that_is_left_out(tmp_path: Path) -> None:
    text = f'[benchmark]\nname = "ten"\nextends = "glue"\ntasks = ["RTE"]\n{MINE}predict_with = "MNLI"\n'
    assert load(tmp_path, text).task("Mine").predict_with == "MNLI"


MISTAKES = [
    (
        '"SST-2", "AX"',
        '"SST-2", "AX", "SST-3"',
        4,
        "benchmark.tasks[2]",
        "no task of glue is called 'SST-3'. Did you mean SST-2",
    ),
    ('"SST-2", "AX"', '"SST-2", "sst"', 4, "benchmark.tasks[1]", '"sst" is SST-2 again'),
    ('"SST-2", "AX"', '"AX"', 4, "benchmark.tasks", "none of them is scored"),
    ('tasks = ["SST-2", "AX"]\n', "", 1, "benchmark.tasks", "is missing; expected the tasks to keep"),
    ('"SST-2", "AX"', "1", 4, "benchmark.tasks[0]", "is an integer; expected a string"),
    ('extends = "glue"', 'extends = "gleu"', 3, "benchmark.extends", "Did you mean glue or advglue?"),
    ('extends = "glue"', "extends = 1", 3, "benchmark.extends", "is an integer; expected a string"),
    ('extends = "glue"', 'extends = "./part.toml"', 3, "benchmark.extends", "leads back to itself"),
    ('name = "glue-public"', 'name = "glue"', 2, "benchmark.name", "expected a name of its own"),
    ('name = "glue-public"', 'name = "glue public"', 2, "benchmark.name", "letters, digits"),
    ('name = "glue-public"', "", 1, "benchmark.name", "is missing"),
    ('"AX"]\n', '"AX"]\ntitel = "x"\n', 5, "benchmark.titel", "Did you mean title?"),
    ('"AX"]\n', '"AX"]\n[tasks.New]\n', 5, "tasks.New.metrics", "is missing"),
    ('"AX"]\n', f'"AX"]\n{MINE.replace("Mine", "rte")}', 5, "tasks.rte", "here or of glue"),
    ('"AX"]\n', f'"AX"]\n{MINE}aliases = ["MNLI"]\n', 9, "tasks.Mine.aliases[0]", "here or of glue"),
    ('"AX"]\n', f'"AX"]\n{MINE}files = [{{ name = "SST-2" }}]\n', 9, "tasks.Mine.files[0].name", "of glue"),
    ('"AX"]\n', f'"AX"]\n{MINE}predict_with = "RTF"\n', 9, "tasks.Mine.predict_with", "RTF"),
    (
        '"AX"]\n',
        '"AX"]\n[[benchmark.references]]\nname="H"\nsource="s"\nscores={ score = 97.8 }\n',
        8,
        "benchmark.references[0].scores.score",
        "expected a fraction from -1 to 1",
    ),
]


@pytest.mark.parametrize(("there", "instead", "line", "key", "said"), MISTAKES)
def test_a_mistake_is_named_with_its_line_and_key(
    tmp_path: Path, there: str, instead: str, line: int, key: str, said: str
) -> None:
    found = problems(tmp_path, PUBLIC.replace(there, instead, 1))
    assert any(each.startswith(f"part.toml:{line}: {key}: ") and said in each for each in found), found


def test_a_circle_of_manifests_is_refused(tmp_path: Path) -> None:
    text = '[benchmark]\nname = "a"\nextends = "./b.toml"\ntasks = ["x"]\n'
    (tmp_path / "b.toml").write_text(text.replace("b.toml", "a.toml").replace('"a"', '"b"'))
    (problem,) = problems(tmp_path, text, "a.toml")
    assert problem.startswith("./b.toml:3: benchmark.extends: ")
    assert "leads back to itself" in problem


def test_the_mistakes_of_the_parent_come_along(tmp_path: Path) -> None:
    (tmp_path / "parent.toml").write_text('[benchmark]\nname = "p"\nwrong = 1\n')
    text = '[benchmark]\nname = "a"\nextends = "parent.toml"\ntasks = ["x"]\nwrong = 2\n'
    found = problems(tmp_path, text)
    assert [each.split(": ")[:2] for each in found] == [
        ["part.toml:5", "benchmark.wrong"],
        ["parent.toml:1", "tasks"],
        ["parent.toml:3", "benchmark.wrong"],
    ]
