"""Headers of an installation: they need no library except MPI, and their declarations can be linked."""
import re

import include_rules
from source_tree import Problem

# Headers that users include, one per line. The headers that they include are installed, too.
PUBLIC_HEADERS = "cmake/package/public_headers.txt"

_OTHER_LIBRARIES = re.compile(r"(boost|fmt|nlohmann|CLI|hwloc)/|(zlib|lzma|zstd|xxhash|hwloc|cblas|hdf5)\.h$")
_MARK = re.compile(r"\bLAPSE_(EXPORT|HIDDEN|C_API)\b")
# Declared in such headers for the library alone.
_HIDDEN = re.compile(r"\b(ActionTimer|poisson_quantile|system_error|make_decompressor)\b")
_NO_DECLARATION = re.compile(
    r"(template|inline|constexpr|consteval|concept|static_assert|using|enum|namespace|friend|typedef|extern \"C\" \{|union|"
    r"class \w+;|struct \w+;|#|//|\}|public:|private:|protected:)")
_CLASS = re.compile(r"(class|struct)( \w+\(.*?\)| [A-Z_]+)* \w[\w:<>, ]*( final)?( :|\s*\{)")


def _without_brackets(text):
    """The text without template arguments, from < to >."""
    depth, kept = 0, []
    for character in re.sub(r"operator\s*(<=>|<=|>=|<<|>>|<|>|->)", "operator", text):
        if character == "<":
            depth += 1
        elif character == ">" and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(character)
    return "".join(kept)


def _is_function_declared_only(statement):
    """A declaration of a function that is defined in another place."""
    statement = _without_brackets(re.sub(r"\[\[\w+\]\] ?", "", statement))
    return re.match(r"[~\w:&*\s]*\w\s*\(.*\)( const)?( noexcept)?( override)?;$", statement) is not None and "= " not in re.sub(
        r"\(.*\)", "", statement)


def _statements(lines, indent):
    """Pairs of number and text of what begins at this depth, up to its ; or {, with the word template in front of one."""
    statement, begin, template = "", 0, False
    for number, line in enumerate(lines):
        line = re.sub(r"\s*//.*", "", line)
        if not statement and (not line.startswith(" " * indent) or line[indent:indent + 1] in ("", " ")):
            continue
        if not statement and line.strip().startswith("template"):
            template = True
            if not line.rstrip().endswith((";", "{")):
                continue
        begin = begin if statement else number
        statement = f"{statement} {line.strip()}" if statement else line.strip()
        if statement.endswith((";", "{", "}", ":")) or statement.startswith("#"):
            yield begin, f"template {statement}" if template else statement
            statement, template = "", False


def _unmarked(lines):
    """Line numbers, from 1, and names of declarations without a mark."""
    for number, statement in _statements(lines, 0):
        if _NO_DECLARATION.match(statement) or _MARK.search(statement) or _HIDDEN.search(statement):
            continue
        if _CLASS.match(statement):
            end = next((i for i in range(number, len(lines)) if lines[i].startswith("}")), len(lines))
            for _, member in _statements(lines[number + 1:end], 2):
                if not _NO_DECLARATION.match(member) and not _MARK.search(member) and _is_function_declared_only(member):
                    yield number + 1, f"{statement} declares {member}"
                    break
        elif _is_function_declared_only(statement):
            yield number + 1, statement


def check_exports(root):
    """The headers of an installation need no library except MPI and no inner part, and declare what the libraries export."""
    if not (root / PUBLIC_HEADERS).is_file():
        yield Problem(PUBLIC_HEADERS, 0, "does not exist: it lists the headers that are installed")
        return
    listed = (root / PUBLIC_HEADERS).read_text(encoding="utf-8").split()
    for number, header in enumerate(listed, start=1):
        if not (root / header).is_file():
            yield Problem(PUBLIC_HEADERS, number, f"{header} does not exist")
    for header in sorted({reached for path in listed if (root / path).is_file() for reached in include_rules.closure(root, path)}):
        if include_rules.is_inner(header):
            yield Problem(header, 0, f"is an inner header, and a header of {PUBLIC_HEADERS} includes it")
        for number, _, included in include_rules.includes_of(root, header):
            if _OTHER_LIBRARIES.search(included):
                yield Problem(header, number, f"is installed and includes <{included}>: users need not have it")
        for number, text in _unmarked((root / header).read_text(encoding="utf-8").splitlines()):
            yield Problem(header, number, f"needs LAPSE_EXPORT, as it is installed: {text}")
