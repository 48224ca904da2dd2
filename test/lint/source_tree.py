"""The files of the project, and problems found in them."""
import dataclasses
import os
import pathlib

FOLDERS = ("lapse", "adapm", "apps", "bench", "examples", "test", "tools", "slurm", "cmake", "docs")
CPP = (".cpp", ".hpp", ".c", ".h")
FORTRAN = (".f90", ".F90", ".inc")
IGNORED_FOLDERS = frozenset({"data", "results", "__pycache__"})


@dataclasses.dataclass(frozen=True)
class Problem:
    path: str  # relative to the root of the project
    line: int  # from 1; 0: the whole file
    text: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.text}"


def files(root, suffixes, folders=FOLDERS, ignored=IGNORED_FOLDERS):
    """Paths relative to root, sorted. A suffix may be a whole file name."""
    found = []
    for folder in folders:
        for directory, subfolders, names in os.walk(root / folder):
            subfolders[:] = [name for name in subfolders if name not in ignored]
            for name in names:
                path = pathlib.Path(directory, name)
                if path.suffix in suffixes or name in suffixes:
                    found.append(path.relative_to(root).as_posix())
    found += [path.name for path in root.iterdir() if path.is_file() and (path.suffix in suffixes or path.name in suffixes)]
    return sorted(found)


def numbered_lines(root, path):
    """Pairs of line number, from 1, and text."""
    return enumerate((root / path).read_text(encoding="utf-8").splitlines(), start=1)
