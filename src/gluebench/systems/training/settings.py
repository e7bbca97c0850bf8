"""Every option of a model and its training, with the paper's value and that of its released code.

The defaults are the values on which both agree; where they differ, docs/how-to/training.md gives the reason
for the choice. `PAPER` has the text's values, `RELEASED` the code's; section numbers are the paper's.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from gluebench.systems.options import parse_option

SEEDS = (111, 222, 333)
"""The three runs of each row of Table 4."""


def _refuse_wrong(options: Any, *, positive: Iterable[str], factors: Iterable[str]) -> None:
    """Raise ValueError for options that are none of their choices, not above 0, or not factors below 1."""
    kinds = get_type_hints(type(options))
    values = {name: getattr(options, name) for name in kinds}
    problems = []
    for name, kind in kinds.items():
        if get_origin(kind) is Literal and values[name] not in get_args(kind):
            problems.append(f"{name} is {values[name]!r}; expected one of {', '.join(get_args(kind))}")
    for name in positive:
        if values[name] is not None and not values[name] > 0:
            also = ", or none" if type(None) in get_args(kinds[name]) else ""
            problems.append(f"{name} is {values[name]!r}; expected a number above 0{also}")
    for name in factors:
        if not 0 <= values[name] < 1:
            problems.append(f"{name} is {values[name]!r}; expected a factor below 1")
    if problems:
        raise ValueError("; ".join(problems))


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of one training run. Raises ValueError for an invalid value."""

    learning_rate: float = 1e-4
    """Section 5 and the final code: 1e-4; B.2 and the code before 28 January 2019: 1e-3."""
    minimum_learning_rate: float = 1e-6
    """Training ends when the rate is lower. Paper: 1e-5; final code: 1e-6, as many decays from 1e-4."""
    decay: float = 0.2
    """Factor of the learning rate at a check without improvement (section 5: divided by 5)."""
    patience: int = 0
    """Checks without improvement that are tolerated before the learning rate decays; 0 in the code."""
    schedule: Literal["plateau", "linear"] = "plateau"
    """Decay at checks without improvement, or a linear rise and fall over the run (BERT)."""
    warm_up: float = 0.1
    """Linear: share of the updates over which the rate rises; from 1, the number of these updates."""
    optimizer: Literal["adam", "adamw"] = "adam"
    """AdamW (Loshchilov and Hutter 2019) is what pre-trained encoders are tuned with."""
    l2: float = 1e-5
    """Adam's L2 penalty, added to the gradient; a constant in the code, not in the paper."""
    weight_decay: float = 0.01
    """AdamW's, of all but biases and scales of normalization."""
    beta2: float = 0.999
    """AdamW's decay rate of the second moment."""
    layer_decay: float = 1.0
    """AdamW: factor of the learning rate from each layer of an encoder to the one below it."""
    clip: float = 5.0
    """Largest norm of the gradient of all parameters, after the loss was scaled; 5 in the code."""
    batch_size: int = 128
    """Examples in an update (section 5)."""
    accumulate: int = 1
    """Parts in which a batch goes through the model, to save memory; their gradients add up."""
    check_every: int | None = 10_000
    """Updates between checks on dev (section 5: 10k); None: one pass over the training data."""
    max_checks: int = 50
    """Maximum number of checks; always 50 in the code, whatever its option."""
    stop_rule: Literal["textbook", "original", "none"] = "textbook"
    """When scores, not only the learning rate, end a run (`gluebench.systems.training.progress`)."""
    stop_after: int = 5
    """Checks without improvement that end a run (section 5)."""
    sampling: Literal["batches", "examples", "square-root", "temperature", "uniform", "annealed"] = "batches"
    """How often a task is drawn (`gluebench.systems.training.sampling`). Paper: examples; code: batches."""
    temperature: float = 1.0
    """With "temperature": 1 is as "examples", 2 as "square-root", a large one nearly uniform."""
    size_limit: int | None = None
    """Examples of a task that count in sampling, at most (the K of T5)."""
    drawn_at_once: int = 10_000
    """Number of tasks drawn at a time, with replacement."""
    scaling: Literal["batches", "examples", "none"] = "batches"
    """A task's loss is multiplied by the largest task's number of these over its own."""
    idle_heads: Literal["keep", "decay"] = "keep"
    """Heads of other tasks in an update: unchanged, or updated by Adam's momentum and penalty alone.

    "decay" is what the code did under PyTorch 0.4, which set gradients to zero, not to None.
    """
    validation: Literal["manifest", "pooled"] = "manifest"
    """A task's dev score: the mean of its metrics as on the board, or the code's: a task's dev files pooled
    (MNLI), and a task of scores by its first metric alone (STS-B: Pearson)."""
    count_auxiliary: bool = False
    """Whether auxiliary tasks (SNLI) count in the macro-average that controls the run. Code: yes."""
    best: Literal["macro", "task", "last"] = "macro"
    """Which weights are kept: of the best macro-average, for each task of its own best check, or the last."""
    bucketed: bool = True
    """Whether batches hold examples of similar length; the code only shuffled. A pass has every example."""
    precision: Literal["fp32", "tf32", "bf16", "fp16"] = "fp32"
    """As in `gluebench.systems.devices`; fp16 needs Accelerate."""
    seed: int = SEEDS[0]
    """Seed of the weights, the order of tasks and batches, and dropout."""
    save_minutes: float = 5.0
    """Minutes between saved states, in addition to those at each check and at SIGINT or SIGTERM."""

    def __post_init__(self) -> None:
        counts = (
            "batch_size",
            "accumulate",
            "max_checks",
            "stop_after",
            "drawn_at_once",
            "check_every",
            "size_limit",
        )
        _refuse_wrong(
            self,
            positive=("learning_rate", "decay", "layer_decay", "temperature", *counts),
            factors=("decay",),
        )


