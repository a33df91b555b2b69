"""What a process holds resident, by the kernel's own account."""

from pathlib import Path


def resident_mib(pid: int | str = "self") -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"process {pid} has no memory: it has ended")
