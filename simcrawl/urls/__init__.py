"""What the URLs of a site tell of its copies: rules, learned while it is crawled. `rewrites.RewriteRules` is the door.

    replacements   runs of tokens that stand for one another    ┐
    parameters     those that may be left out, whatever values  │
    spellings      hosts where upper and lower case are one     │
    classes        values that do not matter in a class of URLs ├─► rewrites ──► a crawl: what a URL leads to, what to skip
    evidence       what speaks for a rule, and against it       │
    names          what names add to that, for the order        │
    redirects      rules of redirects, for the order alone      ┘   ▲
    outlinks       what a page would link to, by its original ─────────► a crawl: what is behind a page
                   evidence ──► learned: rules in words, mirrors,   └── recall: what a store remembers
                                files for other programs                robots: what a site says of itself

Read it from the left: what is learned of tokens, values, case and redirects makes the rules by which a crawl goes.
"""
