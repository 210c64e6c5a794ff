"""A web without end out of a few files: whatever host and URL is asked for, there is a page.

Which of the files it is, a hash of host and URL decides, and nginx makes it (`split_clients`), so
that a page costs as little as that of a written web. What is found there are links like these, 60
to 100 a page:

- twelve (`FRESH`) to pages of the same site that no other file names, written without the host.
  They are new wherever the file is met, since its path on another site is another URL. So the
  number of new URLs a page is the same at the tenth thousand of pages and at the millionth, as in a
  broad crawl that is far from its end, and the cost of one can be compared with that of the other.
  (The simulated web, written out, has an end: the more of it is known, the less is new. And a file
  that was written for one host has that host's name in half of its links.)
- the menu of the same site, whose pages are known after the first, and repeats of it;
- half of them to other sites, mostly home pages, to those with low numbers much more often. With
  few sites they are soon known; with a million, some of them are new on nearly every page, each to
  a site of its own, until every file was met once.

Pages name themselves as canonical by an empty reference. Every second site has a robots.txt with
rules, the others none; there are no sitemaps. What is not as on the web: a site's pages have no
look in common, and one in (files) / (pages of its site) is a copy of another.
"""

import json
import os
import random
import shutil
import zlib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.frontier.workload import ODD, site_name
from benchmarks.web import nginx
from benchmarks.web.layout import Layout

FOLDERS = 200
"""Of files, and so many files in each: two short lists, as nginx goes through them one by one."""
FRESH = 12
MENU = 12
RANKS = (*[0] * 8, 1, 2)
"""Which page of another site is linked to: mostly the home page."""
BODY_MEDIAN, BODY_SPREAD, BODY_MAX = 50_000, 0.6, 2_000_000
"""As of the simulated web: 60 kB in the mean."""
FORMAT = 2
"""To be raised with every change of what is written, so that older folders are not taken for it."""
LEVEL = 6
ECHO = "ngx_http_echo_module"
"""Debian's libnginx-mod-http-echo."""
DONE = "done.json"
ROBOTS = """\
User-agent: *
Disallow: /private/
Disallow: /search
Allow: /search/about
Disallow: /*?session=

User-agent: greedy-bot
Disallow: /
"""


def home(site: int) -> str:
    return f"http://www.{site_name(site)}/"


def written(sites: int, folder: Path, folders: int = FOLDERS) -> Path:
    """The files of a web of so many sites, in a folder of their own inside `folder`. They are made
    if they are not there whole."""
    place = folder / f"endless-{sites}"
    made = {"format": FORMAT, "sites": sites, "folders": folders}
    if not (place / DONE).exists() or json.loads((place / DONE).read_text()) != made:
        shutil.rmtree(place, ignore_errors=True)
        (place / "robots").mkdir(parents=True)
        (place / "robots" / "rules.txt").write_text(ROBOTS)
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(partial(_write_folder, sites, place, folders), range(folders)))
        (place / DONE).write_text(json.dumps(made) + "\n")
    return place


def _write_folder(sites: int, place: Path, folders: int, number: int) -> None:
    folder = place / "pages" / str(number)
    folder.mkdir(parents=True)
    layout = Layout(number, "", "en")
    for at in range(folders):
        key = number * folders + at
        size = random.Random(key).lognormvariate(0, BODY_SPREAD) * BODY_MEDIAN
        body = layout.page(key, "", hrefs(key, sites), int(min(size, BODY_MAX)))
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, 31)
        (folder / f"{at}.gz").write_bytes(packer.compress(body) + packer.flush())


def hrefs(key: int, sites: int) -> list[str]:
    """The links of the file number `key`, menu first."""
    chance = random.Random(f"{key} {sites}")
    count = chance.randrange(60, 101)
    menu = ["/", *(f"/topic/{number}/" for number in range(1, MENU))]
    fresh = [f"/section/{(key * FRESH + n) * ODD % 2**64:016x}/an-article" for n in range(FRESH)]
    outside = [_outside(chance, sites) for _ in range(count // 2)]
    again = chance.choices(menu, k=count - count // 2 - MENU - FRESH)
    rest = fresh + outside + again
    chance.shuffle(rest)
    return menu + rest


def _outside(chance: random.Random, sites: int) -> str:
    """The number of a site is spread evenly over its digits: ten times the sites, as many links."""
    rank = chance.choice(RANKS)
    return home(int(sites ** chance.random()) - 1) + (f"topic/{rank}/" if rank else "")


@contextmanager
def served(place: Path, folder: Path, *, latency_s: float = 0.0) -> Iterator[nginx.Serving]:
    """Serve the files that were written to `place`, to whoever asks for whatever. Each answer is so
    late (by nginx's echo module, which waits at no cost: the kernel here has no `netem`)."""
    folder.mkdir(parents=True, exist_ok=True)
    host, port = "127.0.0.1", nginx.free_port()
    folders = json.loads((place / DONE).read_text())["folders"]
    robots = f"""\
      default_type "text/plain; charset=utf-8";
      root {place.absolute()}/robots;
      rewrite ^ /$rules break;
"""
    page = "rewrite ^ /$folder/$file break; gzip_static always;"
    locations = f"location = /robots.txt {{\n{robots}    }}\n    location / {{ {page} }}"
    if latency_s:
        late = f"echo_sleep {latency_s}; echo_exec"
        locations = (
            f"location = /robots.txt {{ {late} @robots; }}\n    location / {{ {late} @page; }}\n"
            f"    location @robots {{\n{robots}    }}\n    location @page {{ {page} }}"
        )
    settings = f"""\
{_drawn("$folder", "$host$request_uri", folders)}\
{_drawn("$file", "$request_uri$host", folders)}\
  split_clients $host $rules {{ 50% rules.txt; * none; }}
  server {{
    listen {host}:{port} default_server backlog=8192;
    root {place.absolute()}/pages;
    {locations}
  }}
"""
    modules = (ECHO,) if latency_s else ()
    with nginx.many_served(folder, settings, host, port, modules=modules) as serving:
        yield serving


def _drawn(name: str, by: str, count: int) -> str:
    """A variable with one of `count` numbers, drawn by a hash of `by`."""
    share = f"{100 / count:.2f}%"
    rows = " ".join(f"{share} {number};" for number in range(count - 1))
    return f'  split_clients "{by}" {name} {{ {rows} * {count - 1}; }}\n'
