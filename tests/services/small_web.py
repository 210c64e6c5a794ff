"""A small web whose pages mean harm to whoever shows them: titles, texts and names of markup. Every
site has pages that link to each other, some that fail, and a robots.txt with a rule."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SITES = 60
PAGES = 400
HARM = "<script>window.harmed = 1</script>"
TEXT = "<img src=x onerror='window.harmed = 2'> and some words about gardening"
"""As a reader of the page sees it."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            return self._send(200, "text/plain", "User-agent: *\nDisallow: /private\n")
        number = self.path.removeprefix("/p")
        if self.path != "/" and not number.isdigit():
            return self._send(404, f"text/{HARM}", "nothing")
        page = int(number) if number.isdigit() else 0
        links = "".join(
            f"<a href='/p{it}'>on</a>" for it in range(page + 1, page + 4) if it < PAGES
        )
        broken = f"<a href='/missing{page}'>x</a><a href='/private{page}'>x</a>"
        text = TEXT.replace("<", "&lt;")
        # Inside a title, markup is text.
        body = f"<title>{HARM} {page}</title><p>{text} {page}</p>{links}{broken}"
        return self._send(200, "text/html", body)

    def _send(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


@contextmanager
def small_web() -> Iterator[str]:
    """Served on a thread; yields HOST:PORT. Every host is at home there."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()
