"""Training of models with one head per task: one task or many at a time, stopped and gone on with at will.

Nothing is imported here, so that looking at the package does not load PyTorch.
"""
