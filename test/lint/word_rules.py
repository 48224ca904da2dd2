"""Words and phrases that have a standard term or a plainer wording. docs/glossary.md defines the terms."""
import re

from markdown_rules import markdown_files, prose_lines
from source_tree import CPP, Problem, files, numbered_lines

# Pattern of the word -> the term to use. The one list, for documents and sources. Only words that are never right
# are in it. In sources an underscore and a change of case separate words: `landing_ring` and `LandingRing` match.
WORDS = {
    r"work(?:s|ed|ing)?(?: \w+){0,2} off": "drain",
    r"under ?way": "in flight",
    r"hand(?:s|ed|ing)? (?:\w+ )?over|hand-?over": "transfer ownership",
    r"tell|tells|told|telling": "notify or report",
    r"wish|wishes|wished": "pending re-localize",
    r"look-ups?|looked up": "lookup, or poll",
    r"cures?|cured": "remedy",
    r"for ?ever": "indefinitely",
    r"take(?:s|n)? back|took back": "roll back",
    r"elsewhere": "remote",
    r"doz(?:e|es|ed|ing)": "light sleep",
    r"knock(?:s|ed|ing)?": "force wake",
    r"c[oa]mes? to rest|coming to rest": "quiesce",
    r"twins?": "baseline",
    r"landing (?:rings?|readers?|writers?)": "RMA receive ring",
    r"implicit keys?|implicitly owned": "uninitialized key",
    r"astray": "misrouted",
    r"lies? in|lying in": "is stored in",
    r"k most": "max",
    r"whoever|nobody|somebody|someone": "the name of the actor",
}

# Pattern of the phrase -> the plainer wording. They are checked in prose: documents, and comments of sources. Names,
# messages and names of test cases are left alone. Letters count: a pattern says itself where a capital may stand.
PHRASES = {
    r"almost surely": "with high probability",
    r"[Bb]y and by": "gradually",
    r"which see\b|as there(?=[.,;:)]|$)": "see NAME",
    r"(?:[Hh]as|[Hh]ave|[Hh]ad|[Hh]aving)(?: not| all| already)? come\b(?! (?:from|of|up|true|with)\b)": "has arrived",
    r"(?:goes|go|going|went|gone) on\b(?! (?:an?|the|its|their|this|that|to|board)\b)": "continues",
    r"(?<!not )[Ss]o many(?: \w+)?\b(?![^.;:]* that\b)": "that many, or the number's name",
    r", but [A-Z]+[a-z]+[A-Z]\w*": "except",
    r"[Tt]hrows as\b": "Throws what f throws",
    r"(?:^|(?<=[.;:] ))As (?:\w*[a-z]_\w+|[\w:]+::\w+|(?!always|ever\b|long\b|root\b|usual)[a-z]+(?=[,.;]))": "Like f",
    r"\w+,? as [a-z_:]+(?:\(\))?, but\b": "like f, except that",
    r"there is no memory|without memory for": "out of memory, or memory cannot be allocated",
    r"(?:[Nn]o|[Mm]ore|[Ee]nough|the|has|have|had|with|without) room\b|[Rr]oom (?:for|to|left)\b": "space",
    r"(?:looks|looked|looking) at": "check, or read",
    r"[Bb]ehind (?:a|an|the|every|each|that|this) (?:\w+ )?(?:barrier|sync_barrier|answer|call)": "after",
    r"(?:^|(?<=[.;,] ))[Nn]othing (?:if|when|where|for)\b": "nullopt, or none",
}

CHECKED = (".md", *CPP)  # In sources: names, comments and messages.

# Names that others have given or that programs rely on: options, fields of results, constants of libraries.
EXTERNAL = {
    ("bench/support/bench.cpp", "twins"),
    ("bench/support/report.cpp", "twin"),
    ("lapse/io/compressed/xz_decompressor.cpp", "tell"),
}

# Pages that repeat names of test cases.
GENERATED = {"docs/mutations.md"}

_PATTERNS = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): term for pattern, term in WORDS.items()}
_PHRASES = {re.compile(rf"\b(?:{pattern})"): wording for pattern, wording in PHRASES.items()}
_WHOLE_LINE = re.compile(r"\s*(?://+|/\*+|\* )\s?(.*)")
_BESIDE_CODE = re.compile(r"\s//+\s(.*)")
_CHANGE_OF_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def problems_in(path, number, text):
    for pattern, term in _PATTERNS.items():
        for match in pattern.finditer(text):
            if (path, match[0].lower()) in EXTERNAL:
                continue
            yield Problem(path, number, f"'{match[0]}': the term is {term}")


def comment_blocks(lines):
    """Lists of numbered texts of comments: successive lines that are nothing but comment, or one line beside code."""
    block = []
    for number, line in lines:
        if match := _WHOLE_LINE.match(line):
            block.append((number, match[1].strip()))
            continue
        if block:
            yield block
            block = []
        if match := _BESIDE_CODE.search(line):
            yield [(number, match[1].strip())]
    if block:
        yield block


def phrases_in(path, block):
    """A phrase may begin on one line of the block and end on the next."""
    text = " ".join(line for _, line in block)
    for pattern, wording in _PHRASES.items():
        for match in pattern.finditer(text):
            end = 0
            for number, line in block:
                end += len(line) + 1
                if match.start() < end:
                    yield Problem(path, number, f"'{match[0]}': say {wording}")
                    break


def check_words(root, suffixes=CHECKED):
    """Files with these suffixes contain no word of WORDS, and their prose no phrase of PHRASES. In documents, code and
    targets of links are ignored."""
    if ".md" in suffixes:
        for path in markdown_files(root):
            for number, text in prose_lines(root, path):
                yield from problems_in(path, number, text)
                if path not in GENERATED:
                    yield from phrases_in(path, [(number, text)])
    for path in files(root, tuple(suffix for suffix in suffixes if suffix in CPP)):
        for number, line in numbered_lines(root, path):
            yield from problems_in(path, number, _CHANGE_OF_CASE.sub(" ", line).replace("_", " "))
        for block in comment_blocks(numbered_lines(root, path)):
            yield from phrases_in(path, block)
