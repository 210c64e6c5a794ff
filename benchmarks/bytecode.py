"""The crawler's bytecode, as an installed package has it.

Where PYTHONDONTWRITEBYTECODE is set, a checkout compiles itself at every start: 0.3 s of CPU that
no user pays twice, and that other crawlers, which were installed, do not pay at all.
"""

import compileall

import mannerly


def make_bytecode() -> None:
    """Takes no time where it is there already."""
    compileall.compile_dir(mannerly.__path__[0], quiet=1)
