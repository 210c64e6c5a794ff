"""The store: a journal that survives a kill, rolled into Parquet that anyone can query.

- `JournalStore`: a writer's side (`mannerly.store.contract.Store`); why each page is seen exactly
  once is told in `mannerly.store.journal`.
- `dead_writers`, `recover`: what is left of processes that died.
- `mannerly.store.read`: its tables in DuckDB, also while the crawl runs; which there are is told in
  `mannerly.store.tables`. A crawl needs no DuckDB, so it is imported by who reads.
- `Rows`: what a checkpoint writes.
"""

from mannerly.store.contract import Rows
from mannerly.store.journal import JournalStore
from mannerly.store.recovery import Recovered, dead_writers, recover

__all__ = ["JournalStore", "Recovered", "Rows", "dead_writers", "recover"]
