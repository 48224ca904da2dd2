#!/bin/bash
# run.sh [quick|mpich] [arguments of ctest, such as --tests-regex test_core]: builds everything and runs all tests.
#
# Without quick: the whole project without sanitizers; the library, unit and simulation tests also with
# AddressSanitizer and, if tests have threads, ThreadSanitizer. Ends with the summary of one ctest run over
# all of them. In it each build is an entry, too, and it fails if a label takes longer than
# test/budgets.json allows.
#
# With quick: the build without sanitizers, and its tests without MPI (unit, simulation) and on one or two
# ranks of one host. For work in progress: after a build it takes less than three minutes on two cores.
#
# With mpich: the build with MPICH in place of Open MPI, and its tests with MPI on one host. Otherwise only a
# few of them run, if MPICH is installed.
#
# Exits with 0 only if everything passed. Uses a compiler cache (ccache, sccache) if there is one.
set -uo pipefail
cd "$(dirname "$0")/.."
source_folder=$PWD
jobs=$(nproc)
quick=false
mpich=false
case ${1:-} in
  -h | --help) sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$0"; exit 0 ;;
  quick) quick=true; shift ;;
  mpich) mpich=true; shift ;;
esac
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

step() {
  printf '\n==== %s (%d s since the start)\n' "$*" "$SECONDS"
}

step "Packages"
cmake/install_packages.sh test || exit 2

if [[ $mpich == true ]]; then
  command -v mpicxx.mpich >/dev/null || { echo "There is no MPICH: install the packages mpich and libmpich-dev" >&2; exit 2; }
  step "Build with preset mpich"
  cmake --preset mpich && cmake --build --preset mpich --parallel "$jobs" || exit 1
  step "Tests with MPI, with MPICH"
  exec ctest --preset mpich "$@"
fi

# One ctest run over all build folders: this file includes their test files.
all=build/all
[[ $quick == false ]] || all=build/quick
mkdir -p "$all"
: >"$all/CTestTestfile.cmake"
built=()  # "<preset>": <seconds>

build() {  # <preset> <targets>: with all tests of the build except those of MPICH, which have the same names
  local result=false start=$SECONDS
  step "Build with preset $1, target $2"
  # shellcheck disable=SC2086  # several words
  cmake --preset "$1" && cmake --build --preset "$1" --target $2 --parallel "$jobs" -- -k 0 && result=true
  built+=("\"$1\": $((SECONDS - start))")
  echo "Build with preset $1: $((SECONDS - start)) s, $([[ $result == true ]] && echo succeeded || echo FAILED)"
  {
    echo "add_test([=[build.$1]=] $result)"
    echo "set_tests_properties([=[build.$1]=] PROPERTIES LABELS build)"
    [[ $1 == mpich ]] || echo "subdirs([=[$source_folder/build/$1]=])"
  } >>"$all/CTestTestfile.cmake"
}

if [[ $quick == true ]]; then
  build ci all
  step "Tests without MPI, and on one or two ranks"
  exec ctest --test-dir "$all" --output-on-failure --parallel "$jobs" --label-regex '^(build|unit|simulation|ranks-[12])$' \
    --label-exclude '^(cluster|domains|docs|slow)$' "$@"
fi

build ci all
build asan tests_without_mpi
build tsan tests_without_mpi

# The transport with another MPI library.
if command -v mpicxx.mpich >/dev/null; then
  build mpich "transport_mpi transport_states rma_rings"
  slice=(ctest --test-dir "$source_folder/build/mpich" --output-on-failure
    --tests-regex '^(transport_mpi.ranks_[23]|transport_states[.].*|rma_rings.ranks_2)$')
else
  slice=(echo "SKIPPED: there is no MPICH (packages mpich and libmpich-dev)")
fi
{
  echo "add_test([=[mpich]=]$(printf ' [=[%s]=]' "${slice[@]}"))"
  echo "set_tests_properties([=[mpich]=] PROPERTIES LABELS mpi TIMEOUT 180 PROCESSORS 2 SKIP_REGULAR_EXPRESSION ^SKIPPED)"
} >>"$all/CTestTestfile.cmake"

# Last, and alone: the time of all tests and builds.
(IFS=,; echo "{${built[*]}}") >"$all/builds.json"
{
  echo "add_test([=[budgets]=] python3 -B [=[$source_folder/test/budgets.py]=] [=[$source_folder/$all]=])"
  echo "set_tests_properties([=[budgets]=] PROPERTIES LABELS build COST -1e9 RUN_SERIAL TRUE TIMEOUT 60)"
} >>"$all/CTestTestfile.cmake"

step "All tests; times per tier stand in the label summary at the end"
# Sanitizer builds run only tests without MPI: MPI libraries have races and leaks of their own.
ctest --test-dir "$all" --output-on-failure --parallel "$jobs" --label-exclude '^(address|thread)-(mpi|lint|model)$' "$@"
