-- What the processes that crawl tell of themselves now and then. A row is made by a writer's first
-- beat and removed when it is retired; the row of one that died without anybody's knowledge stays,
-- and counts for nothing when it is old. `run_at` is when the first of those that crawl together
-- began; limits are 0 where there is none; `reserved` are pages that it may still fetch.
CREATE TABLE crawler (
    writer     INTEGER PRIMARY KEY,
    began_at   INTEGER NOT NULL,
    run_at     INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    pages      INTEGER NOT NULL,
    rate       REAL    NOT NULL,
    in_flight  INTEGER NOT NULL,
    page_limit INTEGER NOT NULL,
    time_limit INTEGER NOT NULL,
    reserved   INTEGER NOT NULL
);
