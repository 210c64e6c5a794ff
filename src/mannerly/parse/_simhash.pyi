import numpy as np
import numpy.typing as npt

def printed(text: str, limit: int, /) -> tuple[int, bytes] | None: ...
def among(
    pages: npt.NDArray[np.int64], held: int, content: int, simhash: int, rest: int, near: int, /
) -> tuple[int, int]: ...
