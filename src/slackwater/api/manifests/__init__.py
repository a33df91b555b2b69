"""
Manifests: a text becomes objects, whatever dialect it was written in, together with everything that is wrong with it.

One module a kind; `fields` is how they all read, `loading` is the way in.
"""

from slackwater.api.manifests.loading import Item, Loaded, load

__all__ = ["Item", "Loaded", "load"]
