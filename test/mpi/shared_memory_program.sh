#!/bin/bash
# shared_memory_program.sh <environment> <program> <launcher...>: runs the program where ranks can hardly
# share memory, cannot share it, or die. Passes if it ends as expected and prints one line that says what was
# lost, why, and what to do.
#   64m, 1m           /dev/shm of that size (needs the permission to mount; else exit status 77, skipped)
#   filled            the same, filled by another process after a table has been made
#   full              the same, filled before the first packet
#   addresses         a rank whose addresses are limited (ulimit -v): neither shared nor private memory for a table
#   no_osc            an MPI library that cannot make shared windows
#   unknown_osc       a component that does not exist: MPI_Init itself ends the job
#   one_core          all ranks on one core
#   killed            a rank is killed in the middle of a phase
#   copies            /dev/shm of 64 MB, which does not hold all replicas that ranks want
#   killed_in_rounds  like killed, while replicas are merged and refreshed
set -u
environment=$1
program=$2
shift 2
launcher=("$@")

# Restarts this script with a /dev/shm of its own.
with_shared_memory() {  # <size>
  [[ -z ${OWN_SHARED_MEMORY:-} ]] || return 0
  if ! unshare --mount --propagation private sh -c 'mount -t tmpfs -o size=1m tmpfs /dev/shm' 2>/dev/null; then
    echo "SKIPPED: /dev/shm cannot be mounted: needed are root with CAP_SYS_ADMIN, unshare and mount (Debian: util-linux," \
      "mount)" >&2
    exit 77
  fi
  # shellcheck disable=SC2016
  OWN_SHARED_MEMORY=1 exec unshare --mount --propagation private sh -c '
    mount -t tmpfs -o size="$1" tmpfs /dev/shm && shift && exec "$@"' sh "$1" \
    "$0" "$environment" "$program" "${launcher[@]}"
}

source "$(dirname "$0")/program_output.sh"

run() {  # <case>: sets output and status
  run_command "${launcher[@]}" "$program" "$1"
}

ends_well() {
  check "exit status 0" [ "$status" -eq 0 ]
  check "the results" [ "$(lines '^the results are right$')" -eq 1 ]
}

# Expects that the program prints exactly one such line.
warns_once() {  # <pattern>
  check "one warning: $1" [ "$(lines "$1")" -eq 1 ]
}

readonly fallback='ranks of a host do not share memory, accesses between them go by message'
case $environment in
  64m)
    with_shared_memory 64m
    run tables
    ends_well
    warns_once "table 'values' on [^ ]+: /dev/shm has room for [0-9.]+ MB of its values.*--shm-size.*domain=rank"
    warns_once "table 'words': ranks of a host do not share its memory.*words and owners.*--shm-size.*domain=rank"
    check "two warnings" [ "$(lines '^.*lapse.*(shared memory|share)')" -eq 2 ]
    check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    ;;
  filled)
    with_shared_memory 64m
    export OMPI_MCA_btl_vader_backing_directory=/tmp  # Open MPI's own messages need shared memory.
    export LAPSE_DOMAIN=2                             # The first domain takes over the keys of the second.
    run filled
    ends_well
    warns_once "table 'growing' on [^ ]+: /dev/shm is full.*private memory.*--shm-size.*domain=rank"
    check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    ;;
  full)
    with_shared_memory 64m
    export OMPI_MCA_btl_vader_backing_directory=/tmp  # Open MPI's own messages need shared memory.
    export LAPSE_DOMAIN=rank                          # Only packets use shared memory.
    run full
    ends_well
    check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    ;;
  1m)
    with_shared_memory 1m
    run few
    ends_well
    warns_once "$fallback.*/dev/shm has.*domain=rank"
    check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    ;;
  addresses)
    run addresses
    check "exit status 1" [ "$status" -eq 1 ]
    check "the reason" [ "$(lines "^rank 1 failed: table 'wide' needs [0-9.]+ MB on rank 1")" -ge 1 ]
    warns_once "table 'wide': ranks of a host do not share its memory.*no addresses.*ulimit -v.*domain=rank"
    check "nothing about the file system" [ "$(lines 'shm')" -eq 0 ]
    ;;
  no_osc)
    export OMPI_MCA_osc=ucx
    run few
    ends_well
    warns_once "$fallback.*MPI_Win_allocate_shared.*OMPI_MCA_osc.*domain=rank"
    ;;
  unknown_osc)
    export OMPI_MCA_osc=nonsense
    run few
    check "a failure" [ "$status" -ne 0 ]
    check "no time limit" [ "$status" -ne 124 ]
    # MPI itself prints the message, and mpirun sometimes loses it: then mpirun reports that.
    check "what failed" [ "$(lines "nonsense|MPI_(INIT|Init)|ORTE_ERROR_LOG")" -ge 1 ]
    ;;
  one_core)
    launcher=(taskset --cpu-list "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')" "${launcher[@]}")
    run few
    ends_well
    warns_once "core"
    ;;
  copies)
    with_shared_memory 64m
    for domain in rank 2; do
      export LAPSE_DOMAIN=$domain
      run copies
      ends_well
      check "copies" [ "$(lines '^[1-9][0-9]* copies came, [0-9]+ declined, 0 refused$')" -eq 1 ]
      check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    done
    # Ranks of a domain share replicas, which do not all fit.
    check "declined copies" [ "$(lines ' [1-9][0-9]* declined')" -eq 1 ]
    warns_once "table 'values' on [^ ]+: /dev/shm has room for [0-9.]+ MB of its values.*--shm-size.*domain=rank"
    ;;
  killed | killed_in_rounds)
    with_shared_memory 256m
    run "$environment"
    check "a failure" [ "$status" -ne 0 ]
    check "no time limit" [ "$status" -ne 124 ]
    check "the signal" [ "$(lines 'signal 9')" -ge 1 ]
    ls -la /dev/shm
    check "an empty /dev/shm" [ -z "$(ls /dev/shm)" ]
    ;;
  *)
    echo "unknown environment: $environment" >&2
    exit 2
    ;;
esac
[[ $failures -eq 0 ]]
