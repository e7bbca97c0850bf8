"""Any Python object as a system: `py:module:function`."""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from types import SimpleNamespace
from typing import cast

from gluebench.data.home import sha256_of
from gluebench.systems.adapters import ModelError
from gluebench.systems.imported import object_at
from gluebench.systems.protocols import Predictor

EXPECTED = (
    "expected a class with predict(task, examples), an object of such a class, a function that returns one, "
    "or predict(task, examples) itself"
)


def predictor_at(address: str) -> Predictor:
    """The system at `module:attribute`; a class, or a function without required arguments, is called first.

    The module may be in the current folder. Raises ModelError.
    """
    form = "expected py:module:function, as py:mine:Model for the class Model of mine.py"
    try:
        target = object_at(address, kind="py", expected=form, error=ModelError)
    except ModelError:
        raise
    except Exception as error:  # a user's module may raise anything on import
        kind = "" if isinstance(error, ModuleNotFoundError) else f"{type(error).__name__}: "
        reason = f"{kind}{str(error) or 'no message'}{_place_of_error(error)}"
        raise ModelError(f"{address.partition(':')[0]}: cannot be imported: {reason}") from error
    name = f"py:{address}"
    if inspect.isclass(target) or (callable(target) and not hasattr(target, "predict")):
        required = _required_arguments(target)
        if not inspect.isclass(target) and required == 2:
            return cast(Predictor, SimpleNamespace(predict=target))
        if required:
            raise ModelError(f"{name}: takes {required} arguments; {EXPECTED}. What is made takes none")
        target = target()
    if not isinstance(target, Predictor) or not callable(target.predict):
        raise ModelError(f"{name}: gives {type(target).__name__}, which has no predict; {EXPECTED}")
    return target


def sources(address: str) -> dict[str, str]:
    """The module of an address that has been imported, with a digest of its file; empty without a file."""
    module = address.partition(":")[0]
    path = getattr(sys.modules.get(module), "__file__", None)
    return {module: sha256_of(Path(path))[:16]} if path else {}


def _place_of_error(error: BaseException) -> str:
    """Where in the user's files an error was raised, as " (FILE, line N)"; empty if unknown."""
    if isinstance(error, SyntaxError):
        return ""
    frames = [frame for frame in extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if len(frames) > 1 else ""


def _required_arguments(function: Callable[..., object]) -> int:
    """Number of arguments without a default."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # some built-in callables have no signature
        return 0
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return sum(item.default is inspect.Parameter.empty and item.kind not in kinds for item in parameters)
