"""Words that have a standard term of the field instead. docs/glossary.md defines the terms."""
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

CHECKED = (".md", *CPP)  # In sources: names, comments and messages.

# Names that others have given or that programs rely on: options, fields of results, constants of libraries.
EXTERNAL = {
    ("bench/support/bench.cpp", "twins"),
    ("bench/support/report.cpp", "twin"),
    ("lapse/io/compressed/xz_decompressor.cpp", "tell"),
}

_PATTERNS = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): term for pattern, term in WORDS.items()}
_CHANGE_OF_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def problems_in(path, number, text):
    for pattern, term in _PATTERNS.items():
        for match in pattern.finditer(text):
            if (path, match[0].lower()) in EXTERNAL:
                continue
            yield Problem(path, number, f"'{match[0]}': the term is {term}")


def check_words(root, suffixes=CHECKED):
    """No word of WORDS stands in files with these suffixes. In documents, code and targets of links are left out."""
    if ".md" in suffixes:
        for path in markdown_files(root):
            for number, text in prose_lines(root, path):
                yield from problems_in(path, number, text)
    for path in files(root, tuple(suffix for suffix in suffixes if suffix in CPP)):
        for number, line in numbered_lines(root, path):
            yield from problems_in(path, number, _CHANGE_OF_CASE.sub(" ", line).replace("_", " "))
