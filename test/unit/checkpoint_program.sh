#!/bin/bash
# checkpoint_program.sh <lapse-checkpoint> <folder of this script>: runs the program on the checkpoint in the
# tree, and on damaged copies of it. Prints errors and exits with 1.
set -u
program=$1
here=$2
golden=$here/checkpoint_golden/version-1
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

prints() {  # <text> <arguments...>: expects the text in the output, and status 0
  local text=$1
  shift
  "$program" "$@" >"$directory/out" 2>"$directory/err" || fail "status $?: $* $(cat "$directory/err")"
  grep -qF -- "$text" "$directory/out" || fail "no '$text' in the output of $*: $(cat "$directory/out")"
}

converts() {  # <arguments...>
  "$program" convert "$@" >"$directory/out" 2>&1 || fail "status $?: convert $* $(cat "$directory/out")"
}

refuses() {  # <text> <arguments...>: expects the text in the output, and a status other than 0
  local text=$1
  shift
  "$program" "$@" >"$directory/out" 2>&1 && fail "accepted: $*"
  grep -qF -- "$text" "$directory/out" || fail "no '$text' in the output of $*: $(cat "$directory/out")"
}

prints "lapse 0." --version
prints "step 3: 2 tables, 12 keys" list "$golden"
prints "by 2 ranks: whole" verify "$golden"
prints "by 2 ranks: whole" verify "$golden" --step 3
prints "table 'factors': sparse, 6 keys, float32, 3 elements and 1 of state; update rule adagrad" show "$golden"
prints "clocks: 4 -1" show "$golden" --step 3
prints $'1000\t-3 -2 -1' extract "$golden" --table factors --keys 1000
[[ $(wc -l <"$directory/out") -eq 1 ]] || fail "keys beside the one that was asked for: $(cat "$directory/out")"
prints $'5\t2 3 4\t5' extract "$golden" --table factors --keys 1-999 --state
[[ $(wc -l <"$directory/out") -eq 2 ]] || fail "keys 1 and 5 expected: $(cat "$directory/out")"
prints $'18446744073709551615\t' extract "$golden" --table factors --keys 2000-
[[ $(wc -l <"$directory/out") -eq 2 ]] || fail "two keys expected: $(cat "$directory/out")"
prints $'0\t' extract "$golden" --table factors --keys=-0

# A different program, written from the documentation, reads the same contents.
for table in factors names; do
  "$program" extract "$golden" --table "$table" --state >"$directory/own"
  python3 -B "$here/checkpoint_reader.py" "$golden" 3 "$table" >"$directory/other"
  [[ $(wc -l <"$directory/other") -eq 6 ]] || fail "6 keys of table $table expected"
  diff "$directory/own" "$directory/other" >&2 || fail "table $table differs"
done

refuses "has no table 'word': expected one of 'factors' 'names'" extract "$golden" --table word
refuses "has no table ''" extract "$golden"
refuses "expected keys A, A-B, A- or -B" extract "$golden" --table names --keys 5-3
refuses "expected keys A, A-B, A- or -B" extract "$golden" --table names --keys x
refuses "No such file" show "$golden" --step 4
refuses "has no checkpoint" verify "$directory"
refuses "has no checkpoint" show "$directory"
refuses "does not exist" list "$directory/none"
refuses "subcommand" "$golden"

