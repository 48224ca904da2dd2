#!/bin/bash
# topic_model_program.sh <program> <folder of the novels> <launcher...>: runs the topic model from its command line to
# its files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"
documents=$data/docword.txt.xz
vocabulary=$data/vocab.txt.xz

# A short training: every kind of output exists.
run "$documents" --vocabulary "$vocabulary" --topics 20 --epochs 4 --evaluate-every 2 --workers 2 \
  --output "$directory/topics" --summary-json "$directory/summary.json" || fail "training: $(cat "$directory/err")"
grep -q '^1339 documents, 499595 tokens of 18027 different words; 20 topics' "$directory/out" || fail "no description"
[[ $(grep -c '^epoch .* tokens/s ' "$directory/out") -eq 4 ]] || fail "not one line per epoch: $(cat "$directory/out")"
[[ $(grep -c '^epoch .* likelihood -' "$directory/out") -eq 2 ]] || fail "likelihoods: $(cat "$directory/out")"
[[ $(wc -l <"$directory/topics") -eq 20 && $(head -n 1 "$directory/topics" | wc -w) -eq 12 ]] ||
  fail "topics: $(cat "$directory/topics")"
python=$(command -v python3) || echo "no python3: the summary is not checked"
if [[ -n $python ]]; then
  "$python" - "$directory/summary.json" <<'END' || fail "summary: $(head -c 2000 "$directory/summary.json")"
import json, sys
summary = json.load(open(sys.argv[1]))
history = summary["history"]
assert len(history) == 4 and summary["epochs"] == 4
assert history[0]["likelihood"] is None and history[3]["likelihood"] > history[1]["likelihood"]
assert summary["likelihood"] == history[3]["likelihood"]
assert summary["tokens_per_second"] > 0 and summary["technique"] == "adaptive"
END
fi

# A training in two parts ends like one in one part; with one worker, word for word.
options=(--topics 10 --evaluate-every 3 --optimize-every 2 --optimize-after 1 --checkpoint-dir)
run "$documents" "${options[@]}" "$directory/whole" --epochs 6 --output "$directory/whole.txt" || fail "whole: $(cat "$directory/err")"
run "$documents" "${options[@]}" "$directory/parts" --epochs 3 || fail "first part: $(cat "$directory/err")"
run "$documents" "${options[@]}" "$directory/parts" --epochs 6 --resume --output "$directory/parts.txt" ||
  fail "second part: $(cat "$directory/err")"
grep -q '^resumed from step' "$directory/out" || fail "it did not resume: $(cat "$directory/out")"
grep -q '^epoch    3 ' "$directory/out" && fail "it began anew: $(cat "$directory/out")"
if [[ ${launcher[-1]} -eq 1 ]]; then
  # Also the priors, which were optimized before the checkpoint.
  cmp "$directory/whole.txt" "$directory/parts.txt" || fail "other topics after a resumption"
fi
grep -q '^epoch    5 .* alpha .* in all, beta ' "$directory/out" || fail "no optimized priors: $(cat "$directory/out")"
# Also with another number of workers.
run "$documents" "${options[@]}" "$directory/parts" --epochs 7 --resume --workers 3 || fail "more workers: $(cat "$directory/err")"

# Bad input ends all ranks with one clear line.
printf '2\n3\n2\n1 1 1\n2 4 1\n' >"$directory/word"
printf '2\n3\n2\n1 1 1\n1 2 1\n' >"$directory/empty"
printf '1\n3\n2\n1 1 1\n' >"$directory/short"
printf '1\n3\n1\n1 1 1\n' >"$directory/fine"
printf 'a\nb\n' >"$directory/words"
refuses "word:5:3|word '4', expected an integer from 1 to 3" "$directory/word"
refuses "empty: document 2 has no words" "$directory/empty"
refuses "short: has 1 lines|announces 2" "$directory/short"
refuses "words: has 2 words|counts 3 different words" "$directory/fine" --vocabulary "$directory/words"
refuses "missing" "$directory/missing"
refuses "cannot be created" "$directory/fine" --output "$directory/missing/out"
refuses "--topics is 11, but 10" "$documents" --topics 11 --checkpoint-dir "$directory/parts" --resume
refuses "--optimize-every is 0, but 2" "$documents" --topics 10 --checkpoint-dir "$directory/parts" --resume
refuses "has checkpoints: add --resume" "$documents" --topics 10 --checkpoint-dir "$directory/parts"
run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--lookahead' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"

exit $((failures > 0))
