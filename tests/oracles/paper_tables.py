"""The rows of the paper that show its arithmetic: Table 4, Table 6 and Figure 1, as printed (scaled by 100).

Where a task has two numbers they are its two metrics, in the order the paper prints them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

TASKS = ("CoLA", "SST-2", "MRPC", "QQP", "STS-B", "MNLI", "QNLI", "RTE", "WNLI")
"""The columns below, after the system and its printed average."""


class Row(NamedTuple):
    """One system: its printed average and its metrics by task."""

    table: str
    system: str
    average: float
    tasks: dict[str, tuple[float, ...]]


_PRINTED = {
    "Table 4": """
single-task BiLSTM             63.9 15.7 85.9 69.3/79.4 81.7/61.4 66.0/62.8 70.3/70.8 75.7 52.8 65.1
single-task +ELMo              66.4 35.0 90.2 69.0/80.8 85.7/65.6 64.0/60.2 72.9/73.4 71.7 50.1 65.1
single-task +CoVe              64.0 14.5 88.5 73.4/81.4 83.3/59.4 67.2/64.1 64.5/64.8 75.4 53.5 65.1
single-task +Attn              63.9 15.7 85.9 68.5/80.3 83.5/62.9 59.3/55.8 74.2/73.8 77.2 51.9 65.1
single-task +Attn, ELMo        66.5 35.0 90.2 68.8/80.2 86.5/66.1 55.5/52.5 76.9/76.7 76.7 50.4 65.1
single-task +Attn, CoVe        63.2 14.5 88.5 68.6/79.7 84.1/60.1 57.2/53.6 71.6/71.5 74.5 52.7 65.1
multi-task BiLSTM              64.2 11.6 82.8 74.3/81.8 84.2/62.5 70.3/67.8 65.4/66.1 74.6 57.4 65.1
multi-task +ELMo               67.7 32.1 89.3 78.0/84.7 82.6/61.1 67.2/67.9 70.3/67.8 75.5 57.4 65.1
multi-task +CoVe               62.9 18.5 81.9 71.5/78.7 84.9/60.6 64.4/62.7 65.4/65.7 70.8 52.7 65.1
multi-task +Attn               65.6 18.6 83.0 76.2/83.9 82.4/60.1 72.8/70.5 67.6/68.3 74.3 58.4 65.1
multi-task +Attn, ELMo         70.0 33.6 90.4 78.0/84.4 84.3/63.1 74.2/72.3 74.1/74.5 79.8 58.9 65.1
multi-task +Attn, CoVe         63.1 8.3 80.7 71.8/80.0 83.4/60.5 69.8/68.4 68.1/68.6 72.9 56.0 65.1
CBoW                           58.9 0.0 80.0 73.4/81.5 79.1/51.4 61.2/58.7 56.0/56.4 72.1 54.1 65.1
Skip-Thought                   61.3 0.0 81.8 71.7/80.8 82.2/56.4 71.8/69.7 62.9/62.8 72.9 53.1 65.1
InferSent                      63.9 4.5 85.1 74.1/81.2 81.7/59.1 75.9/75.3 66.1/65.7 72.7 58.0 65.1
DisSent                        62.0 4.9 83.7 74.1/81.7 82.6/59.5 66.1/64.8 58.7/59.1 73.9 56.4 65.1
GenSen                         66.2 7.7 83.1 76.6/83.0 82.9/59.8 79.3/79.2 71.4/71.3 78.6 59.2 65.1
""",
    "Table 6": """
single-task BiLSTM             66.7 17.6 87.5 77.9/85.1 85.3/82.0 71.6/72.0 66.7 77.0 58.5 56.3
single-task +ELMo              68.7 44.1 91.5 70.8/82.3 88.0/84.3 70.3/70.5 68.6 71.2 53.4 56.3
single-task +CoVe              66.8 25.1 89.2 76.5/83.4 86.2/81.8 70.7/70.8 62.4 74.4 59.6 54.9
single-task +Attn              66.9 17.6 87.5 72.8/82.9 87.7/83.9 66.6/66.7 70.0 77.2 58.5 60.6
single-task +Attn, ELMo        67.9 44.1 91.5 71.1/82.1 87.8/83.6 57.9/56.1 72.4 75.2 52.7 56.3
single-task +Attn, CoVe        65.6 25.1 89.2 72.8/82.4 86.1/81.3 59.4/58.0 67.9 72.5 58.1 57.7
multi-task BiLSTM              60.0 18.6 82.3 75.0/82.7 84.4/79.3 69.0/66.9 65.6 74.9 59.9 9.9
multi-task +ELMo               63.1 26.4 90.9 80.2/86.7 84.2/79.7 72.9/71.5 67.4 76.0 55.6 14.1
multi-task +CoVe               59.3 9.8 82.0 73.8/81.0 83.4/76.6 64.5/61.9 65.5 70.4 52.7 32.4
multi-task +Attn               60.5 15.2 83.1 77.5/85.1 82.6/77.2 72.4/70.5 68.0 73.7 61.7 9.9
multi-task +Attn, ELMo         67.3 36.7 91.1 80.6/86.6 84.6/79.6 74.4/72.9 74.6 80.4 61.4 22.5
multi-task +Attn, CoVe         61.4 17.4 82.1 71.3/80.1 83.4/77.7 68.6/66.7 68.2 73.2 58.5 29.6
CBoW                           61.4 4.6 79.5 75.0/83.7 75.0/65.5 70.6/71.1 57.1 62.5 71.9 56.3
Skip-Thought                   61.8 0.0 82.0 76.2/84.3 78.9/70.7 74.8/74.8 63.4 58.5 73.4 49.3
InferSent                      65.7 8.6 83.9 76.5/84.1 81.7/75.9 80.2/80.4 67.8 63.5 71.5 56.3
DisSent                        63.8 11.7 82.5 77.0/84.4 81.8/75.6 68.9/69.0 61.2 59.9 73.9 56.3
GenSen                         67.8 10.3 87.2 80.4/86.2 82.6/76.6 81.3/81.8 71.4 62.5 78.4 56.3
""",
    "Figure 1": """
