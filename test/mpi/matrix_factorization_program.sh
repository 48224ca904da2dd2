#!/bin/bash
# matrix_factorization_program.sh <program> <ratings> <launcher...>: runs the matrix factorization from its
# command line to its files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"

# A short training on real ratings: every kind of output exists, and the errors are those of a model that
# learns.
run "$data" --epochs 6 --workers 2 --summary-json "$directory/summary.json" --report "$directory/report.html" \
  --output-prefix "$directory/factors" ||
  fail "training: $(cat "$directory/err")"
[[ $(grep -c '^epoch ' "$directory/out") -eq 6 ]] || fail "not one line per epoch: $(cat "$directory/out")"
grep -q '^baselines: test RMSE 1.88.* with the mean, 1.52.* with biases' "$directory/out" || fail "baselines"
grep -q '^time per epoch' "$directory/out" || fail "no summary"
for file in rows columns row-biases column-biases row-ids column-ids; do
  [[ -s $directory/factors-$file.npy ]] || fail "no file of $file"
done
grep -q 'test RMSE by time' "$directory/report.html" && grep -q '21081 x 12611 matrix' "$directory/report.html" || fail "no report"
python=$(command -v python3) || echo "no python3: the summary is not checked"
if [[ -n $python ]]; then
  "$python" - "$directory/summary.json" <<'END' || fail "summary: $(cat "$directory/summary.json")"
import json, sys
summary = json.load(open(sys.argv[1]))
assert len(summary["history"]) == 6 and summary["epochs"] == 6
assert summary["best_test_rmse"] < 1.55, summary["best_test_rmse"]
assert summary["local_share"] == 1, summary["local_share"]
assert summary["seconds_per_epoch"] > 0
assert "--epochs 6" in summary["command"] and "21081 x 12611 matrix" in summary["data"], summary
END
fi

# Without held-out cells no test error is reported, neither as text nor as a number.
run "$data" --epochs 1 --test-fraction 0 --summary-json "$directory/summary.json" || fail "all: $(cat "$directory/err")"
grep -q 'test RMSE' "$directory/out" && fail "a test error of no cells: $(cat "$directory/out")"
grep -q 'train RMSE' "$directory/out" || fail "no training error: $(cat "$directory/out")"
grep -q '"best_test_rmse": null' "$directory/summary.json" && grep -q '"test_rmse": null' "$directory/summary.json" ||
  fail "a test error of no cells: $(cat "$directory/summary.json")"

# Training blocks with and without leases gives equal results, and every training mode has optimisers.
quality() { grep -o 'train RMSE.*' "$directory/out"; }
run "$data" --epochs 2 --workers 2 --access lease || fail "leases: $(cat "$directory/err")"
expected=$(quality)
run "$data" --epochs 2 --workers 2 --access pull || fail "pull and push: $(cat "$directory/err")"
[[ -n $expected && $(quality) == "$expected" ]] || fail "pull and push: $(quality), expected $expected"
for mode in blocking latency_hiding classic; do
  options=()
  [[ $mode == classic ]] && options=(--batch 50)
  run "$data" --epochs 1 --mode "$mode" "${options[@]}" --update-rule rowwise-adagrad --learning-rate 0.05 ||
    fail "rowwise-adagrad, $mode: $(cat "$directory/err")"
done

# Compressed ratings give the same training.
result() { grep '^ *test RMSE' "$directory/out"; }
run "$data" --epochs 2 --no-baselines || fail "plain ratings: $(cat "$directory/err")"
expected=$(result)
[[ -n $expected ]] || fail "no test RMSE: $(cat "$directory/out")"
gzip -c "$data" >"$directory/ratings"
run "$directory/ratings" --epochs 2 --no-baselines || fail "gzip: $(cat "$directory/err")"
[[ $(result) == "$expected" ]] || fail "gzip: $(result), expected $expected"

# So does standard input. It is short, because mpirun of Open MPI 4.1 may crash when it waits for the program:
# it stops reading when about 200 KB are not consumed, and may then reach the end of the input.
head -n 3000 "$data" | gzip >"$directory/short"
run "$directory/short" --epochs 2 --no-baselines --output-prefix "$directory/factors" ||
  fail "a part of the ratings: $(cat "$directory/err")"
expected=$(result)
"${launcher[@]}" "$program" - --epochs 2 --no-baselines --output-prefix "$directory/piped" \
  <"$directory/short" >"$directory/out" 2>"$directory/err" ||
  fail "standard input: $(cat "$directory/err")"
[[ -n $expected && $(result) == "$expected" ]] || fail "standard input: $(result), expected $expected"
cmp "$directory/factors-row-ids.npy" "$directory/piped-row-ids.npy" || fail "standard input: other ids"
head -c 500000 "$directory/ratings" >"$directory/cut"
refuses "gzip data end early" "$directory/cut"

# Ids may be far apart: the cost of training depends only on the number of different ids. Results equal those
# of the same ratings with the ids 0, 1, 2, ..., and files contain the id of every row.
awk 'BEGIN { for (i = 0; i < 400; ++i) printf "%d\t%d\t%d\n", i * 7 % 30, i * 11 % 20, i % 5 + 1 }' >"$directory/close"
awk '{ printf "%.0f\t9223372036854775%03d\t%d\n", $1 * 71582788000, $2 + 800, $3 }' "$directory/close" >"$directory/apart"
run "$directory/close" --epochs 3 --output-prefix "$directory/close" || fail "close ids: $(cat "$directory/err")"
expected=$(result)
run "$directory/apart" --epochs 3 --output-prefix "$directory/apart" || fail "distant ids: $(cat "$directory/err")"
[[ -n $expected && $(result) == "$expected" ]] || fail "distant ids: $(result), expected $expected"
for file in rows columns row-biases column-biases; do
  cmp "$directory/close-$file.npy" "$directory/apart-$file.npy" || fail "distant ids: other $file"
