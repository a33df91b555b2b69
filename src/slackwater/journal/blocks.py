"""
How a value lies in the journal: a header of four bytes, then msgpack, compressed as fast as zlib can.

The header says which version of the layout wrote the block, so that a later agent can still read an older day, and an older one says that it cannot. Nothing is
guessed: a block that is not ours, is of a newer version or was damaged raises `Damaged`. A field that is added to a value with a default needs no new version; one
that changes its meaning does.
"""

import zlib
from typing import TypeVar

import msgspec

VERSION = 1
_MAGIC = b"SWB"
_FASTEST = 1

T = TypeVar("T")

_encoder = msgspec.msgpack.Encoder()


class Damaged(Exception):
    """A block that cannot be read; the message says why."""


class Unkeepable(Exception):
    """A value that no block can hold: text that is not Unicode, a number beyond 64 bits."""


def wrap(payload: bytes) -> bytes:
    return _MAGIC + bytes([VERSION]) + zlib.compress(payload, _FASTEST)


def unwrap(block: bytes) -> bytes:
    if block[:3] != _MAGIC:
        raise Damaged("it does not begin as a block of the journal does")
    if block[3:4] != bytes([VERSION]):
        raise Damaged(f"it is of version {block[3:4].hex() or '?'}, and this Slackwater reads version {VERSION}")
    try:
        return zlib.decompress(block[4:])
    except zlib.error as error:
        raise Damaged(f"its content is damaged ({error})") from error


def pack(value: object) -> bytes:
    try:
        return wrap(_encoder.encode(value))
    except (UnicodeEncodeError, OverflowError) as error:
        raise Unkeepable(str(error)) from error


def unpack(block: bytes, decoder: "msgspec.msgpack.Decoder[T]") -> T:
    try:
        return decoder.decode(unwrap(block))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Damaged(f"its content is not what was expected ({error})") from error
