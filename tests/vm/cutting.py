"""
Cuts what a throw-away virtual machine boots out of a distribution's kernel package: the bare kernel, and an initrd with just the modules that a root on 9p needs.

The bare kernel boots seconds faster under emulation than the self-extracting one, which would unpack itself instruction by instruction. Runs on the system's own Python, with
nothing but the standard library.
"""

import gzip
import lzma
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

MODULES = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_rng")
BUSYBOX = Path("/bin/busybox")
_EXECUTABLE, _FOLDER = 0o100755, 0o040755


def bare_kernel(image: bytes) -> bytes:
    """The kernel inside a self-extracting image, found by the boot protocol's own header."""
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    return unpacked(image[start : start + length])


def unpacked(packed: bytes) -> bytes:
    """The kernel's length stands behind the packed stream, so what follows the stream's end is left alone."""
    if packed.startswith(b"\xfd7zXZ"):
        return lzma.LZMADecompressor().decompress(packed)
    if packed.startswith(b"\x1f\x8b"):
        return gzip.decompress(packed[:-4])
    raise SystemExit(f"the kernel is packed in a way not known here: {packed[:6].hex()}")


def modules(folder: Path) -> list[Path]:
    """The files of the modules and all they need, in the order in which they can be loaded."""
    needs = dict(_needs(folder))
    ordered: dict[str, None] = {}
    for module in MODULES:
        for name in (name for name in needs if Path(name).name.split(".")[0].replace("-", "_") == module):
            ordered.update(dict.fromkeys((*reversed(needs[name]), name)))
    return [folder / name for name in ordered]


def _needs(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for line in (folder / "modules.dep").read_text().splitlines():
        name, _, needed = line.partition(":")
        yield name, needed.split()


def archive(entries: Iterator[tuple[str, int, bytes]]) -> bytes:
    """A cpio archive as the kernel unpacks it: a header of hexadecimal numbers, the name and the content, each padded to four bytes."""
    packed = bytearray()
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        packed += b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        packed += bytes(-len(packed) % 4) + content
        packed += bytes(-len(packed) % 4)
    return bytes(packed)


def entries(folder: Path, boot: Path) -> Iterator[tuple[str, int, bytes]]:
    for name in ("bin", "modules", "proc", "sys", "dev", "lower", "upper", "root"):
        yield name, _FOLDER, b""
    yield "bin/busybox", _EXECUTABLE, BUSYBOX.read_bytes()
    yield "bin/sh", _EXECUTABLE, b"#!/bin/busybox sh\n"
    yield "init", _EXECUTABLE, boot.read_bytes()
    for number, module in enumerate(modules(folder)):
        content = module.read_bytes()
        yield (
            f"modules/{number:03d}-{module.name.split('.')[0]}",
            _EXECUTABLE,
            lzma.decompress(content) if module.suffix == ".xz" else content,
        )


def main(kernel: Path, release: str, boot: Path, into: Path) -> None:
    (into / "vmlinux").write_bytes(bare_kernel((kernel / "boot" / f"vmlinuz-{release}").read_bytes()))
    (into / "initrd").write_bytes(gzip.compress(archive(entries(kernel / "lib" / "modules" / release, boot)), 1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))
