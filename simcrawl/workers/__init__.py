"""Pages made in processes of their own, which can be killed: for crawls and for commands alike.

    process    one process, and what is said to it
    starting   where processes come from
    pool       several of them, for a caller that waits
    turns      whose page is next where many wait

A crawl does not wait: its event loop speaks to the processes itself, in `simcrawl.crawl.processes`.
"""
