"""
What a node looked like at one moment, as values: groups and their knobs, raw counters, and the usage between two
moments.
"""
