#!/bin/bash
# run.sh SECONDS [fuzzer ...]: builds the fuzzers with libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer, and runs each of them, or the named ones (packets, options, ...), for SECONDS.
#
# Begins with the corpus of the tree and the useful inputs of earlier runs (build/fuzz/corpus). An input that
# crashes a fuzzer, takes longer than 20 seconds or more than 2 GB ends its run, and is kept in
# build/fuzz/findings:
#   build/fuzz/test/fuzz/fuzz_packets build/fuzz/findings/packets/crash-...     runs it again
#   build/fuzz/test/fuzz/fuzz_packets -minimize_crash=1 -runs=10000 crash-...   makes it smaller
# Exits with 1 if there is a finding.
set -euo pipefail
cd "$(dirname "$0")/../.."
if [[ ! ${1:-} =~ ^[0-9]+$ ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$0"
  exit 2
fi
seconds=$1
shift
fuzzers=("$@")
if [[ ${#fuzzers[@]} -eq 0 ]]; then
  for folder in test/fuzz/corpus/*/; do fuzzers+=("$(basename "$folder")"); done
fi

cmake/install_packages.sh fuzz
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz --target "${fuzzers[@]/#/fuzz_}"

status=0
for fuzzer in "${fuzzers[@]}"; do
  kept=build/fuzz/corpus/$fuzzer
  findings=build/fuzz/findings/$fuzzer
  log=build/fuzz/$fuzzer.log
  mkdir -p "$kept" "$findings"
  result="nothing found"
  if ! build/fuzz/test/fuzz/"fuzz_$fuzzer" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=8192 -entropic=0 \
    -print_final_stats=1 -artifact_prefix="$findings/" "$kept" "test/fuzz/corpus/$fuzzer" >"$log" 2>&1; then
    result="FOUND: see $log"
    status=1
  fi
  executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 || true)
  printf '%-14s %10s executions, %-11s %s\n' "$fuzzer" "${executions:-?}" "${coverage:-cov: ?}," "$result"
done
exit $status
