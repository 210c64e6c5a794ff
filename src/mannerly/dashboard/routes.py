"""What is answered at which address. Reads are GET and change nothing; controls are POST with a
JSON object, and need the token (`guard`)."""

import asyncio
import json
import logging
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TypeVar

from mannerly.dashboard import sites
from mannerly.dashboard.asking import Asker, NotAnswered
from mannerly.dashboard.desk import Desk
from mannerly.dashboard.guard import HEADERS, Guard
from mannerly.dashboard.http import Answer, Request, plain
from mannerly.dashboard.page import page
from mannerly.dashboard.sampling import Sampler
from mannerly.errors import FrontierError, MannerlyError
from mannerly.observe.metrics import CONTENT_TYPE, exposition
from mannerly.observe.snapshot import Controls, Refused

log = logging.getLogger(__name__)
T = TypeVar("T")

LONGEST_SEED_LINES = 10_000
STOPPED = "stopped from the dashboard"


@dataclass(frozen=True, slots=True)
class Routes:
    sampler: Sampler
    controls: Controls
    guard: Guard
    desk: Desk
    asker: Asker

    async def answer(self, request: Request) -> Answer:
        """Whatever is asked, and whatever goes wrong."""
        answer = self.guard.refusal(request)
        if answer is None:
            try:
                answer = await self._routed(request)
            except (NotAnswered, Refused, MannerlyError) as exc:
                answer = _failed(exc)
            except Exception:
                log.exception("the dashboard failed at %s", request.path)
                answer = plain(
                    HTTPStatus.INTERNAL_SERVER_ERROR, "the dashboard failed; see the log"
                )
        headers = (*HEADERS, *answer.headers)
        return Answer(answer.status, answer.content_type, answer.body, headers)

    async def _routed(self, request: Request) -> Answer:
        methods = _ROUTES.get(request.path)
        if methods is None:
            return plain(HTTPStatus.NOT_FOUND, "there is nothing here")
        method, route = methods
        if request.method != method:
            refused = plain(HTTPStatus.METHOD_NOT_ALLOWED, f"{method} is meant")
            return Answer(refused.status, refused.content_type, refused.body, (("Allow", method),))
        return await route(self, request)

    # -- looking -------------------------------------------------------------------------------

    async def page(self, _: Request) -> Answer:
        return page(keeps_token=self.guard.open_to_all)

    async def snapshot(self, _: Request) -> Answer:
        return _json(self.sampler.document())

    async def history(self, request: Request) -> Answer:
        return _json(
            {"points": self.sampler.history.points(day=request.query.get("span") == "day")}
        )

    async def stream(self, _: Request) -> Answer:
        """A line of JSON a second, and a last one when the crawl has ended."""
        return Answer(HTTPStatus.OK, "application/x-ndjson", self.sampler.lines())

    async def sites(self, request: Request) -> Answer:
        asked = request.query
        return _json(await self.desk.ask(lambda frontier: sites.table(frontier, asked)))

    async def pages(self, _: Request) -> Answer:
        return _json({"pages": [it._asdict() for it in self.sampler.latest.latest]})

    async def failures(self, _: Request) -> Answer:
        now = self.sampler.latest
        kinds = {
            kind: {"count": now.settled.get(kind, 0), "examples": [it._asdict() for it in some]}
            for kind, some in now.examples.items()
        }
        return _json({"kinds": kinds, "deferred": now.deferred, "excused": now.excused})

    async def explain(self, request: Request) -> Answer:
        return _json(await self.asker.explain(request.query.get("url", "")))

    async def search(self, request: Request) -> Answer:
        return _json(await self.asker.search(request.query.get("q", "")))

    async def metrics(self, _: Request) -> Answer:
        return Answer(HTTPStatus.OK, CONTENT_TYPE, exposition(self.sampler.take()).encode())

    async def healthz(self, _: Request) -> Answer:
        return plain(HTTPStatus.OK, "ok")

    async def readyz(self, _: Request) -> Answer:
        """Whether it crawls."""
        now = self.sampler.take()
        why = now.ending or now.trouble
        return plain(HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK, why or "ready")

    # -- steering ------------------------------------------------------------------------------

    async def pause(self, _: Request) -> Answer:
        await _on_a_thread(self.controls.pause)
        return _done("paused; what is in flight ends as usual")

    async def go_on(self, _: Request) -> Answer:
        await _on_a_thread(self.controls.go_on)
        return _done("going on")

    async def stop(self, _: Request) -> Answer:
        await _on_a_thread(lambda: self.controls.stop(STOPPED))
        return _done("stopping; --resume goes on later")

    async def workers(self, request: Request) -> Answer:
        wanted = _body(request).get("workers")
        if not isinstance(wanted, int) or isinstance(wanted, bool):
            raise Refused("a number of workers is needed")
        given = await _on_a_thread(lambda: self.controls.set_workers(wanted))
        return _done(f"{given:,} visits at once" + ("" if given == wanted else ", no more fit"))

    async def exclude(self, request: Request) -> Answer:
        domain = _body(request).get("domain")
        if not isinstance(domain, str) or not domain.strip():
            raise Refused("a domain is needed")
        site = await _on_a_thread(lambda: self.controls.exclude(domain.strip()))
        return _done(f"{site} is left alone from now on")

    async def seeds(self, request: Request) -> Answer:
        text = _body(request).get("seeds")
        lines = text.splitlines() if isinstance(text, str) else []
        if not any(line.strip() for line in lines) or len(lines) > LONGEST_SEED_LINES:
            raise Refused(f"domains or URLs are needed, at most {LONGEST_SEED_LINES:,} lines")
        return _done(await _on_a_thread(lambda: self.controls.add_seeds(lines)))


