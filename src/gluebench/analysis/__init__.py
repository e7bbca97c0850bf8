"""Whether a difference is real, where it comes from, and what a data set gives away.

Each folder is loaded by its own name: ranking a board needs neither numpy nor the labels.
"""
