"""fortran_procedures.py <sources> [--write]: checks, or writes, the procedures of the Fortran module in docs/fortran-procedures.md."""
import pathlib
import re
import sys

HEAD = """# Procedures of the Fortran module

All procedures of the [module](fortran.md) with their arguments in order; brackets mark optional ones.
The C function of the same name describes each.
Pass optional arguments by name: `ierr=status`.
If one is passed by position, or keys are not `integer(int64)`,
the compiler finds *no specific subroutine for the generic*.
`value`: `real(real32)`, `real(real64)`, `integer(int32)` or `integer(int64)`, as in the table.

| Procedure | Arguments |
|---|---|
"""
KINDS = [  # the first that matches
    (r"type\((lapse_\w+)\)", None), (r"type\((MPI_Comm)\)", None), (r"type\(c_ptr\)", "c_ptr"), (r"type\(c_funptr\)", "c_funptr"),
    (r"VALUE", "value"), (r"character", "character"), (r"logical", "logical"), (r"real\(real64\)", "real64"),
    (r"real\((real32|c_float)\)", "real32"), (r"integer\((int64|c_int64_t)\)", "int64"), (r"integer\((int32|c_int32_t)\)", "int32"),
    (r"integer(\(c_int\))?", "integer"), (r"procedure", "procedure")]


def statements(folder):
    """The lines of all sources without comments; continued lines are joined."""
    for path in sorted(folder.glob("*.f90")) + sorted(folder.glob("*.inc")):
        text = re.sub(r"&\s*\n\s*", "", re.sub(r"^\s*!.*\n", "", path.read_text(), flags=re.MULTILINE))
        yield from (re.sub(r"\s+!.*", "", line.strip()) for line in text.splitlines())


def kind_of(declaration):
    for pattern, name in KINDS:
        found = re.match(pattern, declaration)
        if found:
            return name or found[1]
    return declaration


def described(arguments, declarations):
    texts = []
    for argument in arguments:
        declaration = next((line for line in declarations if re.search(rf"::.*\b{argument}\b", line)), "")
        shape = re.search(rf"\b{argument}\(([:, ]+)\)", declaration)
        text = f"{argument}: {kind_of(declaration)}{'(' + shape[1].replace(' ', '') + ')' if shape else ''}"
        texts.append(f"[{text}]" if "optional" in declaration else text)
    return ", ".join(texts)


def procedures(folder):
    """The lists of arguments by public name; a generic name has several."""
    public, generic, bodies = set(), {}, []
    interface = name = None
    for line in statements(folder):
        public.update(re.findall(r"lapse_\w+", line) if line.startswith("public ::") else ())
        if re.match(r"(end )?interface\b", line):
            interface = (re.findall(r"^interface (lapse_\w+)", line) or [None])[0]
        for procedure in re.findall(r"\w+", line.removeprefix("module procedure")) if line.startswith("module procedure") else ():
            generic.setdefault(procedure, interface)
        begin = re.match(r"(?!end)[\w() ]*\b(subroutine|function) (\w+)\((.*?)\)(.*)", line)
        if begin and not name:
            name = begin[2]
            bodies.append((name, [a.strip() for a in begin[3].split(",") if a.strip()], [], "bind(C" in begin[4]))
        elif name and re.match(r"end (subroutine|function)", line):
            name = None
        elif name and "::" in line:
            bodies[-1][2].append(line)
    for name, arguments, declarations, is_bound in bodies:
        shown = generic.get(name) or name
        if shown in public and not is_bound:
            for shape in (":", ":, :"):  # those of lapse/fortran/access.inc
                yield shown, described(arguments, [line.replace("SHAPE", shape) for line in declarations])


def main():
    root = pathlib.Path(sys.argv[1])
    rows = sorted({f"| `{name}` | {arguments} |" for name, arguments in procedures(root / "lapse" / "fortran")})
    text = HEAD + "\n".join(rows) + "\n"
    page = root / "docs" / "fortran-procedures.md"
    if "--write" in sys.argv:
        page.write_text(text)
    elif text != page.read_text():
        sys.exit(f"{page} is not what the sources say: {sys.argv[0]} {root} --write writes it")
    print(f"{len(rows)} procedures")


main()
