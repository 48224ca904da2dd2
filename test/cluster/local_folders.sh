#!/bin/bash
# local_folders.sh PROGRAM: run on the first of two hosts. checkpoints_program first writes to a folder of
# each host, and ends before the folder of all ranks has its last checkpoint. Then the hosts' folders are
# exchanged, and one is lost.
set -u
program=$1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

# <last step> <expected line>
run() {
  mpirun -n 2 "$program" "$directory/shared" "$1" "$directory/local-%h" >"$directory/out" 2>&1 ||
    { echo "FAILED: status $?: $(cat "$directory/out")"; failures=1; }
  grep -q "^$2" "$directory/out" || { echo "FAILED: no line '$2': $(cat "$directory/out")"; failures=1; }
}

run 3 "saved 3"
if [[ -e $directory/shared/step-3/manifest.json || ! -d $directory/local-n1/step-3 || ! -d $directory/local-n2/step-3 ]]; then
  echo "FAILED: $(find "$directory")"
  failures=1
fi
mv "$directory/local-n1" "$directory/other"
mv "$directory/local-n2" "$directory/local-n1"
mv "$directory/other" "$directory/local-n2"
run 3 "loaded 3"
# Another host replaces the second.
rm -r "$directory/local-n2"
run 2 "loaded 2"
grep -q "^problem: step 3 has 1 of its 2 parts in the local folders" "$directory/out" ||
  { echo "FAILED: no problem is named: $(cat "$directory/out")"; failures=1; }
exit "$failures"
