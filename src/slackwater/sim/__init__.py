"""
A simulated node behind the agent's own edges: what days of load would do, in seconds, and what happens if anything
fails at any moment.

The agent that runs here is the real one; only the kernel, the cluster, the disk and the time are not. `sim.world` is
the door.
"""
