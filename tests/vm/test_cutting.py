"""What is cut out of a kernel's package, on images and folders made up for it."""

import gzip
import lzma
import struct
from pathlib import Path

import pytest
from cutting import archive, bare_kernel, modules


def image(packed: bytes, setup_sectors: int) -> bytes:
    """A self-extracting kernel: its header, some code, and the packed kernel with its length behind it."""
    payload = packed + struct.pack("<I", 6)
    made = bytearray((setup_sectors or 4) * 512 + 512 + 64)
    made[0x1F1] = setup_sectors
    made[0x248:0x250] = struct.pack("<II", 64, len(payload))
    return bytes(made) + payload + b"whatever follows"


@pytest.mark.parametrize("setup_sectors", [0, 4, 27])
@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
def test_the_kernel_is_found_inside_its_image(pack: type, setup_sectors: int) -> None:
    assert bare_kernel(image(pack(b"kernel"), setup_sectors)) == b"kernel"


def test_an_unknown_packing_is_said_to_be_so() -> None:
    with pytest.raises(SystemExit, match="packed in a way not known here"):
        bare_kernel(image(b"\x28\xb5\x2f\xfd", 4))


def test_modules_come_after_all_they_need(tmp_path: Path) -> None:
    (tmp_path / "modules.dep").write_text(
        "k/9p.ko: k/9pnet.ko k/fscache.ko k/netfs.ko\nk/9pnet.ko:\nk/9pnet_virtio.ko.xz: k/9pnet.ko\nk/fscache.ko: k/netfs.ko\nk/netfs.ko:\nk/virtio-rng.ko:\n"
    )
    names = [path.name for path in modules(tmp_path)]
    assert names == ["9pnet.ko", "9pnet_virtio.ko.xz", "netfs.ko", "fscache.ko", "9p.ko", "virtio-rng.ko"]


def test_every_entry_of_the_archive_begins_on_four_bytes() -> None:
    packed = archive(iter([("a", 0o100755, b"12345"), ("bc", 0o040755, b"")]))
    assert len(packed) % 4 == 0
    starts = [at for at in range(0, len(packed), 4) if packed[at : at + 6] == b"070701"]
    assert len(starts) == 3
    assert packed.endswith(b"TRAILER!!!\0" + bytes(-(110 + 11) % 4))
