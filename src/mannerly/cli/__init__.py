"""The command line: arguments -> configuration -> assemble -> run. No logic of its own."""

import sys

import click

from mannerly import __version__
from mannerly.cli.audit import audit
from mannerly.cli.check import check
from mannerly.cli.crawl import crawl
from mannerly.cli.crawl_process import crawl_process
from mannerly.cli.demo import demo
from mannerly.cli.exclude import exclude
from mannerly.cli.explain import explain
from mannerly.cli.export import export
from mannerly.cli.forget import forget
from mannerly.cli.migrate import migrate
from mannerly.cli.plan import plan
from mannerly.cli.query import query
from mannerly.cli.search import search
from mannerly.cli.selftest import selftest
from mannerly.cli.show import show
from mannerly.cli.simweb import simweb
from mannerly.cli.status import status
from mannerly.errors import MannerlyError, UsageError


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="mannerly")
def app() -> None:
    """Mannerly: a polite, fast, crash-proof web crawler.

    Start with `mannerly demo`, then
    `mannerly crawl --seed-file domains.txt --email you@example.org`.
    """


COMMANDS = (
    crawl,
    status,
    query,
    show,
    search,
    export,
    explain,
    audit,
    check,
    exclude,
    forget,
    migrate,
    plan,
    demo,
    selftest,
    simweb,
    crawl_process,
)
for command in COMMANDS:
    app.add_command(command)


def main() -> None:
    """Exit codes: 0 done, 1 our services failed, 2 it cannot be done as asked, 130 interrupted."""
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
