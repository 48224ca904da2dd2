#!/bin/bash
# knowledge_graph_embeddings_program.sh <program> <folder of WN18RR> <launcher...>: runs the knowledge graph
# embeddings from their command line to their files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"

# A short training on WordNet: every kind of output exists, and the embeddings are better than untrained ones.
xz -dc "$data/test.txt.xz" | head -n 200 >"$directory/some-test.txt"
run "$data/train.txt.xz" --test "$directory/some-test.txt" --dim 32 --negatives 4 --epochs 4 --evaluate-every 4 \
  --workers 2 --summary-json "$directory/summary.json" --report "$directory/report.html" --output-prefix "$directory/wn" ||
  fail "training: $(cat "$directory/err")"
[[ $(grep -c '^epoch ' "$directory/out") -eq 4 ]] || fail "not one line per epoch: $(cat "$directory/out")"
grep -q ' 11 relations, 86835 triples to train on' "$directory/out" || fail "no description of the graph"
grep -q "loss by time" "$directory/report.html" || fail "no report"
grep -q '^with an entity that no training triple has: 0 valid, 1[0-9] test triples' "$directory/out" ||
  fail "unseen entities: $(head -n 2 "$directory/out")"
grep -q '^time per epoch' "$directory/out" || fail "no summary"
for file in entities.npy relations.npy entities.txt relations.txt; do
  [[ -s $directory/wn-$file ]] || fail "no file $file"
done
[[ $(head -n 1 "$directory/wn-relations.txt") == $'_hypernym\t34796' ]] || fail "names of the relations"
[[ $(wc -l <"$directory/wn-relations.txt") -eq 11 ]] || fail "number of relations"
python=$(command -v python3) || echo "no python3: the summary is not checked"
if [[ -n $python ]]; then
  "$python" - "$directory/summary.json" <<'END' || fail "summary: $(head -c 2000 "$directory/summary.json")"
import json, sys
summary = json.load(open(sys.argv[1]))
assert len(summary["history"]) == 4 and summary["epochs"] == 4
assert "test" not in summary["history"][0]
assert summary["history"][3]["test"]["all"]["ranks"] == 400
assert summary["test_mrr"] > 0.1, summary["test_mrr"]
assert summary["test_mrr_seen_entities"] > summary["test_mrr"]
assert summary["seconds_per_epoch"] > 0 and summary["triples_per_second"] > 0
END
fi

# A trained model is where a training with more begins: known rows have its embeddings, others are new. On several ranks.
if [[ ${launcher[-1]} -ne 1 ]]; then
  { xz -dc "$data/train.txt.xz" | tail -n 500; printf '06845599\t_knows\tnew one\n'; } >"$directory/grown"
  run "$directory/grown" --dim 32 --epochs 0 --initial "$directory/wn" --output-prefix "$directory/grown-model" ||
    fail "an initial model: $(cat "$directory/err")"
  grep -Eq '^starts from .*/wn.json: ([0-9]+) of [0-9]+ entities and [0-9]+ of [0-9]+ relations are known$' "$directory/out" ||
    fail "an initial model: $(cat "$directory/out")"
  if [[ -n $python ]] && "$python" -c 'import numpy' 2>/dev/null; then
    "$python" - "$directory/wn" "$directory/grown-model" <<'END' || fail "rows of an initial model"
import sys
import numpy
for role, new in (("entities", "new one"), ("relations", "_knows")):
    names = [[line.split("\t")[0] for line in open(f"{model}-{role}.txt")] for model in sys.argv[1:]]
    before, after = (numpy.load(f"{model}-{role}.npy") for model in sys.argv[1:])
    assert new in names[1] and new not in names[0]
    for row, name in zip(after, names[1]):
        known = name in names[0]
        assert row.any() and (known == (name != new)), name
        assert not known or (row == before[names[0].index(name)]).all(), name
END
  fi
fi

# Every recipe for knowledge graphs can be read and trains.
xz -dc "$data/train.txt.xz" | head -n 2000 >"$directory/some-train.txt"
head -n 50 "$directory/some-train.txt" >"$directory/some-valid.txt"
for name in fb15k-237 wn18rr; do
  recipe=$data/../../recipes/$name.ini
  run "$directory/some-train.txt" --valid "$directory/some-valid.txt" --config "$recipe" --dim 4 --negatives 100 \
    --epochs 2 --evaluate-every 1 || fail "$recipe: $(cat "$directory/err")"
  grep -q '^epoch   2 .* valid MRR' "$directory/out" || fail "$recipe: $(cat "$directory/out")"
done

# An unchanged recipe, for a graph with fewer entities than negatives: all entities are negatives.
printf 'a\tlikes\tb\nb\tlikes\tc\n' >"$directory/train"
for technique in adaptive localize; do
  run "$directory/train" --valid "$directory/train" --config "$data/../../recipes/wn18rr.ini" --dim 4 --epochs 1 --technique "$technique" ||
    fail "a small graph, $technique: $(cat "$directory/err")"
  grep -qx '2000 different shared negatives, and the graph has 3 entities: all are negatives' "$directory/out" ||
    fail "a small graph, $technique: $(cat "$directory/out")"
