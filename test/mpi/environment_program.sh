#!/bin/bash
# environment_program.sh <case> <program> <launcher...>: runs the program on the launcher's two ranks, or on
# one, in the environment of the case. Passes if it ends as expected and prints exactly the expected lines.
#   variables         variables of module files, and others that belong to no option
#   slurm_parts       servers on MPI_COMM_SELF in a job of two Slurm tasks
#   slurm_alone       two Slurm tasks of which each is an MPI job of its own
#   slurm_step        a step with one task in a job with two
#   other_launcher    two processes of the launcher of another MPI library, of which each is a job of its own
#   plain_init        MPI_Init without a thread level
#   level_by_variable the same, with the remedy that the error names
#   after_finalize    every call of a server after MPI_Finalize; before, a lock of another copy of the library
set -u
case=$1
program=$2
shift 2
launcher=("$@")
export UCX_LOG_LEVEL=error  # UCX, which MPICH uses, warns of messages in flight when MPI ends.
unset SLURM_NTASKS SLURM_STEP_NUM_TASKS OMPI_MPI_THREAD_LEVEL MPIR_CVAR_DEFAULT_THREAD_LEVEL

source "$(dirname "$0")/program_output.sh"

run() {  # <case of the program> <ranks>: sets output and status
  run_command "${launcher[@]}" "$2" "$program" "$1"
}

ends_well() {  # <ranks> <lines of the library>
  check "exit status 0" [ "$status" -eq 0 ]
  check "the end of every rank" [ "$(lines '^the rank ended well$')" -eq "$1" ]
  check "$2 lines of the library, each with rank and level" [ "$(lines '^lapse\[[0-9]+\] (warning|error): ')" -eq "$2" ]
  check "no other line" [ "$(lines '')" -eq $(($1 + $2)) ]
}

case $case in
  variables)
    export LAPSE_ROOT=/opt/lapse LAPSE_DIR=/opt/lapse LAPSE_VERSION=1 LAPSE_COMPILER=gcc LAPSE_MPI=openmpi
    LAPSE_OPTIONS_FILE=$(mktemp)
    export LAPSE_OPTIONS_FILE
    LAPSE_REGION_TRACE=$(mktemp -d)
    export LAPSE_REGION_TRACE
    trap 'rm -rf "$LAPSE_OPTIONS_FILE" "$LAPSE_REGION_TRACE"' EXIT
    echo 'lapse.eager_buffers = 77' >"$LAPSE_OPTIONS_FILE"
    run servers 2
    ends_well 2 1
    check "one warning for both variables" \
      [ "$(lines '^lapse\[0\] warning: the environment variables LAPSE_(COMPILER, LAPSE_MPI|MPI, LAPSE_COMPILER) ')" -eq 1 ]
    check "a trace of each rank, in which every region ends" \
      python3 -B "$(dirname "$0")/region_traces.py" "$LAPSE_REGION_TRACE" 2
    ;;
  slurm_parts)
    export SLURM_NTASKS=2
    run servers 2
    ends_well 2 0
    ;;
  slurm_alone)
    export SLURM_NTASKS=2
    run servers 1
    ends_well 1 1
    check "the warning" [ "$(lines 'Slurm has 2 tasks but MPI_COMM_WORLD has 1 rank.*srun --mpi=pmix')" -eq 1 ]
    ;;
  slurm_step)
    export SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=1
    run servers 1
    ends_well 1 0
    ;;
  other_launcher)
    # The test's launcher sets the variable of its own library.
    export PMI_SIZE=2 OMPI_COMM_WORLD_SIZE=2
    run servers 1
    ends_well 1 1
    check "the warning" [ "$(lines "a launcher of (MPICH's family|Open MPI) has started 2 processes but .* 1 rank")" -eq 1 ]
    ;;
  plain_init)
    run plain_init 1
    check "a failure" [ "$status" -ne 0 ]
    check "the remedies" \
      [ "$(lines '^MPI was init.*MPI_THREAD_SINGLE.*MPI_Init_thread.*OMPI_MPI_THREAD_LEVEL.*2 SERIALIZED')" -eq 1 ]
    ;;
  level_by_variable)
    # Each library reads its own variable.
    levels=(FUNNELED SERIALIZED)
    for level in 1 2; do
      export OMPI_MPI_THREAD_LEVEL=$level MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_${levels[level - 1]}
      run plain_init 1
      ends_well 1 0
    done
    ;;
  after_finalize)
    run after_finalize 2
    ends_well 2 4
    check "reports of MPI_Finalize" \
      [ "$(lines 'error: MPI_Finalize was called on rank .* 1 parameter server or manager still open')" -eq 2 ]
    check "reports of destructors" [ "$(lines 'destructor of a parameter server on rank .*already finalized')" -eq 2 ]
    ;;
  *)
    echo "unknown case: $case" >&2
    exit 2
    ;;
esac
[[ $failures -eq 0 ]]
