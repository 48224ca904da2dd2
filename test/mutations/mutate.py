#!/usr/bin/env python3
"""mutate.sh [options] [fault ...]: makes deliberate faults, each alone, and checks that its tests fail.

Without names: all faults of test/mutations/*.faults. Sources are copied to build/mutations/source and built there, so a
fault never reaches the original sources; only the test programs that a fault names are built. First the tests are run
without any fault.

Exit status: 0 every fault was detected by all its tests; 1 one was not, or a fault or a test is wrong."""
import argparse
import fcntl
import filecmp
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import fault_list
import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
BASE = ROOT / "build" / "mutations"
COPY = BASE / "source"
BUILD = COPY / "build" / "ci"
RESULTS = ROOT / "test" / "mutations" / "measured.json"  # the result of the last run of each fault
TEST_SECONDS = 90  # a test that has not ended by then hangs, and so has detected the fault
RANKS = "3"  # of a program with MPI, unless the fault says another number
HUNG = (124, 137)  # exit statuses of timeout


def run(command, **options):
    return subprocess.run([str(part) for part in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False, **options)


def copy_sources():
    """Makes the copy equal to the sources. Equal files keep their time, and so the objects built from them."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE).stdout.decode().split("\0")
    wanted = {name for name in names if name and (ROOT / name).is_file()}
    COPY.mkdir(parents=True, exist_ok=True)
    for name in sorted(wanted):
        source, target = ROOT / name, COPY / name
        if target.is_file() and filecmp.cmp(source, target, shallow=False):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for folder, folders, files in os.walk(COPY):
        if pathlib.Path(folder) == COPY and "build" in folders:
            folders.remove("build")
        for name in files:
            path = pathlib.Path(folder) / name
            if str(path.relative_to(COPY)) not in wanted:
                path.unlink()


def configure():
    if (BUILD / "build.ninja").is_file():
        return
    done = run(["cmake", "--preset", "ci", "-DLAPSE_PYTHON=OFF", "-DLAPSE_BUILD_BENCHMARKS=OFF", "-DLAPSE_INSTALL=OFF"],
               cwd=COPY)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nthe copy in {COPY} cannot be configured")


def build(programs, jobs):
    """Returns the compiler's errors; empty if it has built the programs."""
    done = run(["nice", "ninja", "-C", BUILD, "-j", jobs, *programs])
    return "" if done.returncode == 0 else done.stdout


def launcher():
    """The command that starts a program with MPI; the number of ranks follows it."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("LAPSE_LAUNCHER:"):
            return line.partition("=")[2].split(";")
    return sys.exit(f"{BUILD} has no launcher of programs with MPI")


def command_of(program, ranks):
    for folder in ("unit", "simulation", "mpi"):
        path = BUILD / "test" / folder / program
        if path.is_file():
            return [*launcher(), ranks or RANKS, path] if folder == "mpi" else [path]
    return sys.exit(f"there is no test program {program} in {BUILD}/test")


def escaped(case):
    """A name of a test case for the command line, with special characters escaped."""
    return "".join("\\" + letter if letter in ",[]\\\"*" else letter for letter in case)


def run_test(test, steps, ranks):
    """'passes', 'fails' or 'hangs', and the output."""
    program, case = test
    environment = dict(os.environ)
    for variable in ("SIMULATION_SEED", "SIMULATION_STEPS"):
        environment.pop(variable, None)
    if steps:
        environment["SIMULATION_STEPS"] = steps
    if os.getuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    # A launcher that is asked to end ends its ranks.
    done = run(["timeout", "--kill-after=10", TEST_SECONDS, *command_of(program, ranks), escaped(case)],
               env=environment, cwd=BUILD)
    if done.returncode in HUNG:
        return "hangs", done.stdout
    if "No tests ran" in done.stdout or "No test cases matched" in done.stdout:
        sys.exit(f"{program} has no test case '{case}'")
    return ("passes" if done.returncode == 0 else "fails"), done.stdout


def try_without_faults(faults, jobs):
    programs = sorted({program for fault in faults for program in fault.programs()})
    print(f"without any fault: building {', '.join(programs)}", flush=True)
    if problem := build(programs, jobs):
        sys.exit(f"{problem}\nthe sources do not compile")
    for test, steps, ranks in sorted({(test, fault.steps, fault.ranks) for fault in faults for test in fault.tests}):
        outcome, output = run_test(test, steps, ranks)
        if outcome != "passes":
            sys.exit(f"{output}\nwithout any fault, '{test[1]}' of {test[0]} {outcome}")


def try_fault(fault, jobs, verbose):
    begin = time.monotonic()
    path = COPY / fault.file
    text = path.read_text()
    result = {"digest": fault.digest(), "tests": {}}
    path.write_text(fault_list.apply(fault, text))
    try:
        if problem := build(fault.programs(), jobs):
            if verbose:
                print(problem)
            result["problem"] = "does not compile"
        else:
            for test in fault.tests:
                outcome, output = run_test(test, fault.steps, fault.ranks)
                if verbose:
                    print(output[-3000:])
                result["tests"][test[1]] = outcome
    finally:
        path.write_text(text)
    result["seconds"] = round(time.monotonic() - begin)
    return result


def text_of(result):
    if "problem" in result:
        return result["problem"].upper()
    missed = [case for case, outcome in result["tests"].items() if outcome == "passes"]
    return "noticed" if not missed else "NOT NOTICED by " + "; ".join(missed)


def try_all(faults, arguments):
    BASE.mkdir(parents=True, exist_ok=True)
    lock = open(BASE / "lock", "w")  # until this program ends
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit(f"another run uses {COPY}")
    copy_sources()
    configure()
    if not arguments.no_baseline:
        try_without_faults(faults, arguments.jobs)
    failed = []
    for fault in faults:
        result = try_fault(fault, arguments.jobs, arguments.verbose)
        print(f"{fault.name}: {text_of(result)} ({result['seconds']} s)", flush=True)
        if text_of(result) != "noticed":
            failed.append(fault.name)
        results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
        results[fault.name] = result
        RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    print(f"{len(faults) - len(failed)} of {len(faults)} faults were noticed")
    if failed:
        sys.exit("NOT: " + ", ".join(failed))


def main():
    parser = argparse.ArgumentParser(prog="mutate.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage="mutate.sh [options] [fault ...]")
    parser.add_argument("faults", nargs="*", help="names; also beginnings of names, such as store-")
    parser.add_argument("--list", action="store_true", help="only names the faults, and what each breaks")
    parser.add_argument("--check", action="store_true",
                        help="only checks that every fault can still be made, that its tests exist, and that the page lists it")
    parser.add_argument("--page", action="store_true",
                        help="only writes docs/mutations.md anew, from the list and what the last runs have shown")
    parser.add_argument("--verbose", action="store_true", help="prints what compilers and tests print")
    parser.add_argument("--no-baseline", action="store_true", help="does not run the tests without any fault first")
    parser.add_argument("--jobs", default=str(os.cpu_count() or 1), help="of the compiler (default: %(default)s)")
    arguments = parser.parse_args()
    try:
        faults = fault_list.read_all(fault_list.folder_of_lists())
    except fault_list.FaultError as error:
        sys.exit(str(error))
    if problems := fault_list.check(ROOT, faults):
        sys.exit("\n".join(problems))
    if arguments.check:
        if problem := page.difference(ROOT, faults):
            sys.exit(problem)
        return print(f"{len(faults)} faults can be made")
    if arguments.page:
        return page.write(ROOT, faults, json.loads(RESULTS.read_text()) if RESULTS.is_file() else {})
    for name in arguments.faults:
        if not any(fault.name.startswith(name) for fault in faults):
            sys.exit(f"no fault is called {name}")
    if arguments.faults:
        faults = [fault for fault in faults if any(fault.name.startswith(name) for name in arguments.faults)]
    if arguments.list:
        return print("\n".join(f"{fault.name}: {fault.rule}" for fault in faults))
    return try_all(faults, arguments)


if __name__ == "__main__":
    main()
