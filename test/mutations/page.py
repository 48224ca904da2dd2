"""The table of docs/mutations.md: the list of faults, and the results of runs."""

BEGIN = "<!-- The table is written by test/mutate.sh --page. -->"
HEAD = "| fault | file | breaks | tests that fail | how it was found | measured |\n|---|---|---|---|---|---|\n"


def page_path(root):
    return root / "docs" / "mutations.md"


def measured(fault, results):
    result = results.get(fault.name)
    if result is None or result["digest"] != fault.digest():
        return "not run"
    if "problem" in result:
        return result["problem"]
    outcomes = [result["tests"][case] for _, case in fault.tests]
    text = "noticed" if "passes" not in outcomes else f"not noticed by {outcomes.count('passes')} of {len(outcomes)}"
    return f"{text}{' (hangs)' if 'hangs' in outcomes else ''}, {result['seconds']} s"


def row(fault, results):
    tests = "; ".join(f"`{program}`: {case}" for program, case in fault.tests)
    return f"| {fault.name} | `{fault.file}` | {fault.rule} | {tests} | {fault.found} | {measured(fault, results)} |\n"


def split(root):
    text = page_path(root).read_text()
    before, begin, table = text.partition(BEGIN + "\n")
    assert begin, f"{page_path(root)} has no line {BEGIN}"
    return before + begin, table


def write(root, faults, results):
    before, _ = split(root)
    page_path(root).write_text(before + "\n" + HEAD + "".join(row(fault, results) for fault in faults))


def difference(root, faults):
    """Rows that are missing, changed or superfluous, ignoring measurements."""
    wanted = {row(fault, {}).rpartition(" | ")[0] for fault in faults}
    found = {line.rpartition(" | ")[0] for line in split(root)[1].splitlines() if line.startswith("| ")}
    found.discard(HEAD.splitlines()[0].rpartition(" | ")[0])
    wrong = sorted(line.split(" | ")[0].strip("| ") for line in wanted ^ found)
    return f"docs/mutations.md is not up to date (test/mutate.sh --page): {', '.join(wrong)}" if wrong else ""
