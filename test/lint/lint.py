#!/usr/bin/env python3
"""lint.py <check> [options]: runs one check on the files of the project.

--include, --cache and --without FOLDER/ are for the checks "headers" and "locks", --compiler is for "headers"; --build, the folder in which
compile_commands.json is, for "tidy". --suffix is for the check
"words" and may be given several times: files with these suffixes, such as .hpp, instead of those that the test checks.

Exit status: 0 no problems, 1 problems found (printed), 2 wrong use, 77 skipped because a tool is missing."""
import argparse
import pathlib
import sys

import comment_rules
import compiler_rules
import export_rules
import include_rules
import markdown_rules
import text_rules
import tidy_rules
import word_rules

CHECKS = {
    "arrows": include_rules.check_arrows,
    "declarations": include_rules.check_declarations,
    "rooms": include_rules.check_rooms,
    "mpi": include_rules.check_mpi,
    "public_headers": include_rules.check_public_headers,
    "exports": export_rules.check_exports,
    "file_length": text_rules.check_file_length,
    "sources": text_rules.check_sources,
    "unfinished": text_rules.check_unfinished,
    "sleeps": text_rules.check_sleeps,
    "threads": text_rules.check_threads,
    "output": text_rules.check_output,
    "links": text_rules.check_links,
    "markdown": markdown_rules.check_markdown,
    "words": word_rules.check_words,
    "comments": comment_rules.check_comments,
    "format": compiler_rules.check_format,
    "headers": compiler_rules.check_headers,
    "locks": compiler_rules.check_locks,
    "tidy": tidy_rules.check_tidy,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=CHECKS)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--cache", type=pathlib.Path)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--suffix", action="append", default=[])
    parser.add_argument("--build", type=pathlib.Path)
    arguments = parser.parse_args()
    further = {}
    if arguments.check in ("headers", "locks"):
        further = {"include_folders": arguments.include, "cache": arguments.cache, "without": arguments.without}
    if arguments.check == "headers":
        further["compiler"] = arguments.compiler
    if arguments.check == "words" and arguments.suffix:
        further = {"suffixes": tuple(arguments.suffix)}
    if arguments.check == "tidy":
        further = {"build": arguments.build}
    try:
        problems = list(CHECKS[arguments.check](arguments.root, **further))
    except compiler_rules.Skipped as skipped:
        print(f"SKIPPED: {skipped}")
        return 77
    for problem in problems:
        print(problem)
    if problems:
        print(f"{len(problems)} problem{'s' if len(problems) > 1 else ''} found by the check '{arguments.check}'")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
