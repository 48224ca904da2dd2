"""reference.py <file>: writes the reference of the package, docs/python-reference.md, from its docstrings."""
import inspect
import pathlib
import sys

import lapse
from lapse import refusals

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "python-reference.md"
HEAD = """# Python: reference

Written by `test/python/reference.py` from the texts of the package; the tests compare them.
[Python](python.md) is the page that explains them.
"""


def signature(name, member, text):
    """The name with its arguments, without pybind11's types; and the rest of its docstring."""
    first, _, rest = text.partition("\n")
    if "(self: " in first:
        parts = [one.name + (f"={one.default}" if one.default else "")
                 for one in refusals.parameters(first[first.index("("):]) if one.name != "self"]
        return f"{name}({', '.join(parts)})", rest.strip()
    return name + str(inspect.signature(member)).replace("(self, ", "(").replace("(self)", "()"), text


def shown(title, text, indentation=""):
    """The title, followed by the lines of the docstring."""
    lines = inspect.cleandoc(text).split("\n") if text else []
    return "\n".join(indentation + line if line else "" for line in [title, *("    " + line if line else "" for line in lines)])


def members(holder, inherited):
    """The titles and docstrings of a class's properties and methods, in alphabetical order."""
    for name in sorted(vars(holder)):
        member = inspect.getattr_static(holder, name)
        if name.startswith("_") or name in inherited:
            continue
        if isinstance(member, property):
            yield name, member.__doc__ or ""
        elif callable(member):
            yield signature(name, member, member.__doc__ or "")


def entries():
    """Titles and docstrings of everything public; a class with its members."""
    for name in sorted(set(lapse.__all__) - {"errors"}):
        value = getattr(lapse, name)
        if not inspect.isclass(value):
            yield *signature(name, value, value.__doc__ or ""), []
            continue
        title = name
        if inspect.isfunction(vars(value).get("__init__")):
            title, _ = signature(name, vars(value)["__init__"], "")
        is_plain = issubclass(value, Exception)
        yield title, value.__doc__ or "", [] if is_plain else list(members(value, vars(tuple) if issubclass(value, tuple) else ()))


def page():
    parts = [HEAD]
    for title, text, inner in entries():
        block = [shown(title, text), *(shown(name, its, "    ") for name, its in inner)]
        parts.append(f"## lapse.{title.partition('(')[0]}\n\n```text\n" + "\n\n".join(block) + "\n```")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def without_text():
    """Public names without a docstring."""
    return [f"{title}: {name}" for title, text, inner in entries() for name, its in [("", text), *inner] if not its]


def check():
    assert not without_text(), without_text()
    missing = [name for name in dir(lapse) if not name.startswith("_") and name not in lapse.__all__
               and (inspect.isclass(getattr(lapse, name)) or inspect.isfunction(getattr(lapse, name)))
               and getattr(lapse, name).__module__.startswith("lapse")]
    assert set(missing) <= {"table_specification", "whole_numbers"}, missing
    assert PAGE.read_text() == page(), f"{PAGE} is not what the package says: run {__file__} {PAGE}"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(page())
