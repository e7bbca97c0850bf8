"""Submissions: taken, graded in the background, shown to their author."""
