"""A small DNS server over UDP that says what a test tells it to, and changes its mind."""

import ipaddress
import socket
import struct
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

A, CNAME, AAAA = 1, 5, 28
_KINDS = {A: "A", CNAME: "CNAME", AAAA: "AAAA"}


class Record(NamedTuple):
    kind: int
    value: str
    owner: str = ""
    """Whose it is, if not the name's that was asked for: what an alias leads to."""


def addresses(*texts: str) -> list[Record]:
    """Records for IP addresses of either kind."""
    return [Record(AAAA if ":" in text else A, text) for text in texts]


class NameServer:
    """Answers from `names`: for each a list of answers, given in turn, the last one for ever.

    An answer is cut down to the kind that was asked for, aliases apart. Every other name is known
    by the addresses `otherwise`. All records expire at once.
    """

    def __init__(
        self, names: Mapping[str, Sequence[Sequence[Record]]], otherwise: Sequence[Record]
    ) -> None:
        self._names = names
        self._otherwise = [otherwise]
        self._asked: Counter[tuple[str, int]] = Counter()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def asked(self, name: str) -> dict[str, int]:
        """How often each kind was asked for."""
        return {word: self._asked[name, kind] for kind, word in _KINDS.items()}

    def close(self) -> None:
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                query, client = self._socket.recvfrom(4096)
                self._socket.sendto(self._answer(query), client)

    def _answer(self, query: bytes) -> bytes:
        labels, at = [], 12
        while length := query[at]:
            labels.append(query[at + 1 : at + 1 + length].decode().lower())
            at += 1 + length
        name = ".".join(labels)
        (kind,) = struct.unpack_from(">H", query, at + 1)
        question = query[12 : at + 5]
        answers = self._names.get(name, self._otherwise)
        turn = self._asked[name, kind]
        self._asked[name, kind] += 1
        said = [
            record
            for record in answers[min(turn, len(answers) - 1)]
            if record.kind in (kind, CNAME)
        ]
        head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(said), 0, 0)
        return head + question + b"".join(_packed(record, name) for record in said)


def _packed(record: Record, asked: str) -> bytes:
    if record.kind == CNAME:
        data = _name(record.value)
    else:
        data = ipaddress.ip_address(record.value).packed
    owner = _name(record.owner or asked)
    return owner + struct.pack(">HHIH", record.kind, 1, 0, len(data)) + data


def _name(text: str) -> bytes:
    return b"".join(bytes([len(label)]) + label.encode() for label in text.split(".")) + b"\0"
