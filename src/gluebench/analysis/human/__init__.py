"""A human baseline as section 4 of the paper made one: pairs drawn by seed, labeled blind, and scored."""
