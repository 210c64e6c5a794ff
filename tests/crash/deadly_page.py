"""The real program, which dies of SIGSEGV over every page that has a certain word in it."""

import os
import signal
import sys
from typing import Any

from mannerly.cli import main
from mannerly.engine import page
from tests.crash.killed_at import replace

DEADLY = b"the-word-that-kills"


def live(words: list[str]) -> None:
    """Run the command line in this process, to its end or to its death."""

    def dying(original: Any) -> Any:
        def parse(body: bytes, *rest: Any, **named: Any) -> Any:
            if DEADLY in body:
                os.kill(os.getpid(), signal.SIGSEGV)
            return original(body, *rest, **named)

        return parse

    replace(page, "parse", dying)
    sys.argv = ["mannerly", *words]
    main()


if __name__ == "__main__":
    live(sys.argv[1:])
