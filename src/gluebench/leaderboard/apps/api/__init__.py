"""The JSON interface at /api/v1: what the pages show and do, for programs."""
