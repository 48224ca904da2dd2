#!/bin/bash
# remains.sh <netns_cluster.sh> <run_with_stacks.sh>: a cluster returns the status and output of its command,
# and leaves nothing, however it ends. Prints errors and exits with 1.
set -u
cluster=$1
run_with_stacks=$2
PATH=$PATH:/usr/sbin:/sbin
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# A job that shows when its ranks run and never ends. The command lines of all of them contain the name of its
# folder.
# shellcheck disable=SC2016
job=("$cluster" --hosts 2 mpirun -n 2 sh -c ': >"$1/rank.$OMPI_COMM_WORLD_RANK"; exec tail -f "$1/never"' sh "$directory")
: >"$directory/never"

processes() {  # of the job
  grep -ls --text "[/]${directory#/}" /proc/[0-9]*/cmdline
}

machine() {  # what a cluster could leave on the machine
  ip -brief link | cut -d ' ' -f 1
  ip netns list
  ls -d "${TMPDIR:-/tmp}"/ompi.n[0-9]* 2>/dev/null
}

wait_until() {  # <what is expected> <command...>
  local tries
  for tries in {1..200}; do
    "${@:2}" && return
    sleep 0.1
  done
  fail "after $tries looks: not $1"
}

ranks_started() { [[ -e $directory/rank.0 && -e $directory/rank.1 ]]; }
all_ended() { [[ -z $(processes) ]]; }

before=$(machine)
"$cluster" --hosts 3 sh -c 'read -r line && [ "$line" = text ] && [ "$(hostname)" = n1 ] && exit 5' <<<text
status=$?
[[ $status -ne 77 ]] || exit 77
[[ $status -eq 5 ]] || fail "exit status $status, expected 5"
"$cluster" --hosts 0 true 2>"$directory/error" && fail "accepted --hosts 0"
grep -q "^netns_cluster.sh: --hosts '0': expected" "$directory/error" || fail "--hosts 0: $(cat "$directory/error")"

"$run_with_stacks" 4 "${job[@]}" >"$directory/stacks" 2>&1
status=$?
[[ $status -eq 124 ]] || fail "time limit: exit status $status, expected 124"
stacks=$(grep -c "^==== stacks of process [0-9]*: tail -f $directory/never" "$directory/stacks")
[[ $stacks -eq 2 ]] || fail "time limit: stacks of $stacks ranks, expected 2: $(cat "$directory/stacks")"
wait_until "ended after the time limit" all_ended

for signal in TERM KILL; do
  rm -f "$directory"/rank.*
  "${job[@]}" >/dev/null 2>&1 &
  script=$!
  wait_until "started, to be ended by $signal" ranks_started
  kill -"$signal" "$script"
  wait "$script" 2>/dev/null
  wait_until "ended by $signal" all_ended
done

after=$(machine)
[[ $after == "$before" ]] || fail "before: $before; after: $after"
exit $((failures > 0))
