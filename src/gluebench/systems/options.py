"""Options as they are typed, NAME=VALUE, read by the types of parameters and fields."""

import types
from collections.abc import Callable, Mapping
from inspect import Parameter, signature
from typing import Any, Literal, get_args, get_origin

from gluebench.data.recipes import Option, OptionError, values_of

_EXPECTED = {bool: "yes or no", int: "a whole number", float: "a number"}


def parse_option(name: str, text: str, kind: Any) -> Any:
    """The value of an option of a type: bool, int, float, str, Path, a Literal, or one of these or None.

    Of a union, the first type other than None is read. Raises ValueError.
    """
    kinds = get_args(kind) if isinstance(kind, types.UnionType) else (kind,)
    if type(None) in kinds and text == "none":
        return None
    chosen = next(option for option in kinds if option is not type(None))
    if get_origin(chosen) is Literal:
        by_text = {str(choice): choice for choice in get_args(chosen)}
        if text not in by_text:
            raise ValueError(f"{name} is {text!r}; expected one of {', '.join(by_text)}")
        return by_text[text]
    try:
        return {"yes": True, "no": False}[text] if chosen is bool else chosen(text)
    except (KeyError, ValueError):
        also = ", or none" if type(None) in kinds else ""
        raise ValueError(f"{name} is {text!r}; expected {_EXPECTED[chosen]}{also}") from None


def arguments(
    make: Callable[..., Any], texts: Mapping[str, str], *, owner: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """The keyword arguments of a function or class: its options from texts, and those `given` that it has.

    Raises OptionError for an option that it does not have or that is missing, and for a wrong value.
    """
    parameters = signature(make, eval_str=True).parameters
    options = {name: parameter for name, parameter in parameters.items() if name not in given}
    chosen = values_of(owner, [Option(name, str, None, "") for name in options], texts)
    values = {name: value for name, value in given.items() if name in parameters}
    for name, parameter in options.items():
        if chosen[name] is not None:
            try:
                values[name] = parse_option(name, chosen[name], parameter.annotation)
            except ValueError as error:
                raise OptionError(str(error)) from None
        elif parameter.default is Parameter.empty:
            raise OptionError(
                f"{name} is not given; expected a path (docs/reference/weights.md says of which files)"
            )
    return values
