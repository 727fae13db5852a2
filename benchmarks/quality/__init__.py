"""The search for a recipe, kept so that anyone can rerun it: `python -m benchmarks.quality.search`."""
