"""Kubelet's stand-in: a folder's pods as local processes, in real cgroups laid out as kubelet lays them out."""
