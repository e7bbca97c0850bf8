"""numpy, imported at its first use: labels are read and graded without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.intp]
    Flags = NDArray[np.bool_]
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()
    NDArray = Any
    Floats = Any
    Ints = Any
    Flags = Any

__all__ = ["Flags", "Floats", "Ints", "NDArray", "np"]
