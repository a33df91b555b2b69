"""
A node to measure the agent on: real groups, a folder of real manifests that speaks of them, and the agent's own edges.

The benchmarks share this so that all of them measure the same agent: nothing in here stands in for a part of it but the clock, which may be made to go ten seconds at each
tick. Nothing runs in the groups; every file is read all the same.
"""
