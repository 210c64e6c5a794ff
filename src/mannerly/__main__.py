"""`python -m mannerly`."""

from mannerly.cli import main

main()
