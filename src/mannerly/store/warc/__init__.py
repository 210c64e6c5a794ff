"""WARC/1.1: what came over the wire, for archives and whoever reads them.

- `records`: one exchange as gzip members, byte for byte. Pure.
- `archivist`: exchanges on their way into the journal; knows what repeats what.
- `surt`, `cdxj`: the index of a file.
- `files`: journalled members become a file and its index.
"""
