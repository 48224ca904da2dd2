#!/bin/bash
# leaving.sh <whether the package was built> <python> <folder> <launcher and 2 ranks...>: only one rank leaves
# the block of its server, which ends the job, after its hooks. Exits with 77 if something is missing.
set -u
built=$1 python=$2 folder=$3
shift 3
if [[ $built != TRUE ]] || ! "$python" -c 'import mpi4py, numpy'; then
  echo "SKIPPED: the package for Python was not built, or $python has no mpi4py or no numpy"
  exit 77
fi
rm -rf "$folder"
mkdir -p "$folder"
here=$(dirname "$0")
"$here/../support/run_with_stacks.sh" 60 "$@" "$python" -B "$here/leaving.py" "$folder"
status=$?
fail() {
  echo "$1" >&2
  exit 1
}
[[ $status -ne 0 && $status -ne 124 ]] || fail "status $status: expected that of MPI_Abort"
grep -q "^error 1 Traceback" "$folder/log" && grep -q "LookupError: on one rank" "$folder/log" || fail "no message for the hook"
grep -qx "1 this rank leaves the block of its server alone: the job ends" "$folder/fatal" || fail "no reason for the hook"
