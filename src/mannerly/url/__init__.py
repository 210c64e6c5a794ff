"""URLs: canonical form, hash, site key, exclusion and trap rules. Pure.

No I/O but for files of rules. The names that other stages use:

- `canonical(text, base=None, parameters=None) -> str`: WHATWG parse and join; http and https only;
  fragment, default port and credentials dropped; idempotent. Raises `UrlError`, nothing else, for
  any input. `ParameterRules` says which tracking parameters and session ids go as well.
- `url_hash(url) -> int`: signed 64-bit xxh3 of the canonical URL.
- `host_of(url) -> str`, `origin_of(url) -> str` (`scheme://host[:port]`), `path_of(url) -> str`
  (path and query, as robots.txt matches it) of a *canonical* URL; fast string operations.
- `SiteKey(by="domain" | "host")`: `site_of(host) -> str`, cached; `version` names the suffix list.
  `suffix_list(path)` reads one.
- `resolve(base, hrefs, site_key) -> list[Resolved]`: the batch form that pages use: distinct
  canonical URLs with hash and site, in order; what cannot be crawled is left out. `fresh` gives
  of them those that are not known, and the number of all.
- `TrapRules`, `QueryVariants`, `YieldGuard`: links that lead nowhere, by their looks, their number
  and what came of their like; `LeftOut` names the causes.
- `Exclusions.read(path)`, `.covers(url, host, site) -> bool`.
- `seeds.read(lines)`: canonical seed URLs, bare domains told apart, bad lines with their number.
"""

from mannerly.url import seeds
from mannerly.url.exclusions import Exclusions
from mannerly.url.normal import (
    MAX_URL_LENGTH,
    canonical,
    host_of,
    origin_of,
    path_of,
    url_hash,
)
from mannerly.url.parameters import ParameterRules
from mannerly.url.resolving import MAX_LINKS, Resolved, fresh, resolve
from mannerly.url.seeds import BadLine, Seed
from mannerly.url.site import SiteKey, suffix_list
from mannerly.url.traps import LeftOut, TrapRules
from mannerly.url.variants import QueryVariants
from mannerly.url.yields import Closed, Standing, YieldGuard

__all__ = [
    "MAX_LINKS",
    "MAX_URL_LENGTH",
    "BadLine",
    "Closed",
    "Exclusions",
    "LeftOut",
    "ParameterRules",
    "QueryVariants",
    "Resolved",
    "Seed",
    "SiteKey",
    "Standing",
    "TrapRules",
    "YieldGuard",
    "canonical",
    "fresh",
    "host_of",
    "origin_of",
    "path_of",
    "resolve",
    "seeds",
    "suffix_list",
    "url_hash",
]