_ROUTES: dict[str, tuple[str, Callable[[Routes, Request], Awaitable[Answer]]]] = {
    "/": ("GET", Routes.page),
    "/api/snapshot": ("GET", Routes.snapshot),
    "/api/history": ("GET", Routes.history),
    "/api/stream": ("GET", Routes.stream),
    "/api/sites": ("GET", Routes.sites),
    "/api/pages": ("GET", Routes.pages),
    "/api/failures": ("GET", Routes.failures),
    "/api/explain": ("GET", Routes.explain),
    "/api/search": ("GET", Routes.search),
    "/metrics": ("GET", Routes.metrics),
    "/healthz": ("GET", Routes.healthz),
    "/readyz": ("GET", Routes.readyz),
    "/api/pause": ("POST", Routes.pause),
    "/api/go-on": ("POST", Routes.go_on),
    "/api/stop": ("POST", Routes.stop),
    "/api/workers": ("POST", Routes.workers),
    "/api/exclude": ("POST", Routes.exclude),
    "/api/seeds": ("POST", Routes.seeds),
}


async def _on_a_thread(work: Callable[[], T]) -> T:
    """Controls wait for the crawl's thread. Not on asyncio's own pool: the end of the program would
    wait for one that waits for a crawl that has ended."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def tell(set_: Callable[[], None]) -> None:
        if not answer.done():
            set_()

    def do() -> None:
        try:
            done = work()
        except Exception as exc:  # noqa: BLE001 - handed on to whoever waits
            failure = exc
            loop.call_soon_threadsafe(tell, lambda: answer.set_exception(failure))
        else:
            loop.call_soon_threadsafe(tell, lambda: answer.set_result(done))

    threading.Thread(target=do, name="dashboard-control", daemon=True).start()
    return await answer


def _failed(exc: Exception) -> Answer:
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(exc, NotAnswered):
        status = exc.status
    elif isinstance(exc, FrontierError):
        status = HTTPStatus.SERVICE_UNAVAILABLE
    return _json({"error": str(exc)}, status)


def _body(request: Request) -> dict[str, Any]:
    """A JSON object. The type is asked for, since no form of another site can send it."""
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/json":
        raise NotAnswered(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "application/json is needed")
    try:
        document = json.loads(request.body)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise NotAnswered(HTTPStatus.BAD_REQUEST, "a JSON object is needed")
    return document


def _done(what: str) -> Answer:
    return _json({"done": what})


def _json(document: object, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer(status, "application/json", json.dumps(document).encode())