PAPER = Settings(minimum_learning_rate=1e-5, sampling="examples", scaling="examples", bucketed=False)
"""What the paper's text says of multi-task training (section 5, B.2)."""
RELEASED = Settings(
    stop_rule="original", idle_heads="decay", validation="pooled", count_auxiliary=True, bucketed=False
)
"""What the released code ran for the multi-task rows of Table 4."""
SINGLE: Mapping[str, Settings] = {
    "paper": replace(PAPER, check_every=None),
    "released": replace(RELEASED, check_every=None),
}
"""Single-task rows: a check about once in each pass over the task; the text does not say."""
SMALL = Settings(
    learning_rate=1e-3, minimum_learning_rate=1e-5, batch_size=32, check_every=None, max_checks=10
)
"""Minutes of CPU: small batches, at most ten passes."""
TINY = replace(SMALL, max_checks=6)
"""Seconds to a few minutes on the sample benchmark."""
FINE_TUNING = Settings(
    optimizer="adamw",
    schedule="linear",
    learning_rate=2e-5,
    minimum_learning_rate=0.0,
    clip=1.0,
    batch_size=32,
    check_every=None,
    max_checks=3,
    stop_rule="none",
    sampling="examples",
    scaling="none",
)
"""A pre-trained encoder: optimizer, rate, batches and three passes of BERT (Devlin et al. 2019)."""
PRESETS: Mapping[str, Settings] = {"tiny": TINY, "small": SMALL, "paper": PAPER, "released": RELEASED}


PLAIN_WIDTH = 50
"""Width of random vectors, used if there is no file of vectors."""


@dataclass(frozen=True, slots=True)
class BiLstmSpec:
    """Sizes and options of a BiLSTM over word vectors; the defaults are the paper's (section 5, B.1).

    Raises ValueError for an invalid value.
    """

    hidden: int = 1500
    """Per direction."""
    layers: int = 2
    attention: bool = False
    dropout: float = 0.2
    classifier: int = 512
    """Width of a classifier's hidden layer."""
    width: int = 300
    """Width of the word vectors."""
    most: int | None = 30_000
    """Size of the vocabulary, most frequent words first; None: all."""
    oov: Literal["normal", "zero"] = "normal"
    """Vectors of unknown words; the code drew them with standard deviation 1."""
    tokenizer: str = "ptb"
    longest: int = 40
    """Maximum number of tokens of a sentence; 40 in the code."""
    pool_padding: bool = False
    lower: bool = False
    """Whether a word that the file of vectors lacks gets the vector of its lowercase form."""

    def __post_init__(self) -> None:
        sizes = ("hidden", "layers", "classifier", "width", "most", "longest")
        _refuse_wrong(self, positive=sizes, factors=("dropout",))


@dataclass(frozen=True, slots=True)
class TransformerSpec:
    """A pre-trained encoder of Hugging Face, and how much of it is trained.

    Raises ValueError for an invalid value.
    """

    encoder: str
    """Name on the hub, or of a folder."""
    tuning: Literal["full", "frozen", "lora"] = "full"
    """All weights, none (the heads alone learn), or adapters of low rank (LoRA, Hu et al. 2022)."""
    lora_rank: int = 8
    lora_alpha: int = 16
    """Scale of the adapters, times the rank."""
    lora_dropout: float = 0.0
    pooling: Literal["first", "mean", "last"] = "first"
    """What a head reads: the state of the first or the last token, or the mean of all."""
    dropout: float = 0.1
    """On what the heads read, as in BERT."""
    classifier: int = 512
    """Width of a classifier's hidden layer."""
    longest: int = 128
    """Maximum number of tokens of an example, both texts of a pair together."""
    gradient_checkpointing: bool = False
    """Whether layers are computed again in the backward pass: less memory, a third more time."""

    def __post_init__(self) -> None:
        sizes = ("lora_rank", "lora_alpha", "classifier", "longest")
        _refuse_wrong(self, positive=sizes, factors=("dropout", "lora_dropout"))

    @property
    def encoder_name(self) -> str:
        """The encoder's name on the hub, or that of its folder without the way there."""
        folder = Path(self.encoder)
        return folder.resolve().name if folder.is_dir() else self.encoder


Spec = BiLstmSpec | TransformerSpec

SIZES: Mapping[str, Mapping[str, Any]] = {
    "tiny": {"hidden": 100, "classifier": 128},
    "small": {"hidden": 300},
    "paper": {},
    "released": {},
}
"""Preset to its changes of the paper's sizes."""


class Changes(NamedTuple):
    """Values to change, by name."""

    settings: dict[str, Any]
    body: dict[str, Any]


def parse_changes(changes: Iterable[str], spec: type[Spec] = BiLstmSpec) -> Changes:
    """Parse "NAME=VALUE" options by the type of each option. Raises ValueError for an invalid one."""
    settings = get_type_hints(Settings)
    body = get_type_hints(spec)
    body.pop("encoder", None)  # named by an option of its own
    parts = Changes({}, {})
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or name not in {**settings, **body}:
            known = ", ".join(sorted({*settings, *body}))
            raise ValueError(f"{change!r} is not NAME=VALUE; NAME is one of {known}")
        kind = settings.get(name) or body[name]
        (parts.settings if name in settings else parts.body)[name] = parse_option(name, text, kind)
    return parts
