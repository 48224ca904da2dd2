#!/bin/bash
# coexistence.sh <build folder> <sources of programs> <compiler> <launcher ...>: installs the build to a
# temporary folder, builds programs that use it together with PETSc, hypre and HDF5, and runs them on three
# ranks, and one with mpi4py. Missing packages are skipped, which the output says.
set -euo pipefail

source "$(dirname "$0")/prepare.sh"

DESTDIR=$folder/moved cmake --install "$build" --prefix /opt/lapse >"$folder/install.log"
prefix=$folder/moved/opt/lapse
mkdir -p "$folder/test/install"
cp -r "$sources" "$folder/test/install"
cd "$folder"
cmake -G Ninja -S test/install/coexistence -B programs -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" >log 2>&1 ||
  fail "$(cat log)"
grep SKIPPED log || true
cmake --build programs >log 2>&1 || fail "$(cat log)"

run() {  # <what it prints at its end> <command ...>
  local line=$1
  shift
  if [[ ! -x $1 ]]; then return; fi
  "${launcher[@]}" 3 "$@" | tee output
  echo "after $SECONDS s"
  grep -qx "$line" output || fail "$1 has not come to its end"
}

run "PETSc works" programs/petsc
run "hypre works" programs/hypre
run "HDF5 works" programs/hdf5 "$folder/values.h5"

# The Python package: the installed one, else the build's.
python=$(sed -n 's/^LAPSE_PYTHON_EXECUTABLE:[A-Z]*=//p' "$build/CMakeCache.txt")
package=$(dirname "$(dirname "$(find "$prefix" "$build/python" -path '*/lapse/__init__.py' -print -quit 2>/dev/null)")")
if [[ -n $python && $package != . ]] && "$python" -c "import mpi4py, numpy" 2>/dev/null; then
  export PYTHONPATH=$package
  run "mpi4py works" "$python" -B test/install/coexistence/mpi4py_program.py
else
  echo "SKIPPED in part: there is no mpi4py, no numpy or no package of Python"
fi
