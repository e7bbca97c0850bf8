"""Import of an object by its address `module:attribute` in a user's own code."""

import sys
from importlib import import_module

from gluebench.benchmark import closest


def object_at(address: str, *, kind: str, expected: str, error: type[ValueError]) -> object:
    """The object at `module:attribute`; modules of the current folder count, dots lead further in.

    Raises `error` if nothing stands there, and whatever the module itself raises when it is imported. `kind`
    is the prefix that the user wrote before the address, `expected` the form of an address.
    """
    module_name, colon, attribute = address.partition(":")
    if not (module_name and colon and attribute):
        raise error(f"{kind}:{address}: {expected}")
    sys.path.insert(0, "")
    try:
        value: object = import_module(module_name)
    except ModuleNotFoundError as missing:
        if missing.name is None or not f"{module_name}.".startswith(f"{missing.name}."):
            raise
        raise error(
            f"{kind}:{module_name}: no module is called {missing.name!r}; it has to be installed, "
            "stand in this folder or on PYTHONPATH"
        ) from None
    finally:
        sys.path.remove("")
    for part in attribute.split("."):
        if not hasattr(value, part):
            close = closest(part, [known for known in vars(value) if not known.startswith("_")])
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise error(f"{module_name} has no {attribute!r}{hint}")
        value = getattr(value, part)
    return value
