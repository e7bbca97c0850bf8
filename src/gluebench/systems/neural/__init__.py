"""Models in PyTorch: the paper's BiLSTMs with and without attention, and the heads of any body.

Nothing is imported here, so that looking at the package does not load PyTorch.
"""