done

# Workers read what is at most one batch behind.
bounded='import json, sys
server = json.load(open(sys.argv[1]))["statistics"]["server"]
for table in server["tables"]:
    found = table["total"]
    assert found["clock_lag_max"] <= 1 and (found["clocks"] > 0 or server["ranks"] == 1), found'
run --generate 50,3,600 --dim 4 --epochs 1 --technique adaptive --consistency "cap(1)" --summary-json "$directory/bounded.json" ||
  fail "cap(1): $(cat "$directory/err")"
! command -v python3 >/dev/null || python3 -c "$bounded" "$directory/bounded.json" || fail "cap(1): $(head -c 2000 "$directory/bounded.json")"

# Bad input ends all ranks with one clear line.
printf 'a\tlikes\tc\na\thates\tc\n' >"$directory/held-out"
printf 'a\tlikes\tb\na\tlikes\n' >"$directory/malformed"
: >"$directory/empty"
refuses "held-out:2:3|relation|'hates'" "$directory/train" --test "$directory/held-out"
refuses "held-out:2:3|relation|'hates'" "$directory/train" --valid "$directory/held-out"
refuses "malformed:2" "$directory/malformed"
refuses "contains no triples" "$directory/empty"

# One rank prints each note for the user once.
run "$directory/train" --test "$directory/train" --epochs 1 --dim 4 || fail "a test of training data: $(cat "$directory/err")"
[[ $(grep -c 'train: 2 of 2 triples are training triples, too' "$directory/err") -eq 1 ]] ||
  fail "a test of training data: $(cat "$directory/err")"
refuses "No such file" "$directory/missing"
refuses "missing.json" "$directory/train" --initial "$directory/missing"
refuses "--initial: --dim of|wn.json is 32, but 4 in this training" "$directory/train" --initial "$directory/wn" --dim 4
refuses "--initial: --model of|is complex, but transe" "$directory/train" --initial "$directory/wn" --dim 32 --model transe
refuses "--initial: --reciprocal of|is no, but yes" "$directory/train" --initial "$directory/wn" --dim 32 --reciprocal
refuses "cannot be created" "$directory/train" --output-prefix "$directory/missing/out" --epochs 1
refuses "cannot be created" "$directory/train" --summary-json "$directory/missing/summary" --epochs 1
refuses "diverged" "$directory/train" --rate 1e30
# From the second epoch on, the loss is finite but too large: the checkpoint of the first epoch is kept.
refuses "diverged in epoch 2 |times that of a model that has learned nothing: choose a smaller --rate; step 1 in |is the newest" \
  "$directory/train" --rate 1e4 --l2 0 --epochs 9 --checkpoint-every 1epochs --checkpoint-keep 1 --checkpoint-dir "$directory/exploded"
! grep -q not_finite "$directory"/exploded/step-*/manifest.json 2>/dev/null &&
  [[ ${launcher[-1]} -eq 1 || -e $directory/exploded/step-1/manifest.json ]] || fail "the checkpoint before: $(ls "$directory/exploded")"
mkdir "$directory/taken-relations.npy"
refuses "taken-relations.npy|it is a folder" "$directory/train" --output-prefix "$directory/taken" --epochs 1
refuses "is a file, expected a folder" "$directory/train" --checkpoint-dir "$directory/empty" --epochs 1
refuses "--dim" "$directory/train" --dim 0
refuses "--lookahead applies only with --mode latency_hiding, combined or intent" "$directory/train" --mode classic --lookahead 2
refuses "--technique: applies only with --mode intent" "$directory/train" --mode classic --technique adaptive
refuses "--technique|adaptive|immediate" "$directory/train" --technique best
refuses "--consistency applies only with --mode intent" "$directory/train" --mode classic --consistency "cap(1)"
refuses "--consistency|cap(x)" "$directory/train" --technique adaptive --consistency "cap(x)"
ADAPM_TECHNIQUE=adaptive refuses "ADAPM_TECHNIQUE: applies only with --mode intent" "$directory/train" --mode classic
printf 'loss = softmax\nrates = 1\n' >"$directory/unknown.ini"
refuses "rates" "$directory/train" --config "$directory/unknown.ini"
refuses "--loss applies only with --negatives above 0 if it is softmax" "$directory/train" --loss softmax --negatives 0
refuses "--patience applies only with --valid" "$directory/train" --patience 2
refuses "--model|complex|distmult|rescal|transe" "$directory/train" --model rotate
refuses "--mode|classic|clustering|combined|intent|latency_hiding" "$directory/train" --mode fast
refuses "workers" "$directory/train" --workers 0
refuses "number" "$directory/train" --workers 1,1,1,1,1
run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--lookahead' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"

exit $((failures > 0))
