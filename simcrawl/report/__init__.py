"""The report: everything that a store knows about what was dropped and why, as one HTML file that needs nothing else."""

from simcrawl.report.facts import Facts, gather
from simcrawl.report.page import render

__all__ = ["Facts", "gather", "render"]
