"""Frozen sentence encoders: sentences in, one vector for each out."""