# Conversion: options that it requires, and files that it does not overwrite.
made=$directory/made
array=$directory/values.npy
refuses "table 'factors' is sparse: expected --keys" convert "$golden" "$array" --table factors
refuses "table 'names' has a length for each key" convert "$golden" "$array" --table names
refuses "table 'names' has a length for each key" convert "$golden" "$directory/all.safetensors"
refuses "has no table ''" convert "$golden" "$array"
refuses "expected .npy, .safetensors, .h5 or .hdf5" convert "$golden" "$directory/values.txt" --table factors
refuses "--keys does not apply to files of several arrays" convert "$golden" "$directory/v.safetensors" --keys k.npy
refuses "--table 'factors' is given twice" convert "$golden" "$directory/v.safetensors" --table factors --table factors
refuses "is named twice" convert "$golden" "$array" --table factors --keys "$directory/./values.npy"
refuses "--rule does not apply" convert "$golden" "$array" --table factors --rule add
refuses "--no-state does not apply" convert "$golden" "$array" --table factors --no-state
refuses "neither a folder of checkpoints nor a .npy file" convert "$golden/step-3/manifest.json" "$made"
refuses "cannot be created" convert "$golden" "$directory/none/values.npy" --table factors --keys "$directory/keys.npy"
refuses "cannot be written: No such file" convert "$golden" "$directory/none/values.safetensors" --table factors
[[ -z $(ls "$directory"/*.npy "$directory"/*.tmp 2>/dev/null) ]] || fail "an error left a file: $(ls "$directory")"
converts "$golden" "$array" --table factors --keys "$directory/keys.npy" --state "$directory/state.npy"
refuses "values.npy: is there already: --force replaces it" convert "$golden" "$array" --table factors --keys "$directory/k.npy"
converts "$golden" "$array" --table factors --keys "$directory/k.npy" --force
refuses "expected --table" convert "$array" "$made" --step 1
refuses "expected --step" convert "$array" "$made" --table factors
refuses "elements of type '<u8', expected '<f4'" convert "$directory/keys.npy" "$made" --step 1 --table factors
refuses "is no .npy file" convert "$array" "$made" --step 1 --table factors --keys "$golden/step-3/manifest.json"
{ head --bytes -16 "$directory/keys.npy" && tail --bytes 8 "$directory/keys.npy" && printf '\1%.0s' {1..8}; } >"$directory/falling.npy"
refuses "row 5 has key 72340172838076673 behind key 18446744073709551615: expected rising keys" \
  convert "$array" "$made" --step 1 --table factors --keys "$directory/falling.npy"
[[ ! -e $made/step-1 ]] || fail "an error left a folder: $(ls "$made/step-1")"
converts "$array" "$made" --step 1 --table factors --keys "$directory/keys.npy" --state "$directory/state.npy"
refuses "--force replaces the checkpoint of this step" convert "$array" "$made" --step 1 --table factors
"$program" extract "$golden" --table factors --state >"$directory/own"
"$program" extract "$made" --table factors --state | diff - "$directory/own" >&2 || fail "the way to arrays and back"
converts "$array" "$made" --step 1 --table dense --force
prints "table 'dense': 6 keys, float32, 3 elements and 0 of state; update rule add" show "$made"
[[ $(ls "$made/step-1" | wc -l) -eq 2 ]] || fail "left over: $(ls "$made/step-1")"
# The newest checkpoint is the one that was written last.
converts "$array" "$made" --step 0 --table later
prints "table 'later'" show "$made"
"$program" list "$made" | tail -n 1 | grep -q '^step 0:' || fail "the newest is not the last: $("$program" list "$made")"

# Non-finite numbers: 1, infinity, not a number, 2, as two rows.
{
  header="{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
  printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$header"
  printf '\0\0\x80\x3f\0\0\x80\x7f\0\0\xc0\xff\0\0\0\x40'
} >"$directory/ill.npy"
converts "$directory/ill.npy" "$directory/ill" --step 1 --table factors
prints "by 1 ranks, 2 numbers not finite" list "$directory/ill"
prints "  2 numbers are not finite" show "$directory/ill"
prints "by 1 ranks, 2 numbers not finite: whole" verify "$directory/ill"

cp -r "$golden" "$directory/copy"
shard=$(ls "$directory"/copy/step-3/*.shards)
printf '\xff' | dd of="$shard" bs=1 seek=100 conv=notrunc status=none
refuses "step 3: damaged" verify "$directory/copy"
refuses "the checksum of the block" extract "$directory/copy" --table factors
prints "step 3" list "$directory/copy"
truncate --size 100 "$shard"
refuses "step 3: truncated" verify "$directory/copy"
rm "$shard"
refuses "step 3: missing" verify "$directory/copy"
sed -i 's/"step": 3/"step": 4/' "$directory/copy/step-3/manifest.json"
refuses "step 3: damaged" list "$directory/copy"

[[ $failures -eq 0 ]] || exit 1
echo "lapse-checkpoint: all cases passed"
