"""The form of C++ comments, which the formatter leaves alone (`ReflowComments: false` in .clang-format)."""
import re

from source_tree import CPP, Problem, files, numbered_lines

LONGEST_COMMENT_LINE = 110  # columns, like ColumnLimit in .clang-format
NEARLY_FULL = 90  # columns: a comment line of this length was broken because it was full
STRAY_WORDS = 3  # A comment line with more words than this is not called torn.

_COMMENT = re.compile(r"(?:^|\s)//\s")
_WHOLE_LINE = re.compile(r"\s*//+\s?(.*)")
_ENDS_A_THOUGHT = re.compile(r"[.:;?!,][)\"'`]*$")


def torn_comments(lines):
    """Numbers, from 1, of the comment lines on which a formatter left a few words: the previous line is nearly full,
    and the next line continues the sentence."""
    texts = [match[1].strip() if (match := _WHOLE_LINE.fullmatch(line)) else None for line in lines]
    for i in range(1, len(lines) - 1):
        before, text, after = texts[i - 1 : i + 2]
        if not before or not text or not after:
            continue
        stray = len(text.split()) <= STRAY_WORDS and not _ENDS_A_THOUGHT.search(text)
        if stray and after[0].islower() and len(lines[i - 1]) >= NEARLY_FULL:
            yield i + 1


def check_comments(root):
    """Comments fit into LONGEST_COMMENT_LINE columns, and none is torn."""
    for path in files(root, CPP):
        lines = [line for _, line in numbered_lines(root, path)]
        for number, line in enumerate(lines, start=1):
            if len(line) > LONGEST_COMMENT_LINE and _COMMENT.search(line):
                text = f"a comment line of {len(line)} columns: at most {LONGEST_COMMENT_LINE} are allowed"
                yield Problem(path, number, text)
        for number in torn_comments(lines):
            yield Problem(path, number, "a torn comment: a few stray words, then the rest of the sentence")
