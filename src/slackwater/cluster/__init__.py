"""The cluster: a folder of manifests now, behind the same small edge as an API server."""
