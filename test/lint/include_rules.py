"""Which folder may include which: the arrows of the architecture point one way, and only the transport sees MPI."""
import collections
import functools
import re

from source_tree import CPP, FORTRAN, Problem, files, numbered_lines

# The rooms of a folder, from the bottom: each may include those before it. "" is the folder itself, without
# its rooms; "headers" are the folder's headers only, as far as rooms see them, while its sources see all
# rooms: users begin there.
ROOMS = {
    "lapse/core": ["headers", "process", "options", "statistics", "tracing", ""],
    "lapse/transport": ["packets", "host", "rma", "", "engine"],
    "lapse/transport/mpi": ["library", "windows", ""],
    "lapse/store": ["memory", "values", "update_rules", "words", ""],
    "lapse/protocol": ["host", "table", "worker", "records", "key", "modules", "levels", "group", "stalls", ""],
    "lapse/ps": ["headers", "stalls", "agreement", "trace", "access", "tables", "phase", "server", ""],
    "lapse/io": ["files", "compressed", "text", "loading", "npy", "vocabulary", "matrices", "triples", "documents", "samples"],
    "adapm": ["headers", "sampling", "intents", "tracing", "management", ""],
}

# files of one room, about 20 classes
MAX_ROOM_FILES = 40

_TO_PROTOCOL = ["lapse/core", "lapse/transport", "lapse/store", "lapse/directory"]
_TO_PS = [*_TO_PROTOCOL, "lapse/protocol", "lapse/consistency"]
_TO_JOBS = [*_TO_PS, "lapse/ps", "lapse/checkpoint"]
_LIBRARIES = [*_TO_JOBS, "lapse/jobs", "lapse/stage", "lapse/c", "lapse/fortran", "adapm", "lapse/io"]

# Besides itself, a folder may include these.
ALLOWED = {
    "lapse/core": [],
    "lapse/transport": ["lapse/core"],
    "lapse/transport/mpi": ["lapse/core", "lapse/transport"],
    "lapse/transport/loopback": ["lapse/core", "lapse/transport"],
    "lapse/store": ["lapse/core"],
    "lapse/directory": ["lapse/core"],
    "lapse/checkpoint": ["lapse/core"],
    "lapse/protocol": _TO_PROTOCOL,
    "lapse/consistency": [*_TO_PROTOCOL, "lapse/protocol"],
    "lapse/ps": _TO_PS,
    "lapse/jobs": _TO_JOBS,
    "lapse/stage": [*_TO_JOBS, "lapse/jobs"],
    "adapm": [*_TO_PS, "lapse/ps"],
    "lapse/c": [*_TO_JOBS, "lapse/jobs", "adapm"],
    "lapse/fortran": [],  # it calls lapse/c by the names of its functions
    "lapse/python": [*_TO_JOBS, "lapse/jobs", "adapm"],
    "lapse/io": ["lapse/core"],
    "apps": _LIBRARIES,
    "examples": _LIBRARIES,
    "bench": [*_LIBRARIES, "apps", "test/support"],
    "test": [*_LIBRARIES, "apps", "bench"],
}

# The name of a header for C programs is short.
_OF_FOLDER = {"lapse/lapse.h": "lapse/c/lapse.h"}

# In these folders, only these files or folders may include <mpi.h>.
MPI_RESTRICTED = ("lapse/", "adapm/")
MPI_ALLOWED = ("lapse/transport/mpi/", "lapse/ps/parameter_server.hpp", "lapse/c/server.h")

# The headers that a program with a server includes. The limits concern all headers of the project that it
# sees then; none of the library's inner parts may be among them.
PUBLIC_HEADERS = ("lapse/ps/parameter_server.hpp", "lapse/transport/mpi/environment.hpp")
MAX_PUBLIC_HEADERS = 25
MAX_PUBLIC_LINES = 2000
_PUBLIC_PROTOCOL = ("lapse/protocol/table/registered_function.hpp", "lapse/protocol/table/unanswered_count.hpp")
_PUBLIC_DIRECTORY = ("lapse/directory/home_map_kind.hpp",)
_INNER_FOLDERS = {
    "lapse/protocol": _PUBLIC_PROTOCOL,
    "lapse/directory": _PUBLIC_DIRECTORY,
    "lapse/transport": (),
    "lapse/transport/mpi": ("lapse/transport/mpi/environment.hpp",),
}
# Rooms that programs must not see.
_INNER_ROOMS = tuple(f"lapse/ps/{room}/" for room in ROOMS["lapse/ps"] if room not in ("headers", "")) + ("lapse/store/memory/",)
_INNER_HEADERS = ("lapse/ps/access/worker_core.hpp", "lapse/store/store.hpp", "lapse/store/memory/slab.hpp", "lapse/store/memory/region.hpp")

# A class that is declared and not defined: users' headers hide the types that they point to.
_DECLARATION = re.compile(r"^(?:class|struct) (\w+);")
_DEFINITION = re.compile(r"^(?:class|struct) (?:LAPSE_\w+(?:\([^)]*\))? )?(\w+)(?: final)?(?: : [^;]*)?(?: \{.*)?$")

_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def _folder(path):
    """The folder of the table that contains a path; None for other places."""
    path = _OF_FOLDER.get(path, path)
    matches = [folder for folder in ALLOWED if path.startswith(folder + "/")]
    return max(matches, key=len) if matches else None


def _room(path):
    """The folder with rooms that contains a path, and the position of its room; None for other places."""
    folder = _folder(path)
    if folder not in ROOMS:
        return None
    rest = path[len(folder) + 1:]
    room = rest.split("/")[0] if "/" in rest else ""
    if room == "" and "headers" in ROOMS[folder] and path.endswith((".hpp", ".h")):
        room = "headers"
    return folder, ROOMS[folder].index(room) if room in ROOMS[folder] else None, room


