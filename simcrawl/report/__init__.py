"""The report: everything that a store knows about what was dropped and why, as one HTML file that needs nothing else.

facts     what there is to tell, in one pass over a store
groups    copies by what tells their URLs and those of their originals apart
thresholds  what other thresholds would have done
answers   what a crawl was answered, by status
page      which tables and charts tell it
charts    where the bars of a chart stand
"""

from simcrawl.report.facts import Facts, gather
from simcrawl.report.page import render

__all__ = ["Facts", "gather", "render"]
