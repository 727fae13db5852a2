"""A page: from the bytes that came to its fingerprint. `fingerprint` is the door.

fingerprint    guards, and all of the below; PageFingerprint or Abstention
recipes        what a fingerprint means, under one name
extraction     what a page says, by kinds of text
├ blocks       visible text in blocks, and which of them are its content
│ ├ echoes     lines that repeat the address
│ ├ visits     lines that are other ones at each visit
│ ├ scripts    text that scripts bring
│ ├ told       what machines are told: prices, numbers of articles
│ └ pictures   what is shown and offered beside text
├ hints        canonical URL, robots
└ fast_extraction    main text by another library
features       text into weighted features
├ common_words which words weigh less
└ hashing      units into hashes
simhash        features into a fingerprint
sketch         from which the resemblance of two texts can be told
names          what a page is called
kept           its text as stores keep it
patterns       regular expressions that are compiled when they are used
"""
