#!/bin/bash
# run.sh <whether the package was built> <python> <folder for checkpoints> <launcher and ranks...>: runs the
# tests of the Python package under the launcher. Exits with 77 if something is missing.
set -eu
built=$1 python=$2 folder=$3
shift 3
if [[ $built != TRUE ]]; then
  echo "SKIPPED: the package for Python was not built: it needs pybind11 and the headers of $python"
  exit 77
fi
if ! "$python" -c 'import mpi4py, numpy'; then
  echo "SKIPPED: $python has no mpi4py or no numpy"
  exit 77
fi
here=$(dirname "$0")
rm -rf "$folder"
exec "$here/../support/run_with_stacks.sh" 120 "$@" "$python" -B "$here/test_package.py" "$folder"
