#!/bin/bash
# options_program.sh <lapse-options> <application>: checks what the program prints about options, what it
# refuses, and that an application accepts the same options. Prints errors and exits with 1.
set -u
program=$1
application=$2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
file=$directory/options
source "$(dirname "$0")/../mpi/program_output.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

has() {  # <pattern>: expects an output line that matches
  check "a line $1" [ "$(lines "$1")" -ge 1 ]
}

run_command "$program"
check "status 0" [ "$status" -eq 0 ]
check "each option once, with its default" \
  [ "$(lines '^(lapse|adapm)\..* = .*  \[default\]$')" -eq "$(lines '; environment variable (LAPSE|ADAPM)_[A-Z_]*$')" ]
has '^lapse.progress_spin = 200 us  \[default\]$'
has '^adapm.trace_keys = none  \[default\]$'
printf '# for all jobs\nlapse.progress_spin = 50\nadapm.technique = nups\nlapse.domain = 2\n' >"$file"
export LAPSE_OPTIONS_FILE=$file LAPSE_DOMAIN=3
run_command "$program" --set adapm.nups_factor=5
check "status 0" [ "$status" -eq 0 ]
has "^lapse.progress_spin = 50 us  \[$file:2\]\$"
has "^adapm.technique = nups  \[$file:3\]\$"
has '^lapse.domain = 3  \[environment\]$'
has '^adapm.nups_factor = 5  \[--set\]$'
"$program" --json >"$directory/json" || check "status 0 of --json" false
check "JSON" python3 - "$directory/json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
[spin] = [option for option in document["options"] if option["name"] == "lapse.progress_spin"]
assert spin["value"] == "50" and spin["unit"] == "us" and spin["default"] == "200" and spin["origin"].endswith("options:2"), spin
assert document["problems"] == []
END
run_command "$program" --set lapse.domain
check "status 1 of a wrong --set" [ "$status" -eq 1 ]
run_command "$program" --help
check "status 0 of --help" [ "$status" -eq 0 ]
# The application uses the technique of the file, and reports errors in the file.
small=(--zipf 50x20x400 --epochs 1 --workers 1 --no-baselines --summary-json "$directory/summary")
unset LAPSE_DOMAIN
run_command "$application" "${small[@]}" --set lapse.log_level=info
check "status 0 of the application" [ "$status" -eq 0 ]
has 'progress_spin = 50 us \(default 200\)'
has 'technique = nups'
run_command "$application" "${small[@]}" --set lapse.log_level=info --set adapm.technique=relocation_only
has 'technique = relocation_only'
for wrong in domain=2 lapse.domian=2 lapse.domain=x lapse.domain; do
  run_command "$application" "${small[@]}" --set "$wrong"
  check "the application refuses $wrong" [ "$status" -ne 0 ]
  has '^error: .*--set: '
done
echo 'lapse.progress_spins = 1' >>"$file"
run_command "$application" "${small[@]}"
check "the application refuses the file" [ "$status" -ne 0 ]
has "^error: .*$file:5: there is no option 'progress_spins'"
export LAPSE_LOGLEVEL=info
run_command "$program"
check "status 1 of errors" [ "$status" -eq 1 ]
has "^error: $file:5: there is no option 'progress_spins' \(did you mean 'progress_spin'"
has "^error: the environment variable LAPSE_LOGLEVEL belongs to no option"
run_command "$program" --file "$directory/none"
check "status 1 without the file" [ "$status" -eq 1 ]
has "^error: file of options $directory/none: cannot be opened: No such file"
[[ $failures -eq 0 ]]
