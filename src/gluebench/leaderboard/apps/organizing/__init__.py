"""Organizing in the browser: new benchmarks, dry runs, texts and looks, roles."""
