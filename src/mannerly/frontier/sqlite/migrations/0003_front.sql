-- How far each queue is settled, in the row that every visit writes anyway: see front.py. Rows of
-- `queue` at or before (front_priority, front_seq) are settled; there are `litter` of them.

ALTER TABLE clock ADD COLUMN front_priority INTEGER NOT NULL DEFAULT -32768;
ALTER TABLE clock ADD COLUMN front_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE clock ADD COLUMN litter INTEGER NOT NULL DEFAULT 0;
