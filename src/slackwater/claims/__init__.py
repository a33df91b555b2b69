"""Claims: what components want of a container, and what its knobs should therefore hold. Pure."""
