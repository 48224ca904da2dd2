#!/bin/bash
# checkpoints_program.sh <checkpoints_program> <lapse-checkpoint> <launcher...>: repeatedly kills a rank
# during a save. Saved checkpoints must stay complete, and the next run must continue from the newest. Prints
# errors and exits with 1.
set -u
program=$1
tool=$2
shift 2
launcher=("$@")
directory=$(mktemp -d)
folder=$directory/checkpoints
trap 'rm -rf "$directory"' EXIT
kills=5
step=0

fail() {
  echo "FAILED: $*" >&2
  cat "$directory/err" >&2
  exit 1
}

# Reads lines of the program. Sets `step` to the last step that was saved, and `processes`.
saved() {  # <line>
  case $1 in
    process*) processes+=("${1#process }") ;;
    saved*) step=${1#saved } ;;
    loaded*)
      [[ ${1#loaded } -eq $step ]] || fail "loaded ${1#loaded }, where $step is the newest"
      ;;
  esac
}

# Whether a process still runs or has open files.
runs() {
  [[ -r /proc/$1/stat ]] && [[ $(cut --delimiter=' ' --fields=3 "/proc/$1/stat" 2>/dev/null) =~ ^[^ZX]$ ]]
}

mkfifo "$directory/lines"
for ((kill = 0; kill < kills; ++kill)); do
  processes=()
  first=$step
  "${launcher[@]}" "$program" "$folder" 100000 >"$directory/lines" 2>"$directory/err" &
  job=$!
  exec 3<"$directory/lines"
  while read -r line <&3; do
    saved "$line"
    [[ $step -ge $((first + 2)) ]] && break
  done
  [[ $step -ge $((first + 2)) ]] || fail "the program ended after step $step"
  # Some milliseconds later, at a different moment of a save each time.
  milliseconds=$((RANDOM % 30 + 1))
  while read -r -t "0.0$(printf '%02d' $milliseconds)" line <&3; do
    saved "$line"
    milliseconds=$((milliseconds / 2 + 1))
    [[ $step -ge $((first + 6)) ]] && break
  done
  builtin kill -9 "${processes[RANDOM % ${#processes[@]}]}" || fail "no process to be killed"
  while read -r line <&3; do saved "$line"; done
  exec 3<&-
  wait "$job" && fail "the job did not notice that a rank was killed"
  # The launcher may end before the other ranks do.
  exec 4<>"$directory/lines"
  for process in "${processes[@]}"; do
    while runs "$process"; do read -r -t 0.01 line <&4; done
  done
  exec 4<&-
  "$tool" verify "$folder" >"$directory/out" 2>&1 || fail "a checkpoint is not whole: $(cat "$directory/out")"
  newest=$(sed -n '$s/^step \([0-9]*\):.*/\1/p' "$directory/out")
  # The launcher may lose the last lines of the job.
  [[ $newest -ge $step ]] || fail "step $step was saved and is not there: $(cat "$directory/out")"
  step=$newest
done

# The next save removes the files of killed attempts.
last=$((step + 2))
"${launcher[@]}" "$program" "$folder" "$last" >"$directory/out" 2>"$directory/err" || fail "the last run failed"
grep -q "^saved $last$" "$directory/out" || fail "the last run did not save step $last: $(cat "$directory/out")"
files=$(find "$folder" -type f ! -name lock | wc -l)
listed=$("$tool" list "$folder" | wc -l)
[[ $listed -eq 3 ]] || fail "$listed checkpoints, expected 3"
[[ $files -eq 6 ]] || fail "$files files, expected a manifest and one of this host in each checkpoint: $(find "$folder")"
echo "$kills kills, nothing lost, step $last"
