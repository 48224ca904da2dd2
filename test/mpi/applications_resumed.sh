#!/bin/bash
# applications_resumed.sh <folder of the programs> <folder of their data> <launcher...>: stops each
# application midway by a signal to one of its ranks, and resumes it in another run. The files at its end must
# equal those of an uninterrupted run bit for bit. Prints errors and exits with 1.
programs=$1
set -- none "${@:2}"
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"
checkpoints=$directory/checkpoints

# Runs the program and sends a signal to one of its processes after several epochs. Sets `status`.
run_and_stop() {  # <signal> <epochs> <arguments...>
  local signal=$1 epochs=$2 launched processes target
  shift 2
  : >"$directory/out"
  "${launcher[@]}" "$program" "$@" >"$directory/out" 2>"$directory/err" </dev/null &
  launched=$!
  mkfifo "$directory/never"
  exec 4<>"$directory/never"
  rm "$directory/never"
  while [[ $(grep -c '^epoch ' "$directory/out") -lt $epochs ]] && builtin kill -0 "$launched" 2>/dev/null; do
    read -r -t 0.01 -u 4
  done
  exec 4<&-
  # The last process of the launcher or of its helper: on one host, the last rank.
  target=$launched
  processes=("$launched")
  while [[ ${#processes[@]} -gt 0 ]]; do
    target=${processes[-1]}
    read -ra processes <"/proc/$target/task/$target/children"
  done
  builtin kill "-$signal" "$target"
  wait "$launched"
  status=$?
}

# <what> <signal> <files> <option of the files> <end of its value> <arguments...>
resumes() {
  local what=$1 signal=$2 files=$3 output=$4 end=$5 attempt file
  shift 5
  run "$@" "$output" "$directory/whole$end" || fail "$what: $(cat "$directory/err")"
  grep -E '^ *(test RMSE|valid MRR)|^loss ' "$directory/out" >"$directory/whole-result"
  for attempt in 1 2 3; do  # repeated if the signal arrives too late
    rm -rf "$checkpoints"
    run_and_stop "$signal" 2 "$@" "$output" "$directory/parts$end" --checkpoint-dir "$checkpoints" --checkpoint-every 1epoch
    [[ $status -eq 75 ]] && break
  done
  [[ $status -eq 75 ]] || fail "$what: exit status $status after the signal, expected 75: $(cat "$directory/out" "$directory/err")"
  grep -q "^stopped: SIG$signal on rank [0-9]*; --resume goes on from step" "$directory/out" ||
    fail "$what: nothing says that it has stopped: $(cat "$directory/out")"
  for file in $files; do
    [[ ! -e $directory/parts$file ]] || fail "$what: unfinished work has written $file"
  done
  run "$@" "$output" "$directory/parts$end" --checkpoint-dir "$checkpoints" --resume || fail "$what, resumed: $(cat "$directory/err")"
  grep -q "^resumed from step [0-9]* in $checkpoints" "$directory/out" || fail "$what: it did not resume: $(cat "$directory/out")"
  grep -q '^epoch   1 ' "$directory/out" && fail "$what: it began anew: $(cat "$directory/out")"
  grep -E '^ *(test RMSE|valid MRR)|^loss ' "$directory/out" >"$directory/parts-result"
  cmp "$directory/whole-result" "$directory/parts-result" || fail "$what: other results: $(cat "$directory/parts-result")"
  for file in $files; do
    cmp "$directory/whole$file" "$directory/parts$file" || fail "$what: another $file"
    rm -f "$directory/whole$file" "$directory/parts$file"
  done
}

program=$programs/matrix_factorization
ratings=$data/movietweetings/ratings.tsv
head -n 30000 "$ratings" >"$directory/ratings"
factorization=("$directory/ratings" --epochs 60 --patience 0 --no-baselines --schedule bold_driver --deterministic)
resumes "matrix factorization" USR1 "-rows.npy -columns.npy" --output-prefix "" "${factorization[@]}" --workers 2

# A changed option is named in the error; a folder with checkpoints is not used by a different training.
refuses "--rank is 5, but 16 in the checkpoint that is to be resumed, step" \
  "${factorization[@]}" --rank 5 --checkpoint-dir "$checkpoints" --resume
refuses "the number of workers is 6, but 4|in the checkpoint" "${factorization[@]}" --workers 3 --checkpoint-dir "$checkpoints" --resume
refuses "the number of rows is|in the checkpoint" "$ratings" "${factorization[@]:1}" --checkpoint-dir "$checkpoints" --resume
refuses "has checkpoints: add --resume" "${factorization[@]}" --checkpoint-dir "$checkpoints"
refuses "--resume applies only with --checkpoint-dir" "${factorization[@]}" --resume
refuses "--deterministic applies only with --mode blocking" "${factorization[@]}" --mode classic
refuses "--checkpoint-every|expected such as 5epochs" "${factorization[@]}" --checkpoint-dir "$checkpoints" --checkpoint-every 5

# The newest checkpoint is damaged: the previous one is resumed, with a warning, or the requested step.
mapfile -t steps < <(printf '%s\n' "$checkpoints"/step-* | sort -V)
older=${steps[0]##*/step-} newest=${steps[1]##*/step-}
shards=("${steps[1]}"/*.shards)
printf '\177' | dd of="${shards[0]}" bs=1 seek=300 conv=notrunc status=none
run "${factorization[@]}" --workers 2 --checkpoint-dir "$checkpoints" --resume || fail "a damaged checkpoint: $(cat "$directory/err")"
grep -q "^warning: step $newest cannot be resumed: $checkpoints.*going back to step $older in" "$directory/err" ||
  fail "nothing warns of a damaged checkpoint: $(cat "$directory/err")"
grep -q "^resumed from step $older in" "$directory/out" || fail "a damaged checkpoint: $(cat "$directory/out")"
run "${factorization[@]}" --workers 2 --checkpoint-dir "$checkpoints" --resume --resume-step "$older" || fail "a step: $(cat "$directory/err")"
grep -q "^resumed from step $older in" "$directory/out" || fail "the step that is asked for: $(cat "$directory/out")"
refuses "step-1/manifest.json" "${factorization[@]}" --checkpoint-dir "$checkpoints" --resume --resume-step 1
refuses "--resume-step applies only with --resume" "${factorization[@]}" --checkpoint-dir "$checkpoints" --resume-step 1

# A failed save is repeated after the interval; the third failure ends the job.
for failures_in_a_row in 2 3; do
  rm -rf "$checkpoints"
  mkdir "$checkpoints"
  touch "$checkpoints/step-1" "$checkpoints/step-2"
  [[ $failures_in_a_row -eq 2 ]] || touch "$checkpoints/step-3"
  run "$directory/ratings" --epochs 9 --patience 0 --no-baselines --checkpoint-dir "$checkpoints" --checkpoint-every 1epoch
  status=$?
  [[ $status -eq $((failures_in_a_row == 3)) ]] || fail "$failures_in_a_row failures: exit status $status: $(cat "$directory/err")"
  [[ $(grep -c "^warning: no checkpoint was saved: $checkpoints/step-.*; the next is tried" "$directory/err") -eq 2 ]] ||
    fail "$failures_in_a_row failures: $(cat "$directory/err")"
done

# Without a checkpoint, a resumed training starts from the beginning. A job whose time is over saves a
# checkpoint and stops at once.
rm -rf "$checkpoints"
SLURM_JOB_END_TIME=$(($(date +%s) + 90)) run "${factorization[@]}" --checkpoint-dir "$checkpoints" --resume --stop-status 7
status=$?
[[ $status -eq 7 ]] || fail "the time of the job: exit status $status, expected 7: $(cat "$directory/err")"
grep -q "^no checkpoint in $checkpoints: the training starts" "$directory/out" || fail "nothing says that there is no checkpoint"
grep -q "^stopped: the time of the job ends" "$directory/out" || fail "the time of the job: $(cat "$directory/out")"

head -n 3000 <(xz -dc "$data/wn18rr/train.txt.xz") >"$directory/train"
head -n 100 "$directory/train" >"$directory/valid"
program=$programs/knowledge_graph_embeddings
resumes "knowledge graph" USR1 "-entities.npy -relations.npy" --output-prefix "" "$directory/train" --valid "$directory/valid" \
  --dim 16 --negatives 2 --epochs 20 --evaluate-every 2 --workers 2 --deterministic --entity-dropout 0.1 --patience 3 --technique adaptive

program=$programs/word_vectors
xz -dc "$data/words/factbook.txt.xz" | head -n 20000 >"$directory/text"
words=("$directory/text" --dim 20 --progress 0)
resumes "word vectors" USR1 -vectors.bin --output -vectors.bin "${words[@]}" --epochs 5 --deterministic

# A reordered text has the same words, but a worker's position in the epoch would mean a different place.
tac "$directory/text" >"$directory/other"
refuses "the checksum of the files is|in the checkpoint" "$directory/other" "${words[@]:1}" --epochs 5 --deterministic \
  --checkpoint-dir "$checkpoints" --resume

# Checkpoints are first written to the host.
words+=(--epochs 16)
for attempt in 1 2 3; do
  rm -rf "$checkpoints" "$directory/local"
  run_and_stop TERM 2 "${words[@]}" --checkpoint-dir "$checkpoints" --checkpoint-local "$directory/local"
  [[ $status -eq 75 ]] && break
done
[[ $status -eq 75 ]] || fail "word vectors: exit status $status after SIGTERM, expected 75: $(cat "$directory/err")"
[[ -z $(find "$directory/local" -name '*.part.json') ]] || fail "what was copied is on the hosts, too: $(find "$directory/local")"
run "${words[@]}" --checkpoint-dir "$checkpoints" --resume || fail "from another host: $(cat "$directory/err")"
grep -q '^epoch  16 ' "$directory/out" || fail "from another host: $(cat "$directory/out")"

# What cannot be copied is on the hosts alone. With a folder that is not that of the run they are refused.
program=$programs/matrix_factorization
rm -rf "$checkpoints"
mkdir "$checkpoints"
touch "$checkpoints/step-1"
local=("$directory/ratings" --epochs 1 --no-baselines --checkpoint-local "$directory/hosts")
refuses "$checkpoints/step-1" "${local[@]}" --checkpoint-dir "$checkpoints"
rm "$checkpoints/step-1"
for resume in "" --resume; do
  refuses "hosts: has a part of step 1|not of the run in $directory/wrong|choose another local folder" \
    "${local[@]}" --checkpoint-dir "$directory/wrong" $resume
done
local+=(--checkpoint-dir "$checkpoints")
refuses "hosts has checkpoints: add --resume" "${local[@]}"
cp -r "$directory/hosts" "$directory/copy"
run "${local[@]}" --resume || fail "from the hosts alone: $(cat "$directory/err")"
grep -q "^resumed from step 1 in" "$directory/out" || fail "from the hosts alone: $(cat "$directory/out")"
[[ -e $checkpoints/step-2/manifest.json ]] || fail "what the hosts had was not saved again: $(find "$checkpoints")"

# They have the only one, and it is damaged.
rm -r "$checkpoints"/step-* "$directory/hosts"
mv "$directory/copy" "$directory/hosts"
for file in "$directory"/hosts/step-1/*.shards; do truncate --size 100 "$file"; done
run "${local[@]}" --resume || fail "damaged on the hosts: $(cat "$directory/err")"
grep -q "^warning: no whole checkpoint in .*the training starts: .*hosts/step-1/.*bytes" "$directory/err" ||
  fail "nothing warns of a damaged checkpoint: $(cat "$directory/err")"
program=$programs/word_vectors

# A different number of workers trains the rest of the epoch, once. The checkpoint was saved in the middle of
# an epoch, when the first worker had trained its number of batches.
words=("$directory/text" --dim 8 --progress 0 --epochs 1 --batch 100 --checkpoint-dir "$checkpoints" --checkpoint-keep 0)
rm -rf "$checkpoints"
run "${words[@]}" --checkpoint-every 50clocks --summary-json "$directory/whole" || fail "word vectors, clocks: $(cat "$directory/err")"
steps=("$checkpoints"/step-*)  # one per 50 of the 400 batches, some with more words, and one at the end
[[ ${#steps[@]} -ge 7 ]] || fail "word vectors, clocks: checkpoints ${steps[*]}, expected 7 at least"
rm -rf "$checkpoints"/step-[^5]*
run "${words[@]}" --resume --workers 3 --summary-json "$directory/summary" || fail "more workers: $(cat "$directory/err")"
grep -q "^resumed from step 5 " "$directory/out" || fail "more workers: $(cat "$directory/out")"
expected=$(sed -n 's/^\([0-9]*\) words, .*/\1/p' "$directory/out")
trained=$(sed -n 's/.*"epoch": 1, .*"words": \([0-9]*\),.*/\1/p' "$directory/summary")
# A batch has slightly more than 100 words, and each of six workers ends with a partial one.
awk -v a="$trained" -v b="$expected" 'BEGIN { exit !(a > b - 1200 && a < b + 1200) }' ||
  fail "more workers: $trained words in the epoch, expected about $expected"
pulls() { grep -o '"local_pulls": [0-9]*' "$1" | head -n 1 | grep -o '[0-9]*$'; }  # of the first table, in this job
awk -v a="$(pulls "$directory/summary")" -v b="$(pulls "$directory/whole")" 'BEGIN { exit !(a > 0.05 * b && a < 0.6 * b) }' ||
  fail "more workers: $(pulls "$directory/summary") pulls for the rest of an epoch of $(pulls "$directory/whole")"

# One worker has nine tenths of the triples, and its clocks determine the interval: four checkpoints in each
# epoch, and one at the end. The loss of an epoch is a sum over its triples, so it shows triples that are
# trained twice or not at all.
awk 'BEGIN { OFS = "\t"; for (i = 0; i < 400; ++i) print "e" i % 50, i < 360 ? "r" : "s", "e" i * 7 % 53 }' >"$directory/train"
program=$programs/knowledge_graph_embeddings
graph=("$directory/train" --mode clustering --dim 8 --negatives 2 --batch 1 --checkpoint-dir "$checkpoints" --checkpoint-keep 0)
loss() { sed -n 's/^epoch *1 *loss *\([0-9.]*\) .*/\1/p' "$directory/out"; }
rm -rf "$checkpoints"
run "${graph[@]}" --epochs 2 --checkpoint-every 80clocks || fail "knowledge graph, clocks: $(cat "$directory/err")"
steps=("$checkpoints"/step-*)
[[ ${#steps[@]} -eq 9 ]] || fail "knowledge graph, clocks: checkpoints ${steps[*]}, expected 9"
expected=$(loss)
rm -rf "$checkpoints"/step-[3-9]
run "${graph[@]}" --epochs 1 --resume --workers 3 || fail "more workers: $(cat "$directory/err")"
grep -q "^resumed from step 2 " "$directory/out" || fail "more workers: $(cat "$directory/out")"
awk -v a="$(loss)" -v b="$expected" 'BEGIN { exit !(a > 0.9 * b && a < 1.1 * b) }' ||
  fail "knowledge graph, more workers: loss $(loss), expected $expected"

# No checkpoint is saved if the newest one is as recent: after a training that has ended, or one that stops at
# once.
steps=("$checkpoints"/step-*)
run "${graph[@]}" --epochs 1 --resume || fail "ended: $(cat "$directory/err")"
SLURM_JOB_END_TIME=$(($(date +%s) + 90)) run "${graph[@]}" --epochs 2 --resume
status=$?
[[ $status -eq 75 ]] || fail "stopped at once: exit status $status, expected 75: $(cat "$directory/err")"
grep -q "goes on from step 3 in .*; nothing was trained since then" "$directory/out" || fail "stopped at once: $(cat "$directory/out")"
now=("$checkpoints"/step-*)
[[ ${now[*]} == "${steps[*]}" ]] || fail "nothing was trained: checkpoints ${now[*]}, expected ${steps[*]}"

exit $((failures > 0))
