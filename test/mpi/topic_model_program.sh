#!/bin/bash
# topic_model_program.sh <program> <folder of the novels> <launcher...>: runs the topic model from its command line to
# its files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"
documents=$data/docword.txt.xz
vocabulary=$data/vocab.txt.xz

# A short training: every kind of output exists.
run "$documents" --vocabulary "$vocabulary" --topics 20 --epochs 4 --evaluate-every 2 --workers 2 \
  --held-out "$documents" --output "$directory/topics" --summary-json "$directory/summary.json" \
  --report "$directory/report.html" || fail "training: $(cat "$directory/err")"
grep -q '^1339 documents, 499595 tokens of 18027 different words; 20 topics' "$directory/out" || fail "no description"
grep -q "likelihood by time" "$directory/report.html" || fail "no report"
[[ $(grep -c '^epoch .* tokens/s ' "$directory/out") -eq 4 ]] || fail "not one line per epoch: $(cat "$directory/out")"
[[ $(grep -c '^epoch .* likelihood -.* held out -' "$directory/out") -eq 2 ]] || fail "likelihoods: $(cat "$directory/out")"
[[ $(wc -l <"$directory/topics") -eq 20 && $(head -n 1 "$directory/topics" | wc -w) -eq 13 ]] ||
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
assert history[3]["held_out"] > history[1]["held_out"] and summary["held_out"] == history[3]["held_out"]
assert abs(summary["perplexity"] - 2.718281828459045 ** -summary["held_out"]) < 1
assert len(summary["coherences"]) == 20 and -1 < summary["coherence"] < 1
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

# Text: documents about the sea or the land, a rare word, and a document that has no other one. Their topics are
# saved, and found in other documents; also after a checkpoint.
for _ in 1 2 3 4 5 6 7 8 9 10; do printf 'the sea ship sail sea ship\nthe land field horse land field\n'; done >"$directory/text"
echo 'rare' >>"$directory/text"
echo 'the' >"$directory/stop"
printf 'ship sea sail ship unknown\nhorse\n' >"$directory/more"
text=(--text --topics 2 --alpha 0.1 --stop-words "$directory/stop" --checkpoint-dir "$directory/of_text")
run "$directory/text" "${text[@]}" --epochs 20 || fail "text: $(cat "$directory/err")"
grep -q "^21 tokens are not of the vocabulary's 6 words; 1 documents have none of these$" "$directory/out" ||
  fail "words that are left out: $(cat "$directory/out")"
grep -q '^21 documents, 100 tokens of 6 different words; 2 topics' "$directory/out" || fail "text: $(cat "$directory/out")"
run "$directory/text" "${text[@]}" --epochs 40 --resume --save-model "$directory/model" || fail "text: $(cat "$directory/err")"
[[ $(head -n 1 "$directory/model-vocabulary.txt" | cut -f 1) == field ]] || fail "$(cat "$directory/model-vocabulary.txt")"
run "$directory/more" --text --workers 2 --model "$directory/model" --document-topics "$directory/shares" ||
  fail "other documents: $(cat "$directory/err")"
awk -F '\t' 'NF != 3 || $1 != NR || $2 + $3 < .99 || $2 + $3 > 1.01 { bad = 1 } { larger[NR] = $2 > $3 }
  END { exit bad || NR != 2 || larger[1] == larger[2] }' "$directory/shares" || fail "shares: $(cat "$directory/shares")"

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
refuses "fine: counts 3 different words, but $documents counts 18027" "$documents" --held-out "$directory/fine"
printf '1\n3\n2\n1 1 1\n1 2 1\n' >"$directory/two"
refuses "no held-out document has two tokens" "$directory/two" --held-out "$directory/fine"
printf 'sea\n\nship\n' >"$directory/blank"
refuses "blank:2:1: a document without words" "$directory/blank" --text --min-count 1
refuses "occurs 50 times" "$directory/more" --text --min-count 50
refuses "standard input|read once only" - --text
refuses "absent-counts.npy" "$directory/fine" --model "$directory/absent" --document-topics "$directory/shares"
refuses "fine: counts 3 different words, but $directory/model counts 6" "$directory/fine" --model "$directory/model" \
  --document-topics "$directory/shares"
refuses "absent" "$directory/fine" --save-model "$directory/absent/model" --epochs 1
refuses "cannot be created" "$directory/fine" --output "$directory/missing/out"
refuses "--topics is 11, but 10" "$documents" --topics 11 --checkpoint-dir "$directory/parts" --resume
refuses "--optimize-every is 0, but 2" "$documents" --topics 10 --checkpoint-dir "$directory/parts" --resume
refuses "has checkpoints: add --resume" "$documents" --topics 10 --checkpoint-dir "$directory/parts"
run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--lookahead' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"

exit $((failures > 0))
