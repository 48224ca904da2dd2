"""Reads the list of deliberate faults, and makes a fault in the text of a file.

A file *.faults describes faults one after the other; an empty line ends each, '#' begins a comment:

    [name-of-the-fault]
    file = lapse/protocol/modules/replication.cpp
    rule = what it breaks, in a few words
    found = how this fault came into the list
    after = code          (optional: the place is the first one after this code, which occurs once)
    steps = 20000         (optional: of each simulation)
    ranks = 3             (optional: of each program with MPI; 3 unless given)
    test = test_protocol: name of a test case that must fail with it   (one or more)
    - code that is replaced, lines of code without their indentation
    + code that takes its place; without such lines the code is removed

Code is compared by its tokens, so lines may move, and be broken differently. A place that is not found, or found
twice, is an error."""
import dataclasses
import hashlib
import pathlib
import re

FIELDS = ("file", "rule", "found", "after", "steps", "ranks")


class FaultError(Exception):
    pass


@dataclasses.dataclass
class Fault:
    name: str
    source: str  # the list, and the line where the fault begins
    file: str = ""
    rule: str = ""
    found: str = ""
    after: str = ""
    steps: str = ""
    ranks: str = ""
    tests: list = dataclasses.field(default_factory=list)  # (program, test case)
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)

    def programs(self):
        return sorted({program for program, _ in self.tests})

    def digest(self):
        text = repr((self.file, self.after, self.steps, *([self.ranks] if self.ranks else []), self.tests, self.old, self.new))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_faults(path):
    faults = []
    fault = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if line.startswith("#"):
            continue
        if not line.strip():
            fault = None
        elif header := re.fullmatch(r"\[([a-z0-9-]+)\]", line):
            fault = Fault(header[1], where)
            faults.append(fault)
        elif fault is None:
            raise FaultError(f"{where}: outside of any fault")
        elif line.startswith(("- ", "+ ")):
            (fault.old if line[0] == "-" else fault.new).append(line[2:])
        else:
            name, separator, value = (part.strip() for part in line.partition("="))
            if name == "test" and ": " in value:
                fault.tests.append(tuple(value.split(": ", 1)))
            elif separator and name in FIELDS and not getattr(fault, name):
                setattr(fault, name, value)
            else:
                raise FaultError(f"{where}: neither a field nor code: {line}")
    return faults


def read_all(folder):
    faults = [fault for path in sorted(folder.glob("*.faults")) for fault in read_faults(path)]
    names = set()
    for fault in faults:
        missing = [field for field in ("file", "rule", "found", "tests", "old") if not getattr(fault, field)]
        if missing:
            raise FaultError(f"{fault.source}: {fault.name} has no {', '.join(missing)}")
        if fault.name in names:
            raise FaultError(f"{fault.source}: a second fault {fault.name}")
        names.add(fault.name)
    return faults


def pattern_of(code):
    return re.compile(r"\s*".join(re.escape(token) if not token.isidentifier() else rf"\b{token}\b"
                                  for token in re.findall(r"\w+|[^\w\s]", code)))


def find_once(fault, text, code, begin=0):
    places = list(pattern_of(code).finditer(text, begin))
    if len(places) != 1:
        raise FaultError(f"{fault.source}: {fault.name}: the code occurs {len(places)} times in {fault.file}: {code}")
    return places[0]


def apply(fault, text):
    """The text of the file with the fault."""
    old = "\n".join(fault.old)
    if fault.after:
        place = pattern_of(old).search(text, find_once(fault, text, fault.after).end())
        if place is None:
            raise FaultError(f"{fault.source}: {fault.name}: behind its place, the code is not in {fault.file}: {old}")
    else:
        place = find_once(fault, text, old)
    return text[:place.start()] + "\n".join(fault.new) + text[place.end():]


def test_cases(root):
    """The names of all test cases in C++."""
    names = set()
    for path in sorted((root / "test").rglob("*.cpp")):
        for literals in re.findall(r'TEST_CASE(?:_METHOD)?\(\s*(?:\w+,\s*)?((?:"(?:[^"\\]|\\.)*"\s*)+)',
                                   path.read_text()):
            name = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literals))
            names.add(name.replace('\\"', '"').replace("\\\\", "\\"))
    return names


def check(root, faults):
    """Checks that every fault can be made, and that its tests exist. Returns the problems."""
    problems = []
    cases = test_cases(root)
    for fault in faults:
        path = root / fault.file
        try:
            if not path.is_file():
                raise FaultError(f"{fault.source}: {fault.name}: there is no file {fault.file}")
            text = path.read_text()
            if apply(fault, text) == text:
                raise FaultError(f"{fault.source}: {fault.name} changes nothing")
        except FaultError as error:
            problems.append(str(error))
        problems += [f"{fault.source}: {fault.name}: there is no test case '{case}'"
                     for _, case in fault.tests if case not in cases]
    return problems


def folder_of_lists():
    return pathlib.Path(__file__).resolve().parent
