"""
A batch worker of the demonstration: it hashes as long as it is told to, and counts what it did.

Batch work is counted in hashes and not in CPU seconds, because a second on a crowded machine is not always worth a second. Two small files connect it with the
demonstration, both mapped into memory: one byte says whether there is work to do, and the counter is the worker's own. It never ends by itself; the lab ends it
as it ends any pod. It runs for itself: `python -m slackwater.demo.batch SWITCH COUNTER`.
"""

import hashlib
import mmap
import os
import struct
import sys
import time

COUNTER = struct.Struct("<Q")
WORK, REST = b"1", b"0"
BLOCK = bytes(4096)
HASHES_A_LOOK = 200  # how many hashes between two looks at the switch: about a millisecond


def mapped(path: str, *, write: bool) -> mmap.mmap:
    file = os.open(path, os.O_RDWR if write else os.O_RDONLY)
    try:
        return mmap.mmap(file, 0, access=mmap.ACCESS_WRITE if write else mmap.ACCESS_READ)
    finally:
        os.close(file)


def work(switch: mmap.mmap, counter: mmap.mmap) -> None:
    done = 0
    while True:
        if switch[:1] != WORK:
            time.sleep(0.05)
            continue
        for _ in range(HASHES_A_LOOK):
            hashlib.sha256(BLOCK)
        done += HASHES_A_LOOK
        COUNTER.pack_into(counter, 0, done)


if __name__ == "__main__":
    work(mapped(sys.argv[1], write=False), mapped(sys.argv[2], write=True))
