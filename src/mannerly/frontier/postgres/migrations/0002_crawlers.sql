-- What the processes that crawl tell of themselves now and then. A row is made by a writer's first
-- beat and removed when it is retired; the row of one that died without anybody's knowledge stays,
-- and counts for nothing when it is old. `run_at` is when the first of those that crawl together
-- began; limits are 0 where there is none; `reserved` are pages that it may still fetch. Few rows,
-- each updated every few seconds: room for HOT updates.
CREATE TABLE crawler (
    writer     bigint PRIMARY KEY,
    began_at   bigint NOT NULL,
    run_at     bigint NOT NULL,
    seen_at    bigint NOT NULL,
    pages      bigint NOT NULL,
    page_limit bigint NOT NULL,
    time_limit bigint NOT NULL,
    reserved   bigint NOT NULL,
    rate       double precision NOT NULL,
    in_flight  integer NOT NULL
) WITH (fillfactor = 20);
