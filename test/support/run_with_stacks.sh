#!/bin/bash
# run_with_stacks.sh <seconds> <command...>: runs the command and exits with its status. If it takes longer
# than the limit, prints the stacks of all threads of its descendants without children (the ranks, not the
# launcher), kills all descendants and exits with 124.
set -u
trap '' PIPE  # The processes are killed even if the output is no longer read.
if [[ $# -lt 2 ]]; then
  echo "usage: $0 <seconds> <command...>" >&2
  exit 2
fi
limit=$1
shift
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# After a failure, mpirun would wait a second or two although its ranks have ended: many tests fail on purpose.
export OMPI_MCA_odls_base_sigkill_timeout=${OMPI_MCA_odls_base_sigkill_timeout:-0}

descendants() {  # <process id>: the process and all its descendants
  echo "$1"
  local child
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
    descendants "$child"
  done
}

print_stacks() {  # <process ids...>
  local process
  for process in "$@"; do
    [[ -r /proc/$process/cmdline && -z $(cat /proc/"$process"/task/*/children) ]] || continue
    echo "==== stacks of process $process: $(tr '\0' ' ' </proc/"$process"/cmdline)"
    if command -v gdb >/dev/null; then
      timeout 30 gdb -p "$process" -batch -nx -ex 'set pagination off' -ex 'thread apply all backtrace 40' 2>&1 |
        grep -E '^(#|Thread )|ptrace' || echo "gdb printed no stack"
    else
      echo "gdb is not installed; threads, their states and what they wait for in the kernel:"
      local thread
      for thread in /proc/"$process"/task/*; do
        echo "  $(cat "$thread"/comm) $(awk '/^State/ {print $2, $3}' "$thread"/status) $(cat "$thread"/wchan)"
      done
    fi
  done
}

end_all() {
  local processes
  processes=$(descendants "$command_process")
  kill -TERM "$command_process" 2>/dev/null
  timeout 3 tail --pid="$command_process" -f /dev/null
  # shellcheck disable=SC2086
  kill -KILL $processes 2>/dev/null
}

"$@" &
command_process=$!
sleep "$limit" &
timer=$!
trap 'end_all; kill "$timer" 2>/dev/null; exit 143' TERM INT

wait -n -p finished "$command_process" "$timer"
result=$?
if [[ $finished == "$command_process" ]]; then
  kill "$timer" 2>/dev/null
  exit "$result"
fi
echo "==== time limit of $limit s exceeded: $*"
# shellcheck disable=SC2046
print_stacks $(descendants "$command_process")
end_all
exit 124
