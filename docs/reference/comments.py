"""comments.py <header>: writes the header with its comments in the form that Doxygen reads. Line numbers stay.

A comment before a declaration documents it (/// in C++, /** in C), one behind a member the member (///<). Text in
comments is text: what Doxygen would take for commands or tags is escaped. Lines such as "// --- waiting ---" head a
section and document nothing.
"""

import re
import sys

# What Doxygen or HTML would read as markup.
MARKUP = re.compile(r"[\\@<>&#%\"]")
HEADING = re.compile(r"^\s*//\s*---|^\s*/\*\s*---")


def escaped(text: str) -> str:
    return MARKUP.sub(lambda match: "\\" + match[0], text)


def of_cpp(lines: list[str]) -> list[str]:
    result = []
    for line in lines:
        stripped = line.lstrip()
        indent = line[: len(line) - len(stripped)]
        behind = re.match(r'^((?:[^"/]|"(?:[^"\\]|\\.)*"|/(?!/))*\S)\s*// ?(.*)$', line)
        if HEADING.match(line):
            result.append("")
        elif stripped.startswith("//"):
            result.append(f"{indent}/// {escaped(stripped[2:].lstrip())}")
        elif behind and behind[1].rstrip().endswith((";", ",")) or behind and re.search(r"[\w)}]$", behind[1]):
            result.append(f"{behind[1]} ///< {escaped(behind[2])}")
        else:
            result.append(line)
    return result


def of_c(text: str) -> str:
    def comment(match: re.Match) -> str:
        if HEADING.match(match[0]):
            return re.sub(r"[^\n]", "", match[0])
        behind = text[: match.start()].rsplit("\n", 1)[-1].strip() != ""
        return ("/**< " if behind else "/** ") + escaped(match[1].strip()) + " */"

    return re.sub(r"/\*((?:[^*]|\*(?!/))*)\*/", comment, text)


with open(sys.argv[1], encoding="utf-8") as file:
    content = file.read()
if sys.argv[1].endswith(".h"):
    sys.stdout.write(of_c(content))
else:
    sys.stdout.write("\n".join(of_cpp(content.splitlines())) + "\n")
