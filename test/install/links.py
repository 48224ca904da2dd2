"""links.py <folder>: checks that every relative link of the pages below the folder leads to a file. Prints broken links."""
import pathlib
import re
import sys


def links(page):
    in_code = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            in_code = not in_code
        if not in_code and not line.startswith("    "):
            for target in re.findall(r"\]\(([^)\s]+)\)", line):
                if not re.match("[a-z]+:|#", target):
                    yield number, target.split("#")[0]


def main():
    pages = sorted(pathlib.Path(sys.argv[1]).rglob("*.md"))
    followed = [(page, number, target) for page in pages for number, target in links(page)]
    dead = [(page, number, target) for page, number, target in followed if not (page.parent / target).exists()]
    for page, number, target in dead:
        print(f"{page}:{number}: {target} is not there")
    if dead or len(followed) < 200:
        sys.exit(f"{len(dead)} of {len(followed)} links lead nowhere")


main()
