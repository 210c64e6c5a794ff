"""Which number a site has in a database: a process's memory of it, the same for every engine."""

from array import array


class SiteIds:
    """Site ids by key, as far as this process has met them. An id never changes, and is above 0.

    Direct-mapped, as the cache of hashes is: one slot per key, by the low bits of its hash; a
    newcomer replaces what was there. A key is known again by its 64-bit hash. 16 bytes a slot.
    """

    def __init__(self, bits: int = 20) -> None:
        self._mask = (1 << bits) - 1
        self._hashes = array("q", bytes(8 << bits))
        self._ids = array("q", bytes(8 << bits))

    def get(self, key: str) -> int:
        """0 if it is not here."""
        hash_ = hash(key)
        slot = hash_ & self._mask
        return self._ids[slot] if self._hashes[slot] == hash_ else 0

    def learn(self, ids: dict[str, int]) -> None:
        """Only what was committed: an id that was rolled back may be given to another site."""
        for key, site in ids.items():
            hash_ = hash(key)
            slot = hash_ & self._mask
            self._hashes[slot], self._ids[slot] = hash_, site

    def forget(self) -> None:
        """All of it: the crawl may have been cleared."""
        self._hashes = array("q", bytes(8 * len(self._hashes)))
        self._ids = array("q", bytes(8 * len(self._ids)))
