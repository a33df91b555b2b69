"""Slackwater: batch work on a node's slack, and the slack back the moment it hurts."""
