#!/bin/bash
# torch.sh <whether the package was built> <python> <program> <folder for checkpoints, or -> <launcher and ranks...>: runs a
# program with lapse.torch under the launcher. Exits with 77 if something is missing.
set -eu
built=$1 python=$2 program=$3 folder=$4
shift 4
if [[ $built != TRUE ]]; then
  echo "SKIPPED: the package for Python was not built: it needs pybind11 and the headers of $python"
  exit 77
fi
if ! "$python" -c 'import mpi4py, numpy, torch'; then
  echo "SKIPPED: $python has no mpi4py, no numpy or no torch"
  exit 77
fi
arguments=()
if [[ $folder != - ]]; then
  rm -rf "$folder"
  arguments=("$folder")
fi
# More threads than processors slow each other down.
export OMP_NUM_THREADS=1
exec "$(dirname "$0")/../support/run_with_stacks.sh" 200 "$@" "$python" -B "$program" "${arguments[@]}"
