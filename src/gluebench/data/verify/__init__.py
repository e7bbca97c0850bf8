"""Checking prepared data against the published: counts, fingerprints, and which rows differ in what."""
