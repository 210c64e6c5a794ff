"""Things that are not HTML: a few bytes of the type they claim to be."""

import json
import struct
import zlib

from mannerly.simweb.words import WORDS


def pdf(key: int) -> bytes:
    text = f"BT /F1 18 Tf 72 720 Td (Report {key & 0xFFFF}) Tj ET"
    objects = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>",
        f"<</Length {len(text)}>>\nstream\n{text}\nendstream",
    )
    body = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n".encode()
    rows = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    table = f"xref\n0 5\n0000000000 65535 f \n{rows}trailer\n<</Size 5/Root 1 0 R>>\n"
    return body + f"{table}startxref\n{len(body)}\n%%EOF\n".encode()


def png(key: int) -> bytes:
    """A square of 32 by 32 pixels in one grey."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    pixels = (b"\x00" + bytes([key & 255]) * 32) * 32
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 0, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(pixels))
        + chunk(b"IEND", b"")
    )


def as_json(key: int) -> bytes:
    rows = [{"id": key + at & 0xFFFF, "name": WORDS[(key >> at) % 160]} for at in range(20)]
    return json.dumps({"rows": rows}).encode()


def text(key: int) -> bytes:
    lines = [" ".join(WORDS[(key >> at + step) % 160] for step in range(8)) for at in range(40)]
    return "\n".join(lines).encode() + b"\nhttp://not-a-link.invalid/\n"


def xml(key: int) -> bytes:
    rows = "".join(f"<row id='{at}'>{WORDS[(key >> at) % 160]}</row>" for at in range(20))
    return f'<?xml version="1.0" encoding="utf-8"?>\n<rows>{rows}</rows>\n'.encode()


MAKERS = {"pdf": pdf, "png": png, "json": as_json, "txt": text, "xml": xml}
