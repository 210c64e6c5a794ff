"""What a misbehaving server does on a connection, as a list of steps."""

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum


class End(Enum):
    CLOSE = "close the connection"
    RESET = "reset it"
    HOLD = "keep it open and say nothing until the client goes"


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Endless:
    """The same bytes over and over, until the client goes."""

    piece: bytes
    pause_s: float = 0.0


Step = bytes | Pause | Endless | End
Script = list[Step]


async def play(
    script: Script,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    on_sent: Callable[[int], None],
) -> bool:
    """True: the script is over and the connection goes on."""
    for step in script:
        match step:
            case bytes():
                await _send(step, writer, on_sent)
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Endless(piece, pause_s):
                while not writer.transport.is_closing():
                    await _send(piece, writer, on_sent)
                    await asyncio.sleep(pause_s)
                return False
            case End.CLOSE:
                writer.close()
                await writer.wait_closed()
                return False
            case End.RESET:
                _reset(writer)
                return False
            case End.HOLD:
                await reader.read()
                return False
    return True


async def _send(data: bytes, writer: asyncio.StreamWriter, on_sent: Callable[[int], None]) -> None:
    writer.write(data)
    await writer.drain()
    on_sent(len(data))


def _reset(writer: asyncio.StreamWriter) -> None:
    peer: socket.socket = writer.get_extra_info("socket")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
