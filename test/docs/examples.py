#!/usr/bin/env python3
"""Makes programs from the C++, Fortran or Python in documents, by the suffix of the output.

examples.py program DOCUMENT OUTPUT      all blocks of the document, in order, are one program;
                                         in Fortran (.f90) and Python (.py) those before the first that is
                                         indented, like parts of programs are
examples.py c_program DOCUMENT OUTPUT    the same for C
examples.py fragments DOCUMENT OUTPUT    each block that does not begin with an #include becomes the body of a
                                         function with a server as argument; the program calls them in order. Other
                                         declarations that a fragment needs precede it in the document, in a
                                         comment that begins with <!-- given.
"""
import re
import sys
from pathlib import Path

BLOCK = re.compile(r"(?:<!-- given\n(?P<given>.*?)-->\n)?```cpp\n(?P<code>.*?)```", re.DOTALL)
C_BLOCK = re.compile(r"```c\n(.*?)```", re.DOTALL)

FRAGMENTS_HEAD = """#include <csignal>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/jobs/checkpoints.hpp"
#include "lapse/jobs/job_control.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/elements.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/transport/mpi/environment.hpp"

"""

FRAGMENTS_MAIN = """
int main(int argc, char** argv) {{
  lapse::prepare_mpi_environment();
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  {{
    lapse::ParameterServer server(MPI_COMM_WORLD);
{calls}
    server.close();
  }}
  MPI_Finalize();
}}
"""


def blocks(document):
    return [(match["given"] or "", match["code"]) for match in BLOCK.finditer(document.read_text())]


def program_in(language, document):
    found = re.findall(rf"```{language}\n(.*?)```", document.read_text(), re.DOTALL)
    indented = [number for number, code in enumerate(found) if code.startswith(" ")]
    return "\n".join(found[:indented[0]] if indented else found)


def program(document):
    return "\n".join(code for _, code in blocks(document))


def c_program(document):
    return "\n".join(C_BLOCK.findall(document.read_text()))


def fragments(document):
    functions = []
    for given, code in blocks(document):
        if code.startswith("#include"):
            continue
        body = given + code
        functions.append(f"static void fragment_{len(functions)}(lapse::ParameterServer& server) {{\n{body}}}\n")
    if not functions:
        sys.exit(f"{document} has no fragment of C++")
    calls = "\n".join(f"    fragment_{number}(server);" for number in range(len(functions)))
    return FRAGMENTS_HEAD + "\n".join(functions) + FRAGMENTS_MAIN.format(calls=calls)


def main():
    kind, document, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    language = {".f90": "fortran", ".py": "python"}.get(output.suffix)
    if language:
        output.write_text(program_in(language, document))
        return
    output.write_text({"program": program, "c_program": c_program, "fragments": fragments}[kind](document))


if __name__ == "__main__":
    main()
