"""What the URLs of a site tell of its copies: rules, learned while it is crawled. `RewriteRules` is the door."""
