#!/usr/bin/env bash
# adapm_trace_program.sh <viewer> <ranks> <launcher and program>: runs an example with a trace, and draws two
# of its keys.

cd "$(dirname "$0")" || exit 1
source ./program_output.sh
viewer=$1
ranks=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ADAPM_TRACE_KEYS="counts:5,17" ADAPM_TRACE_FILE="$folder/trace" ADAPM_STATISTICS_FILE="$folder/statistics"
export LAPSE_DOMAIN=rank

run_command "$@"
check "the program succeeds" [ "$status" -eq 0 ]
check "rank 0 writes the statistics" grep -q '"name": "counts"' "$folder/statistics"
check "each rank writes a file" [ "$(find "$folder" -name 'trace.*' | wc -l)" -eq "$ranks" ]

run_command "$viewer" --columns 60 "$folder"/trace.*
check "the viewer succeeds" [ "$status" -eq 0 ]
check "both keys are drawn" [ "$(lines "^key (5|17) of table 'counts'")" -eq 2 ]
check "each domain has a line for each key" [ "$(lines '^  domain [0-9]+ +[Or*.-]{60}  accesses: ')" -eq $((2 * ranks)) ]
check "some domain owns each key" [ "$(lines '^  domain [0-9]+ +[r.-]*[O*]')" -ge 2 ]
check "the keys come to domains that want them" [ "$(lines 'key_arrived|copy_set_up')" -ge 2 ]
exit "$((failures > 0))"