done
if [[ -n $python ]]; then
  "$python" - "$directory/apart" <<'END' || fail "ids of the rows"
import struct, sys
def ids(path):
    data = open(path, "rb").read()
    start = 10 + struct.unpack("<H", data[8:10])[0]
    assert b"'descr': '<u8'" in data[:start], data[:start]
    return list(struct.unpack(f"<{(len(data) - start) // 8}Q", data[start:]))
assert ids(sys.argv[1] + "-row-ids.npy") == [71582788000 * i for i in range(30)]
assert ids(sys.argv[1] + "-column-ids.npy") == [9223372036854775800 + i for i in range(20)]
END
fi

# Bad input ends all ranks with one clear line of the program.
printf '1\t2\t3\n1\tx\t3\n' >"$directory/malformed"
: >"$directory/empty"
refuses "malformed:2:3: item id 'x'" "$directory/malformed"
refuses "contains no ratings" "$directory/empty"
mkdir -p "$directory/taken-columns.npy"
refuses "No such file" "$directory/missing"
refuses "is a directory" "$directory"
refuses "cannot be created" "$data" --output-prefix "$directory/missing/factors" --epochs 1
refuses "cannot be created" "$data" --summary-json "$directory/missing/summary" --epochs 1
refuses "cannot be created" "$data" --report "$directory/missing/report" --epochs 1
refuses "diverged" "$data" --rate 1000
# A diverging training without evaluation ends in the epoch in which it diverges, and saves no checkpoint of
# it.
awk 'BEGIN { for (i = 0; i < 300; ++i) printf "%d\t%d\t%d\n", i * 7 % 30, i * 11 % 25, i % 5 + 1 }' >"$directory/few"
refuses "diverged in epoch 1 with learning rate 100: table 'factors' has |not finite: choose a smaller --rate" "$directory/few" \
  --rate 100 --evaluate-every 0 --epochs 4 --checkpoint-every 1epochs --checkpoint-keep 2 --checkpoint-dir "$directory/diverged"
ls "$directory/diverged" | grep step- && fail "a checkpoint of a training that has diverged"

refuses "--beta1 applies only with --update-rule adam" "$data" --beta1 0.5
refuses "number" "$data" --workers 1,1,1,1,1
refuses "--mode" "$data" --mode fast
refuses "--access" "$data" --access direct
refuses "{adagrad,adam,add,ftrl,rowwise-adagrad,sgd}" "$data" --update-rule momentum
refuses "--beta1" "$data" --update-rule adam --beta1 1
refuses "workers" "$data" --workers 0
# Errors that would cost results at the end are reported at the start, on every rank, but printed once.
if [[ ${launcher[-1]} -ne 1 ]]; then
  refuses "it is a folder" "$data" --output-prefix "$directory/taken" --epochs 1
  refuses "Is a directory" "$data" --summary-json "$directory" --epochs 1
  refuses "(on rank |is a file, expected a folder" "$data" --checkpoint-dir "$directory/empty/checkpoints" --epochs 1
  refuses "(on rank |cannot be created" "$data" --checkpoint-dir /proc/self --epochs 1
  refuses "is a file, expected a folder" "$data" --checkpoint-dir "$directory/made" --checkpoint-local "$directory/empty" --epochs 1
  refuses "cannot be made" "$data" --set "lapse.region_trace=$directory/empty/trace" --epochs 1
  refuses "option trace_file: cannot write" "$data" --set adapm.trace_keys=factors:1 --set "adapm.trace_file=$directory/none/trace" --epochs 1
  grep -q '^epoch ' "$directory/out" && fail "training before the error"

  # Files and checkpoints that do not fit on a disk, and ones that do.
  small_disk() {  # <arguments...>: runs with $directory/disk being a file system of 200 KB
    unshare --mount sh -c 'mount -t tmpfs -o size=200k tmpfs "$0" && exec "$@"' "$directory/disk" "${launcher[@]}" "$program" "$@" \
      >"$directory/out" 2>"$directory/err" </dev/null
  }
  mkdir "$directory/disk"
  if unshare --mount sh -c "mount -t tmpfs tmpfs $directory/disk" 2>/dev/null; then
    small_disk "$data" --epochs 1 --output-prefix "$directory/disk/factors" && fail "no room for the factors"
    grep -q '^error: .*factors-rows.npy: [0-9]* bytes cannot be reserved: No space left' "$directory/err" ||
      fail "no room for the factors: $(cat "$directory/err")"
    grep -q '^epoch ' "$directory/out" && fail "training without room for the factors"
    small_disk "$data" --epochs 1 --checkpoint-dir "$directory/disk/run" && fail "no room for a checkpoint"
    grep -q '^error: .*disk/run: has room for [0-9]* bytes, and a checkpoint of this training has ' "$directory/err" ||
      fail "no room for a checkpoint: $(cat "$directory/err")"
    grep -q '^epoch ' "$directory/out" && fail "training without room for a checkpoint"
    small_disk "$directory/few" --rank 500 --epochs 1 --checkpoint-dir "$directory/disk/run" || fail "room for one: $(cat "$directory/err")"
    grep -q '^warning: .*disk/run has room for 1 more checkpoints of [0-9]* bytes, and --checkpoint-keep 2 needs 3' "$directory/err" ||
      fail "room for one: $(cat "$directory/err")"
  else
    echo "no file system can be mounted here: full disks are not tried"
  fi
fi

run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--lookahead' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"

exit $((failures > 0))
