"""Whose connection was lost while it began a crawl may find that another one has begun."""

import threading

import psycopg
import pytest

from mannerly.errors import CrawlExistsError
from mannerly.frontier.conformance.shapes import url
from mannerly.frontier.postgres import statements
from tests.services.postgres import shared
from tests.unit.frontier.postgres.opening import opened

SCHEMA = "beginning"
OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"


async def test_who_lost_the_beginning_creates_nothing() -> None:
    server = shared()
    async with opened(server.url, SCHEMA) as first:
        await first.clear()
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"{OTHERS} AND state = 'idle' AND backend_type = 'client backend'")
        async with opened(server.url, SCHEMA) as second:
            await second.clear()
            await second.add([url("a.example", 1)])
        # The second died as well. What it left is not the first one's crawl.
        with pytest.raises(CrawlExistsError):
            await first.create({"delay_s": "1"})
        assert await first.settings() is None
        await first.clear()
        await first.create({"delay_s": "1"})
        assert (await first.stats()).urls_known == 0


async def test_a_server_may_notice_late_who_is_gone() -> None:
    server = shared()
    gone = psycopg.connect(server.url)
    leaves = threading.Timer(0.3, gone.close)
    async with opened(server.url, "noticing") as frontier:
        assert gone.execute(statements.TAKE_BEGINNING, ("noticing",)).fetchall() == [(True,)]
        leaves.start()
        await frontier.clear()
    leaves.join()
