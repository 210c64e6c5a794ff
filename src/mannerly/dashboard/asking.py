"""`explain` and `search` for the dashboard: the commands themselves, in a process of their own at
low priority. Both read the store, which takes memory and CPU that a crawl should not notice."""

import asyncio
import json
import os
import shutil
import sys
from http import HTTPStatus
from typing import Any

from mannerly.config import Config

LONGEST_TEXT = 2000
LONGEST_S = 300.0
"""The first search makes the index, which for a large crawl takes minutes."""
MOST_WAITING = 4
SHOWN_HITS = 10


class NotAnswered(Exception):  # noqa: N818 - an answer to a person, not a fault
    def __init__(self, status: HTTPStatus, why: str) -> None:
        super().__init__(why)
        self.status = status


class Asker:
    """One question at a time, a few may wait."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._turn = asyncio.Lock()
        self._waiting = 0

    async def explain(self, url: str) -> Any:
        place = ["--data-dir", str(self._config.crawl.data_dir)]
        return await self._run("explain", "--json", *place, "--", _checked(url))

    async def search(self, words: str) -> Any:
        place = ["--data-dir", str(self._config.crawl.data_dir), "--limit", str(SHOWN_HITS)]
        return await self._run("search", "--json", *place, "--", _checked(words))

    async def _run(self, *words: str) -> Any:
        if self._waiting >= MOST_WAITING:
            raise NotAnswered(HTTPStatus.TOO_MANY_REQUESTS, "others wait for an answer; try again")
        self._waiting += 1
        try:
            async with self._turn:
                return await self._answer(words)
        finally:
            self._waiting -= 1

    async def _answer(self, words: tuple[str, ...]) -> Any:
        gently = ["nice", "-n", "10"] if shutil.which("nice") else []
        process = await asyncio.create_subprocess_exec(
            *gently, sys.executable, "-m", "mannerly", *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self._environment(),
        )  # fmt: skip
        try:
            async with asyncio.timeout(LONGEST_S):
                out, err = await process.communicate()
        except TimeoutError:
            raise NotAnswered(
                HTTPStatus.GATEWAY_TIMEOUT, f"no answer within {LONGEST_S:.0f} s"
            ) from None
        finally:
            if process.returncode is None:
                process.kill()
        if process.returncode:
            lines = err.decode("utf-8", "replace").strip().splitlines()
            raise NotAnswered(HTTPStatus.UNPROCESSABLE_ENTITY, lines[-1] if lines else "no answer")
        return json.loads(out)

    def _environment(self) -> dict[str, str]:
        """Where the frontier is goes this way: a command line with a password is seen by all."""
        kept = {name: text for name, text in os.environ.items() if not name.startswith("MANNERLY_")}
        crawl = self._config.crawl
        if crawl.db_url:
            kept["MANNERLY_DB_URL"] = crawl.db_url
        if "db_schema" in self._config.given:
            kept["MANNERLY_DB_SCHEMA"] = crawl.db_schema
        return kept


def _checked(text: str) -> str:
    text = text.strip()
    if not text or len(text) > LONGEST_TEXT or "\0" in text:
        raise NotAnswered(HTTPStatus.UNPROCESSABLE_ENTITY, "some text is needed, and not too much")
    return text
