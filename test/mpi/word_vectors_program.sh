#!/bin/bash
# word_vectors_program.sh <program> <folder of the words> <launcher...>: runs the word vectors from their
# command line to their files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"

# A short training on two files, one of them compressed: every kind of output exists.
printf 'the republic of the republic\nthe republic\n' >"$directory/more"
run "$data/factbook.txt.xz" "$directory/more" --dim 20 --epochs 2 --workers 2 --output "$directory/vectors" \
  --analogies "$data/questions-words.txt.xz" --word-similarity "$data/wordsim353.tsv" \
  --summary-json "$directory/summary.json" --report "$directory/report.html" || fail "training: $(cat "$directory/err")"
grep -q '^[0-9]* words, [0-9]* different ones that occur 5 times or more$' "$directory/out" || fail "no description"
grep -q "loss by time" "$directory/report.html" || fail "no report"
[[ $(grep -c '^epoch .* words/s ' "$directory/out") -eq 2 ]] || fail "not one line per epoch: $(cat "$directory/out")"
grep -q '^analogies  ' "$directory/out" || fail "no accuracy of analogies: $(cat "$directory/out")"
[[ $(head -n 1 "$directory/vectors") =~ ^[0-9]+\ 20$ ]] || fail "header of the vectors"
python=$(command -v python3) || echo "no python3: the summary is not checked"
if [[ -n $python ]]; then
  "$python" - "$directory/summary.json" <<'END' || fail "summary: $(head -c 2000 "$directory/summary.json")"
import json, sys
summary = json.load(open(sys.argv[1]))
assert len(summary["history"]) == 2 and summary["epochs"] == 2
assert summary["history"][1]["loss"] < summary["history"][0]["loss"]
assert summary["analogies_answered"] + summary["analogies_unknown"] == 19544
assert len(summary["analogy_sections"]) == 14
assert -1 <= summary["word_similarity"] <= 1
assert summary["words_per_second"] > 0 and summary["technique"] == "adaptive"
END
fi

# The vectors in the file have the same accuracy as before saving, also as text.
accuracy=$(grep -E '^(analogies|word similarity)  ' "$directory/out" | tr -s ' ')
run --evaluate-only "$directory/vectors" --analogies "$data/questions-words.txt.xz" \
  --word-similarity "$data/wordsim353.tsv" || fail "evaluation: $(cat "$directory/err")"
[[ $(grep -E '^(analogies|word similarity)  ' "$directory/out" | tr -s ' ') == "$accuracy" ]] ||
  fail "another accuracy: $accuracy: $(cat "$directory/out")"

# Workers read what is at most one batch behind.
bounded='import json, sys
server = json.load(open(sys.argv[1]))["statistics"]["server"]
for table in server["tables"]:
    found = table["total"]
    assert found["clock_lag_max"] <= 1 and (found["clocks"] > 0 or server["ranks"] == 1), found'
run "$directory/more" --min-count 1 --dim 2 --epochs 2 --consistency "cap(1)" --summary-json "$directory/bounded.json" ||
  fail "cap(1): $(cat "$directory/err")"
[[ -z $python ]] || "$python" -c "$bounded" "$directory/bounded.json" || fail "cap(1): $(head -c 2000 "$directory/bounded.json")"

run "$directory/more" --min-count 1 --dim 2 --epochs 1 --output "$directory/text" --output-format text ||
  fail "training on little: $(cat "$directory/err")"
[[ $(head -n 1 "$directory/text") == "3 2" && $(sed -n 2p "$directory/text") =~ ^republic\ [-0-9] ]] ||
  fail "vectors as text: $(head -n 3 "$directory/text")"
[[ $(wc -l <"$directory/text") -eq 4 ]] || fail "lines of the vectors as text"

# Given vectors are where a training with more words begins.
printf 'the new republic the new republic\n' >"$directory/grown"
{ echo "the 0.5 -0.25"; echo "unused 1 2"; echo "republic 3 4"; } >"$directory/glove"
for initial in "$directory/text" "$directory/text.json" "$directory/glove"; do
  run "$directory/grown" --min-count 1 --dim 2 --epochs 1 --rate 1e-30 --initial "$initial" --output "$directory/again" \
    --output-format text || fail "initial vectors: $(cat "$directory/err")"
  grep -q "^starts from $initial: 2 of 3 words are known$" "$directory/out" || fail "initial vectors: $(cat "$directory/out")"
  vectors=${initial%.json}
  for word in the republic; do
    [[ $(grep "^$word " "$directory/again") == "$(grep "^$word " "$vectors")" ]] || fail "initial vector of $word from $initial"
  done
  grep -q '^new ' "$directory/again" || fail "no vector of a new word"
done

# With the defaults, the loss of a small text falls in every epoch: sentences about one topic are trained far
# apart. With one worker, every run has these losses.
if [[ ${launcher[-1]} -eq 1 ]]; then
  run "$data/factbook.txt.xz" --progress 0 || fail "defaults: $(cat "$directory/err")"
  losses=$(sed -n 's/^epoch .* loss *\([0-9.]*\) .*/\1/p' "$directory/out")
  [[ $(wc -l <<<"$losses") -eq 5 && $(sort -rn <<<"$losses") == "$losses" ]] || fail "losses that rise: $losses"
fi

# Bad input ends all ranks with one clear line.
printf 'fine\nb\xff\n' >"$directory/latin"
head -c 1500000 /dev/zero | tr '\0' 'x' >"$directory/word"
printf ': s\na b c\n' >"$directory/malformed"
printf ': s\nbrown fox quick red\n' >"$directory/unknown"
more=("$directory/more" --min-count 1)
refuses "latin:2:2|UTF-8" "$directory/latin"
refuses "word:1|line longer than" "$directory/word"
refuses "occurs 50 times" "$directory/more" --min-count 50
refuses "standard input|read once only" -
refuses "malformed:2:1|four words" "${more[@]}" --analogies "$directory/malformed"
refuses "each of the 1 questions" "${more[@]}" --analogies "$directory/unknown"
refuses "cannot be created" "${more[@]}" --output "$directory/missing/out"
refuses "diverged in epoch |choose a smaller --rate" "${more[@]}" --subsample 0 --rate 1e30
refuses "it is a folder" "${more[@]}" --output "$directory"
refuses "--initial: the vectors of|have 2 dimensions, but --dim is 3" "${more[@]}" --dim 3 --initial "$directory/glove"
refuses "missing" "${more[@]}" --initial "$directory/missing"
refuses "is a file, expected a folder" "${more[@]}" --checkpoint-dir "$directory/more"
run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--lookahead' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"

exit $((failures > 0))
