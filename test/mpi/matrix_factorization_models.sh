#!/bin/bash
# matrix_factorization_models.sh <program> <ratings> <launcher...>: rankings of items, and trainings that start from a
# trained model, from the command line to the files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"
python=$(command -v python3) || echo "no python3: summaries and files are not checked"

# Items are ranked, from the command line to the files: better than by popularity.
awk 'BEGIN { for (u = 0; u < 90; ++u) for (i = 0; i < 60; ++i) if (u % 3 == i % 3 && (u * 7 + i * 11 + u * i) % 5 < 2) print u, i }' >"$directory/visits"
ranks_items=("$directory/visits" --columns 1,2 --epochs 12 --patience 0 --workers 2)
run "${ranks_items[@]}" --loss bpr --summary-json "$directory/summary.json" --report "$directory/report.html" \
  --output-prefix "$directory/ranking" || fail "bpr: $(cat "$directory/err")"
grep -q '^most popular items, [0-9]* users: test NDCG@10 ' "$directory/out" || fail "no popularity: $(cat "$directory/out")"
[[ $(grep -c '^epoch .*train loss .*NDCG@10 .*MAP@10 .*recall@10 .*precision@10 .*AUC ' "$directory/out") -eq 12 ]] ||
  fail "measures of epochs: $(cat "$directory/out")"
[[ -s $directory/ranking-column-biases.npy && ! -e $directory/ranking-row-biases.npy ]] || fail "biases of ranking"
grep -q '"loss": "bpr"' "$directory/ranking.json" || fail "description: $(cat "$directory/ranking.json")"
grep -q 'test NDCG at 10 by time' "$directory/report.html" || fail "no chart of NDCG"
if [[ -n $python ]]; then
  "$python" - "$directory/summary.json" <<'END' || fail "summary of bpr: $(cat "$directory/summary.json")"
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["loss"] == "bpr" and summary["test_users"] > 20
assert summary["best_test_auc"] > summary["baseline_popularity_auc"] + 0.1
assert summary["best_test_ndcg_at_10"] > summary["baseline_popularity_ndcg_at_10"]
assert {"train_loss", "test_ndcg_at_10", "test_map_at_10", "test_recall_at_10", "test_precision_at_10", "test_auc"} <= set(summary["history"][0])
END
fi
run "${ranks_items[@]}" --loss warp --top 5 --test-fraction 0 --checkpoint-dir "$directory/ranked" || fail "warp: $(cat "$directory/err")"
grep -q 'NDCG' "$directory/out" && fail "measures without held-out interactions: $(cat "$directory/out")"
ranked=("$directory/visits" --columns 1,2 --patience 0 --workers 1 --top 5 --test-fraction 0 --checkpoint-dir "$directory/ranked" --resume)
run "${ranked[@]}" --loss warp --epochs 14 || fail "warp resumes: $(cat "$directory/err")"
[[ $(grep -c '^epoch ' "$directory/out") -eq 2 ]] || fail "warp resumes: $(cat "$directory/out")"
refuses "--loss is bpr, but warp in the checkpoint" "${ranked[@]}" --loss bpr --epochs 16
refuses "no rating to train on is 2 or higher: the highest is 1" "${ranks_items[@]}" --loss bpr --positive-from 2
refuses "--positive-from applies only with --loss bpr or warp" "${ranks_items[@]}" --positive-from 2
refuses "--mode applies only with --loss squared" "${ranks_items[@]}" --loss bpr --mode classic
refuses "--loss: other not in {bpr,squared,warp}" "${ranks_items[@]}" --loss other

run "$data" --epochs 2 --no-baselines --output-prefix "$directory/factors" || fail "a model: $(cat "$directory/err")"

# A trained model is where a training with other ratings begins: known users and items have its factors, also by
# name, and the users' biases make up for another mean.
{ head -n 400 "$data"; printf '99999999\t122\t9\t0\n'; } >"$directory/more"
run "$directory/more" --epochs 0 --test-fraction 0 --initial "$directory/factors" --output-prefix "$directory/more-factors" ||
  fail "an initial model: $(cat "$directory/err")"
grep -Eq '^starts from .*/factors.json: [0-9]+ of [0-9]+ users and [0-9]+ of [0-9]+ items are known$' "$directory/out" ||
  fail "an initial model: $(cat "$directory/out")"
if [[ -n $python ]] && "$python" -c 'import numpy' 2>/dev/null; then
  "$python" - "$directory/factors" "$directory/more-factors" <<'END' || fail "factors of an initial model"
import json, sys
import numpy
means = [json.load(open(f"{model}.json"))["parameters"]["mean"] for model in sys.argv[1:]]
assert means[0] != means[1]
for side, shift in (("row", means[0] - means[1]), ("column", 0)):
    ids, factors, biases = ([numpy.load(f"{model}-{side}{end}.npy") for model in sys.argv[1:]] for end in ("-ids", "s", "-biases"))
    known = numpy.isin(ids[1], ids[0])
    at = numpy.searchsorted(ids[0], ids[1][known])
    assert (factors[1][known] == factors[0][at]).all() and known.sum() > 50
    assert abs(biases[1][known] - (biases[0][at] + shift)).max() < 1e-5
    assert factors[1].any(axis=1).all()
    assert side == "column" or (known.sum() == len(known) - 1 and ids[1][~known] == [99999999])
END
fi
refuses "--initial: --rank of|factors.json is 16, but 8 in this training" "$directory/more" --rank 8 --initial "$directory/factors"
refuses "--initial: --biases of|is yes, but no" "$directory/more" --no-biases --initial "$directory/factors"
refuses "--initial: --loss of|is squared, but bpr" "$directory/more" --loss bpr --initial "$directory/factors"
refuses "a generated matrix has none" --zipf 30x20x200 --initial "$directory/factors"

# A job that is submitted again resumes, and does not read the model, which may be gone.
run "$directory/more" --epochs 1 --test-fraction 0 --initial "$directory/factors" --checkpoint-dir "$directory/kept" ||
  fail "an initial model, with checkpoints: $(cat "$directory/err")"
run "$directory/more" --epochs 2 --test-fraction 0 --initial "$directory/gone" --checkpoint-dir "$directory/kept" --resume ||
  fail "an initial model, resumed: $(cat "$directory/err")"
grep -q '^starts from' "$directory/out" && fail "an initial model in place of a checkpoint: $(cat "$directory/out")"

# Epochs without an evaluation are no reason to stop.
run "$directory/visits" --columns 1,2 --loss bpr --epochs 9 --evaluate-every 4 --patience 2 || fail "rare evaluations: $(cat "$directory/err")"
[[ $(grep -c '^epoch ' "$directory/out") -ge 8 ]] || fail "rare evaluations: $(cat "$directory/out")"

exit $((failures > 0))