def includes_of(root, path):
    """Triples of line number, kind of bracket and header."""
    state = (root / path).stat()
    return _includes_in(root, path, state.st_mtime_ns, state.st_size)


@functools.lru_cache(maxsize=None)
def _includes_in(root, path, _written, _size):
    matches = ((number, _INCLUDE.match(line)) for number, line in numbered_lines(root, path))
    return tuple((number, match[1], match[2]) for number, match in matches if match)


def _includes(root):
    for path in files(root, (*CPP, *FORTRAN)):
        for number, bracket, header in includes_of(root, path):
            yield path, number, bracket, header


def closure(root, path):
    """The path and every file of the project that it includes, directly or not; sorted."""
    reached, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting += [header for _, _, header in includes_of(root, current) if (root / header).is_file()]
    return sorted(reached)


def check_arrows(root):
    """Own headers exist, are included by their full path, and are in a folder that the including one may use."""
    for path, number, bracket, header in _includes(root):
        own, target = _folder(path), _folder(header)
        if target is None:
            if bracket == '"':
                yield Problem(path, number, f'"{header}" is no full path: expected one that begins with a folder of the project')
            continue
        if bracket == "<":
            yield Problem(path, number, f'<{header}> belongs to the project: expected "{header}"')
        if not (root / header).is_file():
            yield Problem(path, number, f'"{header}" does not exist')
        if own is None:
            yield Problem(path, number, f"{path} lies in no folder of the table of allowed dependencies")
        elif target == own and own in ROOMS:
            yield from _check_room(path, number, header)
        elif target != own and not any(_OF_FOLDER.get(header, header).startswith(folder + "/") for folder in ALLOWED[own]):
            yield Problem(path, number, f'{own} must not include "{header}": allowed are {", ".join(ALLOWED[own]) or "none"}')


def _check_room(path, number, header):
    folder, own, name = _room(path)
    _, target, target_name = _room(header)
    if own is None or target is None:
        yield Problem(path, number, f'"{name if own is None else target_name}" is no room of {folder}: they are {", ".join(ROOMS[folder])}')
    elif target > own:
        below = ", ".join(f"{room or folder}" for room in ROOMS[folder][:own]) or "none"
        yield Problem(path, number, f'{name or folder} must not include "{header}", which lies above it: rooms below are {below}')


def check_declarations(root):
    """No header declares a class of a higher room, or of a folder that it may not include, except users' headers."""
    defined = {}
    for path in files(root, (".hpp",)):
        if path.startswith(("lapse/", "adapm/")):
            for _, line in numbered_lines(root, path):
                if match := _DEFINITION.match(line):
                    defined.setdefault(match[1], []).append(path)
    listed = root / "cmake/package/public_headers.txt"
    public = {header for path in listed.read_text(encoding="utf-8").split() for header in closure(root, path)} if listed.is_file() else set()
    for path in files(root, CPP):
        if not path.startswith(("lapse/", "adapm/")) or path in public:
            continue
        for number, line in numbered_lines(root, path):
            match = _DECLARATION.match(line)
            if match and match[1] in defined and not any(_may_see(path, header) for header in defined[match[1]]):
                yield Problem(path, number, f"declares {match[1]} of {defined[match[1]][0]}, which it may not include")


def _may_see(path, header):
    own, target = _folder(path), _folder(header)
    if own != target:
        return own is None or any(header.startswith(folder + "/") for folder in ALLOWED[own])
    return own not in ROOMS or None in (_room(path)[1], _room(header)[1]) or _room(header)[1] <= _room(path)[1]


def check_rooms(root):
    """No folder of the libraries has more than MAX_ROOM_FILES files."""
    counts = collections.Counter(path.rsplit("/", 1)[0] for path in files(root, CPP) if path.startswith(("lapse/", "adapm/")))
    for folder, count in sorted(counts.items()):
        if count > MAX_ROOM_FILES:
            yield Problem(folder, 0, f"has {count} files: at most {MAX_ROOM_FILES}; which rooms are in it?")


def check_mpi(root):
    """Only the transport over MPI and the header that takes a communicator include <mpi.h>."""
    for path, number, _, header in _includes(root):
        if header == "mpi.h" and path.startswith(MPI_RESTRICTED) and not path.startswith(MPI_ALLOWED):
            yield Problem(path, number, f"includes <mpi.h>: allowed are {', '.join(MPI_ALLOWED)}")


def is_inner(header):
    """Whether programs must not see a header."""
    return (header in _INNER_HEADERS or header.startswith(_INNER_ROOMS) or
            header not in _INNER_FOLDERS.get(_folder(header), (header,)))


def check_public_headers(root):
    """A user's program sees few headers of the project, and none of its inner parts."""
    for path in PUBLIC_HEADERS:
        if not (root / path).is_file():
            yield Problem(path, 0, "does not exist: users include it")
            return
    seen = sorted({header for path in PUBLIC_HEADERS for header in closure(root, path)})
    for header in seen:
        if is_inner(header):
            yield Problem(header, 0, f"a program that includes {' and '.join(PUBLIC_HEADERS)} sees this inner header")
    lines = sum(len((root / header).read_text(encoding="utf-8").splitlines()) for header in seen)
    if len(seen) > MAX_PUBLIC_HEADERS:
        yield Problem(PUBLIC_HEADERS[0], 0, f"shows a program {len(seen)} headers of the project: at most {MAX_PUBLIC_HEADERS}")
    if lines > MAX_PUBLIC_LINES:
        yield Problem(PUBLIC_HEADERS[0], 0, f"shows a program {lines} lines of the project: at most {MAX_PUBLIC_LINES}")
