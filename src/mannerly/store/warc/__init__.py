"""WARC/1.1: what came over the wire, for archives and whoever reads them.

- `records`: one exchange as gzip members, byte for byte. Pure.
- `member`: gzip members, compressed or carried. Pure.
- `archivist`: exchanges on their way into the journal; knows what repeats what.
- `files`: journalled members become a file and its index, whose keys `surt` makes.
"""
