"""A page: from the bytes that came to its fingerprint. `fingerprint` is the door.

fingerprint    guards, and all of the below; PageFingerprint or Abstention
recipes        what a fingerprint means, under one name
extraction     what a page says, by kinds of text
├ walk         the tree that a parser made, into blocks of text and what stands beside them
│ ├ scripts    text that scripts bring
│ ├ told       what machines are told: prices, numbers of articles
│ ├ pictures   what is shown and offered beside text
│ └ furniture  what boxes call themselves
├ blocks       which of the blocks are a page's content
│ ├ datelines  lines that say when, or how often
│ ├ echoes     lines that repeat the address
│ ├ signatures lines that say how a function is called
│ └ visits     lines that are other ones at each visit
├ hints        canonical URL, robots
└ fast_extraction    main text by another library
features       units into weighted features
├ cut          text into units, words and terms, and their hashes
│ ├ chinese    words where no spaces are: jieba's
│ ├ alphabets  which characters make words, and which are units by themselves
│ ├ characters the one form of what can be written in several
│ └ hashing    units into hashes
├ common_words which words weigh less
└ runs         words as they stand there, and whether a text has a digit
simhash        features into a fingerprint
sketch         from which the resemblance of two texts can be told
names          what a page is called, and what else it has for itself
├ numerals        numbers and signs that may name it
├ uncounted       words of headings without numbers and days
├ names_record    what is kept of that
└ names_compared    what two pages are called, compared
kept           its text as stores keep it
vocabulary     what words say, in many languages
patterns       regular expressions that are compiled when they are used
"""
