"""Reading back what was crawled: queries, single pages, full-text search, export.

Everything here starts from `open_reading`: the tables of one or more data directories as views in
DuckDB, confined so that a query can read the crawl and do nothing else. A reader takes no lock of
the crawl and may be used while it runs.

- `opening`, `asking`: the views; one statement, its rows as a stream, errors in one line.
- `output`, `values`: where results go (whole or not at all), and what a value looks like there.
- `layouts`, `table`: a result as CSV, JSON, Parquet, or a table for people.
- `looking`, `telling`: what the store has of one URL.
- `index`, `words`, `searching`: full-text search.
- `selection`, `export`, `documents`, `warc`, `archives`: pages out into other formats.
"""
