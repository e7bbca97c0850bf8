"""GLUE as software you can run: data, exact scores with error bars, analysis, baselines, a leaderboard."""

from gluebench.version import __version__

__all__ = ["__version__"]
