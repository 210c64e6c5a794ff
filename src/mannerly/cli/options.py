"""Click options made from the table of configuration options, and logging set up from them."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.logging import RichHandler

from mannerly.config import OPTIONS, Config, Option, load

F = TypeVar("F", bound=Callable[..., Any])


def config_options(*names: str) -> Callable[[F], F]:
    """Options for these names (all of them, without names), as text: `load` parses them."""

    def decorate(command: F) -> F:
        for name in reversed(names or tuple(OPTIONS)):
            command = _click_option(OPTIONS[name])(command)
        return _file_option(command)

    return decorate


def _file_option(command: F) -> F:
    option = click.option(
        "--config", "config_file", metavar="FILE", type=click.Path(path_type=Path),
        help="TOML file with any of these options, by section.")  # fmt: skip
    return option(command)


def _click_option(option: Option) -> Callable[[F], F]:
    help_text = option.help
    if option.shown_default:
        help_text += f"  [default: {option.shown_default}]"
    if isinstance(option.default, bool):
        flag = f"{option.flag}/--no-{option.flag.removeprefix('--')}"
        return click.option(flag, option.name, default=None, help=help_text)
    return click.option(option.flag, option.name, metavar=option.meta, help=help_text)


def data_dirs_option(command: F) -> F:
    """`--data-dir`, which may be repeated: what several machines crawled is read as one."""
    option = OPTIONS["data_dir"]
    help_text = f"{option.help} May be repeated: read as one.  [default: {option.shown_default}]"
    repeated = click.option(
        option.flag, "data_dirs", metavar=option.meta, multiple=True, help=help_text)  # fmt: skip
    return _file_option(repeated(command))


def data_dirs_of(config_file: Path | None, data_dirs: tuple[str, ...]) -> list[Path]:
    """The directories that were named; else the one of the environment, the file, the default."""
    if not data_dirs:
        return [load_config(config_file, {}).crawl.data_dir]
    return [load_config(config_file, {"data_dir": name}).crawl.data_dir for name in data_dirs]


def load_config(config_file: Path | None, flags: dict[str, object]) -> Config:
    """The configuration from flags as click gives them (None: not given)."""
    given = {
        name: ("true" if value else "false") if isinstance(value, bool) else str(value)
        for name, value in flags.items()
        if value is not None
    }
    return load(given, file=config_file)


class JsonFormatter(logging.Formatter):
    """A message as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "event": "message",
            "at": round(record.created, 3),
            "level": record.levelname,
            "from": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["trace"] = self.formatException(record.exc_info)
        return json.dumps(told)


def set_up_logging(level: str, console: Console, *, as_json: bool = False) -> None:
    """Messages go to standard error; on a terminal above the live view."""
    handler: logging.Handler
    if as_json:
        handler = logging.StreamHandler(console.file)
        handler.setFormatter(JsonFormatter())
    elif console.is_terminal:
        handler = RichHandler(console=console, show_path=False, show_time=False, markup=False)
    else:
        handler = logging.StreamHandler(console.file)
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=level, handlers=[handler], format="%(message)s", force=True)
