"""The machine: procfs, cgroup v1 and v2, marks, and an in-memory twin that refuses what the kernel refuses."""
