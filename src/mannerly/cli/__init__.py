"""The command line: arguments -> configuration -> assemble -> run. No logic of its own."""

import os
import sys
from importlib import import_module

import click

from mannerly import __version__
from mannerly.errors import MannerlyError, UsageError

COMMANDS = (
    "crawl",
    "status",
    "query",
    "show",
    "search",
    "export",
    "explain",
    "audit",
    "report",
    "check",
    "exclude",
    "forget",
    "migrate",
    "plan",
    "demo",
    "selftest",
    "simweb",
    "crawl-process",
)
"""Each is in a module of its name, and has its name there."""


class Commands(click.Group):
    """Imports a command when it is asked for: all of them together take a second, most of them
    need little, and a crawl is made of many processes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        command = getattr(import_module(f"mannerly.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="mannerly")
def app() -> None:
    """Mannerly: a polite, fast, crash-proof web crawler.

    Start with `mannerly demo`, then
    `mannerly crawl --seed-file domains.txt --email you@example.org`.
    """


def main() -> None:
    """Exit codes: 0 done, 1 our services failed, 2 it cannot be done as asked, 130 interrupted."""
    # Read once, as Arrow is loaded, which commands do; for why see `memory`.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        app.main(standalone_mode=False)
    except click.exceptions.Exit as exc:
        sys.exit(exc.exit_code)
    except click.ClickException as exc:
        exc.show()
        sys.exit(2)
    except UsageError as exc:
        _complain(exc)
        sys.exit(2)
    except MannerlyError as exc:
        _complain(exc)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as exc:
        named = f"{exc.filename}: " if exc.filename else ""
        print(f"mannerly: {named}{exc.strerror or exc}", file=sys.stderr)
        sys.exit(2 if isinstance(exc, PermissionError | FileNotFoundError) else 1)
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        sys.exit(130)


def _complain(exc: MannerlyError) -> None:
    print(f"mannerly: {exc}", file=sys.stderr)
