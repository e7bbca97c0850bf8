"""Tests of what an answer that a system could not give counts as, on dev."""

from array import array

from gluebench.benchmark import load_benchmark
from gluebench.scoring import grade, read_gold
from gluebench.submission import Column
from gluebench.systems.adapters.dev_scores import grade_answers, with_wrong
from gluebench.systems.run import FileAnswers

SAMPLE = load_benchmark("sample")


def test_a_score_that_was_not_given_stays_the_mean_as_in_the_submission():
    size = SAMPLE.file("STS-B").size("dev")
    right = [row % 11 / 2 for row in range(size)]
    gold = read_gold({"STS-B": right}, SAMPLE, role="dev")
    given = [2.5 if row < 5 else score for row, score in enumerate(right)]
    answered = FileAnswers(Column((), array("d", given)), tuple(range(5)))
    assert list(with_wrong({"STS-B": answered}, gold)["STS-B"].numbers) == given
    report = grade_answers({"STS-B": answered}, gold)
    assert report.tasks == grade({"STS-B": given}, gold).tasks
    (warning,) = [line for line in report.warnings if "not understood" in line]
    assert warning.startswith(f"counted as the mean: STS-B 5 of {size} answers")


def test_a_label_that_was_not_given_is_never_the_right_one():
    words = SAMPLE.task("RTE").words
    size = SAMPLE.file("RTE").size("dev")
    right = [words[row % 2] for row in range(size)]
    gold = read_gold({"RTE": right}, SAMPLE, role="dev")
    answered = FileAnswers(Column(words, bytes(row % 2 for row in range(size))), (0, 1))
    predicted = with_wrong({"RTE": answered}, gold)["RTE"].words()
    assert predicted[:2] == [words[1], words[0]]
    assert predicted[2:] == right[2:]