BILSTM+ELMo+Attn               68.9 18.9 91.6 77.3/83.5 83.5/63.3 72.8/71.1 75.6/75.9 81.7 61.2 65.1
GenSen                         66.6 7.7 83.1 76.6/83.0 82.9/59.8 79.3/79.2 71.4/71.3 82.3 59.2 65.1
Single Task BILSTM+ELMo        66.2 35.0 90.2 69.0/80.8 85.7/65.6 64.0/60.2 72.9/73.4 69.4 50.1 65.1
BILSTM+Attn                    65.7 0.0 85.0 75.1/83.7 84.3/63.6 73.9/71.8 72.2/72.1 82.1 61.7 63.7
BILSTM+ELMo                    64.9 27.5 89.6 76.2/83.5 78.5/57.8 67.0/65.9 67.1/68.0 66.7 55.7 62.3
Single Task BILSTM+ELMo+Attn   64.8 35.0 90.2 68.8/80.2 86.5/66.1 55.5/52.5 76.9/76.7 61.1 50.3 65.1
InferSent                      64.7 4.5 85.1 74.1/81.2 81.7/59.1 75.9/75.3 66.1/65.7 79.8 58.0 65.1
BILSTM+CoVe+Attn               64.3 19.4 83.6 75.2/83.0 84.9/61.1 72.3/71.1 69.9/68.7 78.9 38.3 65.1
BILSTM                         63.5 24.0 85.8 71.9/82.1 80.2/59.1 68.8/67.0 65.8/66.0 71.1 46.8 63.7
Single Task BILSTM+CoVe        62.4 14.5 88.5 73.4/81.4 83.3/59.4 67.2/64.1 64.5/64.8 64.8 53.5 61.6
BILSTM+CoVe                    62.2 16.2 84.3 71.8/80.0 82.0/59.1 68.0/67.1 65.3/65.9 70.4 44.2 65.1
DisSent                        62.1 4.9 83.7 74.1/81.7 82.6/59.5 66.1/64.8 58.7/59.1 75.2 56.4 65.1
Single Task BILSTM             62.0 15.7 85.9 69.3/79.4 81.7/61.4 66.0/62.8 70.3/70.8 60.8 52.8 62.3
Skip-Thought                   61.5 0.0 81.8 71.7/80.8 82.2/56.4 71.8/69.7 62.9/62.8 74.7 53.1 65.1
Single Task BILSTM+CoVe+Attn   60.8 14.5 88.5 68.6/79.7 84.1/60.1 57.2/53.6 71.6/71.5 53.8 52.7 64.4
Single Task BILSTM+Attn        60.0 15.7 85.9 68.5/80.3 83.5/62.9 59.3/55.8 74.2/73.8 51.9 51.9 55.5
CBOW                           58.9 0.0 80.0 73.4/81.5 79.1/51.4 61.2/58.7 56.0/56.4 75.1 54.1 62.3
""",
}


def _rows() -> Iterator[Row]:
    for table, text in _PRINTED.items():
        for line in text.strip().splitlines():
            system, numbers = line[:29].strip(), line[29:]
            average, *tasks = numbers.split()
            metrics = [tuple(map(float, each.split("/"))) for each in tasks]
            yield Row(table, system, float(average), dict(zip(TASKS, metrics, strict=True)))


ROWS = list(_rows())
EXCEPTIONS = {
    ("Table 4", "single-task BiLSTM"): 64.006,
    ("Table 4", "single-task +Attn, ELMo"): 66.556,
    ("Table 4", "DisSent"): 61.922,
    ("Table 6", "single-task +CoVe"): 66.700,
}
"""The mean of the printed scores where it does not round to the printed average (63.9, 66.5, 62.0, 66.8)."""
