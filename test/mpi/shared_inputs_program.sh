#!/bin/bash
# shared_inputs_program.sh all|data <matrix_factorization> <knowledge_graph_embeddings> <folder of data>
# <launcher...>: gives pipes, standard input and files that only some ranks have to the programs on several
# ranks; with "data", only the cases without errors. Prints errors and exits with 1.
set -u
what=$1
factorize=$2
embed=$3
data=$4
shift 4
launcher=("$@")
directory=$(mktemp -d)
writers=()
trap 'kill "${writers[@]}" 2>/dev/null; rm -rf "$directory"' EXIT
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

run() {  # <program and arguments...>: output in $directory/out and err; standard input is the caller's
  "${launcher[@]}" "$@" >"$directory/out" 2>"$directory/err"
}

# Expects that the program refuses its input: exactly one line of its own, the last one, which begins with
# "error:" and contains the texts. The rank that fails may also have logged the error, in a line that begins
# with "lapse[".
refuses() {  # <texts, separated by |> <program and arguments...>
  local texts text lines
  IFS='|' read -ra texts <<<"$1"
  shift
  run "$@" && fail "accepted: $*"
  lines=$(grep -c '^error: ' "$directory/err")
  [[ $lines -eq 1 ]] || fail "$lines lines of errors, expected 1: $*: $(cat "$directory/err")"
  for text in "${texts[@]}"; do
    grep '^error: ' "$directory/err" | grep -qF -- "$text" || fail "error without '$text': $(cat "$directory/err")"
  done
}

# Starts a process that writes the output of a command to a named pipe.
feed() {  # <name of the pipe> <command...>
  local pipe=$directory/$1
  shift
  [[ -p $pipe ]] || mkfifo "$pipe"
  "$@" >"$pipe" 2>/dev/null &
  writers+=($!)
}

# The first rank runs in $directory, the others in a folder without its files.
mkdir "$directory/elsewhere"
cat >"$directory/apart.sh" <<END
#!/bin/bash
[[ \${OMPI_COMM_WORLD_RANK:-\${PMI_RANK:-\${PMIX_RANK:-\$SLURM_PROCID}}} -eq 0 ]] && cd "$directory" || cd "$directory/elsewhere"
exec "\$@"
END
chmod +x "$directory/apart.sh"

# Ratings: pipes and files give the same training, whatever their compression and size.
ratings=$data/movietweetings/ratings.tsv
head -n 20000 "$ratings" >"$directory/test.tsv"
result() { grep -e ' cells to train on' -e '^ *test RMSE' "$directory/out"; }
run "$factorize" "$ratings" --test "$directory/test.tsv" --epochs 1 </dev/null || fail "files: $(cat "$directory/err")"
expected=$(result)
[[ $(wc -l <<<"$expected") -eq 2 ]] || fail "no result: $(cat "$directory/out")"
feed pipe cat "$ratings"
feed test gzip -c "$directory/test.tsv"
run "$factorize" "$directory/pipe" --test "$directory/test" --epochs 1 </dev/null ||
  fail "pipes: $(cat "$directory/err")"
[[ $(result) == "$expected" ]] || fail "pipes: $(result), expected $expected"

# Triples: all three files, and names that only the first rank has.
names() { sort "$directory/$1-entities.txt"; sort "$directory/$1-relations.txt"; grep ' triples to train on' "$directory/out"; }
graph=$data/wn18rr
for part in train valid test; do cp "$graph/$part.txt.xz" "$directory"; done
run "$embed" "$directory/train.txt.xz" --valid "$directory/valid.txt.xz" --test "$directory/test.txt.xz" --dim 1 \
  --epochs 0 --output-prefix "$directory/a" </dev/null || fail "files: $(cat "$directory/err")"
names a >"$directory/expected"
feed train xz -dc "$graph/train.txt.xz"
feed valid cat "$graph/valid.txt.xz"
run "$directory/apart.sh" "$embed" train --valid valid --test - --dim 1 --epochs 0 --output-prefix "$directory/b" \
  <"$graph/test.txt.xz" || fail "pipes: $(cat "$directory/err")"
names b >"$directory/result"
cmp -s "$directory/expected" "$directory/result" || fail "pipes: $(diff "$directory/expected" "$directory/result" | head)"
xz -dc "$graph/valid.txt.xz" | run "$embed" - --dim 2 --epochs 1 || fail "standard input: $(cat "$directory/err")"
grep -q ' 3034 triples to train on' "$directory/out" || fail "standard input: $(cat "$directory/out")"

[[ $what == all ]] || exit $((failures > 0))

# Errors in a pipe's data are reported once, with their line.
bad_line() { head -n 16 "$ratings"; printf '1\tx\t3\t4\n'; tail -n +17 "$ratings"; }
feed pipe bad_line
refuses "pipe:17:3: item id 'x'" "$factorize" "$directory/pipe" </dev/null
head -c 100000 "$graph/train.txt.xz" | refuses "standard input:|xz data end early" "$embed" -
: | refuses "standard input: contains no triples" "$embed" -
printf '#!/bin/bash\nexec "$@" <&-\n' >"$directory/closed.sh"
chmod +x "$directory/closed.sh"
refuses "standard input: contains no triples" "$directory/closed.sh" "$embed" -

# Open files that the rank did not inherit belong to MPI; reading them would never end.
for number in 4 11; do
  refuses "/dev/fd/$number|not started with|mpirun" "$factorize" "/dev/fd/$number" </dev/null
done
refuses "/proc/self/fd/11|not started with" "$embed" - --test /proc/self/fd/11 </dev/null
# Files that a shell of the rank itself opens can be read.
printf '#!/bin/bash\n"$1" <(head -n 1000 "$2") --epochs 1\n' >"$directory/substitution.sh"
chmod +x "$directory/substitution.sh"
run "$directory/substitution.sh" "$factorize" "$ratings" </dev/null || fail "substitution: $(cat "$directory/err")"

# A pipe that delivers no data is reported, which stops no rank: here it ends after the report.
mkfifo "$directory/silent"
LAPSE_STALL_REPORT=1 run "$embed" "$directory/silent" </dev/null &
program=$!
exec {silent}<>"$directory/silent"
for ((tenths = 0; tenths < 300; tenths++)); do
  grep -qs 'given nothing' "$directory/err" && break
  sleep 0.1
done
exec {silent}>&-
wait "$program" && fail "accepted: a silent pipe"
grep -q "^lapse\[0\] warning: $directory/silent has given nothing for [0-9]* s" "$directory/err" ||
  fail "no report of a silent pipe: $(cat "$directory/err")"

# A stream can be read once. Nothing is read, so there is no writer.
ln -s pipe "$directory/link"
refuses "pipe|link|once" "$embed" "$directory/pipe" --test "$directory/link" </dev/null
refuses "standard input|once" "$factorize" - --test - </dev/null

# Files must exist on every rank, with equal bytes. The first rank does not wait for the pipe, which has no
# writer.
refuses "rank 1 failed|test.txt.xz: cannot be opened|No such file|$(uname -n)" \
  "$directory/apart.sh" "$embed" pipe --test test.txt.xz </dev/null
cp "$directory/valid.txt.xz" "$directory/elsewhere/train.txt.xz"
refuses "train.txt.xz|bytes|$(uname -n)" "$directory/apart.sh" "$embed" train.txt.xz </dev/null

exit $((failures > 0))
