#!/bin/bash
# Builds everything and runs all tests: the whole project without sanitizers, the library, unit and simulation tests also
# with AddressSanitizer and ThreadSanitizer. Ends with the summary of one ctest run over all of them, in which each build
# is an entry too; exits with 0 only when everything passed.
# Further arguments go to ctest, such as --tests-regex test_core.
set -uo pipefail
cd "$(dirname "$0")/.."
source_folder=$PWD
jobs=$(nproc)
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

step() {
  printf '\n==== %s (%d s since the start)\n' "$*" "$SECONDS"
}

step "Packages"
cmake/install_packages.sh test || exit 2

# One ctest run over all build folders: their test files are included by this one.
all=build/all
mkdir -p "$all"
: >"$all/CTestTestfile.cmake"

build() {  # <preset> <target>
  local result=false start=$SECONDS
  step "Build with preset $1, target $2"
  cmake --preset "$1" && cmake --build --preset "$1" --target "$2" --parallel "$jobs" -- -k 0 && result=true
  echo "Build with preset $1: $((SECONDS - start)) s, $([[ $result == true ]] && echo succeeded || echo FAILED)"
  {
    echo "add_test([=[build.$1]=] $result)"
    echo "set_tests_properties([=[build.$1]=] PROPERTIES LABELS build)"
    echo "subdirs([=[$source_folder/build/$1]=])"
  } >>"$all/CTestTestfile.cmake"
}
build ci all
build asan tests_without_mpi
build tsan tests_without_mpi

step "All tests; times per tier stand in the label summary at the end"
# Sanitizer builds are for the tests without MPI: MPI libraries have races and leaks of their own.
ctest --test-dir "$all" --output-on-failure --parallel "$jobs" --label-exclude '^(address|thread)-(mpi|lint|model)$' "$@"
