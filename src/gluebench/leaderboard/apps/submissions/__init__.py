"""Submissions: stored, graded in the background, shown to their author."""
