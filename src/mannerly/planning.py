"""How many pages a day, and what it takes: arithmetic over measured figures. Pure.

The ceiling is politeness: a site gives a page per delay, so a crawl gives at most its ready sites
over the delay, whatever machines there are. Below it, CPU is the limit.
"""

import math
from dataclasses import dataclass

CPU_MS_PER_PAGE = 1.0
"""Of a crawl process, all in, on pages of 60 kB with gzip, scaled; on a fast machine it was 0.64
(`benchmarks/results/crawl-plain.json`)."""
DATABASE_MS_PER_PAGE = 0.55
"""Of PostgreSQL and its client: lease and commit, and 67 links a page that are mostly known
(`benchmarks/results/frontier-postgres.json`)."""
DAY_S = 86400.0


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be crawled with what."""

    sites: int
    """That have pages left, at the same time."""
    delay_s: float
    machines: int
    cores: int
    """Of each machine, for crawl processes."""
    cpu_ms_per_page: float = CPU_MS_PER_PAGE
    database_ms_per_page: float = DATABASE_MS_PER_PAGE

    @property
    def ceiling(self) -> float:
        """Pages a second that politeness allows; infinite without a delay."""
        return self.sites / self.delay_s if self.delay_s else math.inf

    @property
    def capacity(self) -> float:
        """Pages a second that the cores can do."""
        return self.machines * self.cores * 1000 / self.cpu_ms_per_page

    @property
    def rate(self) -> float:
        return min(self.ceiling, self.capacity)

    @property
    def limited_by(self) -> str:
        return "politeness" if self.ceiling <= self.capacity else "CPU"

    @property
    def cores_for_ceiling(self) -> int | None:
        """Cores that would be busy at the ceiling; None: no number is enough."""
        if math.isinf(self.ceiling):
            return None
        return max(1, math.ceil(self.ceiling * self.cpu_ms_per_page / 1000))

    @property
    def database_cores(self) -> float:
        """Cores that PostgreSQL is busy with at the rate."""
        return self.rate * self.database_ms_per_page / 1000

    def days(self, pages: int) -> float:
        return pages / self.rate / DAY_S
