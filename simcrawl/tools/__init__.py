"""What commands do besides looking into a store. `simcrawl.cli` has modules of the same names: these parse and print, those here work.

bulk           pages of an existing corpus, from WARC, JSON lines or folders, into a store
calibration    what a radius and a threshold are worth on labelled pairs
differences    what differs between two pages
rethinking     what other thresholds would have done to the pages of a store
inspection     which lines of a register, which hosts
"""
