"""The form of documents: one sentence or thought per line, and no line that is too long."""
import re

from source_tree import Problem, files, numbered_lines

LONGEST_LINE = 120  # columns. Code, tables and lines that are one link may be longer

_NOT_DOCUMENTS = {"results", "__pycache__"}  # folders; unlike sources, documents are also stored with data

_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_CODE_SPAN = re.compile(r"`+[^`]+`+")
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
_LEAD_IN = re.compile(r"\*\*[^*]+\*\*")  # "**Why.** Because …" is one line.
_BARE_LINK = re.compile(r"(?:!?\[[^\]]*\]\(\S+\)|<?https?://\S+?>?)[.,;:]?")

_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|et al|cf|vs|[A-Z])\.$")
_SENTENCE_END = re.compile(r"[.!?][)\"'*_]*(?=\s+[(\"'*_]*[A-Z0-9])")
_ENDS_A_THOUGHT = re.compile(r"[.:;?!,][)\"'*_]*$")


def markdown_files(root):
    return files(root, (".md",), ignored=_NOT_DOCUMENTS)


def _kinds(root, path):
    """Triples of number, line and kind: blank, code, comment, table, heading, item or text."""
    fence = False
    comment = False
    before = "blank"
    for number, line in numbered_lines(root, path):
        stripped = line.strip()
        if comment or stripped.startswith("<!--"):
            kind = "comment"
            comment = "-->" not in stripped
        elif stripped.startswith("```"):
            kind = "code"
            fence = not fence
        elif fence or (line.startswith("    ") and stripped and before in ("blank", "code", "heading")):
            kind = "code"
        elif not stripped:
            kind = "blank"
        elif stripped.startswith("|"):
            kind = "table"
        elif stripped.startswith("#"):
            kind = "heading"
        elif _LIST_ITEM.match(line):
            kind = "item"
        else:
            kind = "text"
        # A blank line within a block of indented code does not end it.
        before = before if kind == "blank" and before == "code" and not fence else kind
        yield number, line, kind


def _words_alone(line):
    """The line without targets of links; a code span becomes one word that may begin a sentence."""
    return _LINK.sub(r"\1", _CODE_SPAN.sub("Code", line))


def prose_lines(root, path):
    """Pairs of number and text: everything but code, comments, code spans and targets of links."""
    for number, line, kind in _kinds(root, path):
        if kind not in ("blank", "code", "comment"):
            yield number, _words_alone(line)


def _sentence_ends_inside(text):
    ends = (match.start() + 1 for match in _SENTENCE_END.finditer(text))
    return any(not _ABBREVIATION.search(text[:end]) for end in ends)


def check_markdown(root):
    """One sentence per line; a sentence of several lines is broken where a thought ends, at least at a comma."""
    for path in markdown_files(root):
        lines = list(_kinds(root, path))
        following = [kind for _, _, kind in lines[1:]] + ["blank"]
        for (number, line, kind), next_kind in zip(lines, following):
            if kind not in ("item", "text"):
                continue
            text = _LIST_ITEM.sub("", line, count=1).strip() if kind == "item" else line.strip()
            if len(line) > LONGEST_LINE and not _BARE_LINK.fullmatch(text):
                yield Problem(path, number, f"a line of {len(line)} columns: at most {LONGEST_LINE} are allowed")
            text = _words_alone(_LEAD_IN.sub("", text, count=1) if text.startswith("**") else text)
            if _sentence_ends_inside(text):
                yield Problem(path, number, "a sentence begins in the middle of a line: one sentence a line")
            if next_kind == "text" and not _ENDS_A_THOUGHT.search(text):
                yield Problem(path, number, "a line ends in the middle of a thought: break it after . : ; ? ! or ,")
