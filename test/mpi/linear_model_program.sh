#!/bin/bash
# linear_model_program.sh <program> <folder of the set Adult> <launcher...>: runs linear models from the command line
# to the files. Prints errors and exits with 1.
source "$(dirname "${BASH_SOURCE[0]}")/application_program.sh"
samples=$data/train.txt.xz
python=$(command -v python3) || echo "no python3: summaries are not checked"

summary() {  # <python expression of the summary s>
  [[ -z $python ]] || "$python" -c 'import json, sys; s = json.load(open(sys.argv[1])); sys.exit(not eval(sys.argv[2]))' \
    "$directory/summary.json" "$1" || fail "$1: $(head -c 1500 "$directory/summary.json")"
}

# The optima, and the qualities at these, are those of liblinear.
run "$samples" --test "$data/test.txt.xz" --workers 2 --save-model "$directory/model" --report "$directory/report.html" \
  --summary-json "$directory/summary.json" ||
  fail "logistic: $(cat "$directory/err")"
grep -q '^32561 samples, 123 features, 13.9 of them in a sample; logistic loss, solver svrg' "$directory/out" ||
  fail "no description: $(cat "$directory/out")"
grep -q "test AUC by time" "$directory/report.html" || fail "no report"
grep -q '^epoch .* objective .* gradient .* test .* AUC' "$directory/out" || fail "no epochs: $(cat "$directory/out")"
summary 'abs(s["objective"] / 10529.5626 - 1) < 1e-3 and s["error"] < 1e-4 and abs(s["test_accuracy"] - .850) < .003'
summary 'abs(s["test_auc"] - .902) < .002 and s["history"][0]["epoch"] == 0 and s["history"][-1]["objective"] == s["objective"]'
run "$samples" --loss squared-hinge --solver loopless --summary-json "$directory/summary.json" || fail "squared hinge: $(cat "$directory/err")"
summary 'abs(s["objective"] / 13742.3973 - 1) < 1e-3'
run "$samples" --loss hinge --cost 0.01 --summary-json "$directory/summary.json" || fail "hinge: $(cat "$directory/err")"
summary 's["error"] < 1e-3 and s["solver"] == "sdca" and abs(s["objective"] / 118.4917 - 1) < 1e-3'

# The accuracy of five folds is about that of liblinear (-v 5), and the training takes the best cost.
run "$samples" --folds 5 --costs 0.001,1 --summary-json "$directory/summary.json" || fail "folds: $(cat "$directory/err")"
summary 'abs(s["cross_validation"][1]["accuracy"] - .848) < .002 and abs(s["cross_validation"][0]["accuracy"] - .8315) < .002'
summary 's["cost"] == 1 and abs(s["objective"] / 10529.5626 - 1) < 1e-3 and .001 < s["cross_validation"][1]["accuracy_deviation"] < .02'

# The saved model is in liblinear's format, and predicts as the training did.
[[ $(sed -n '1,6p' "$directory/model" | tr '\n' ' ') == "solver_type L2R_LR nr_class 2 label 1 -1 nr_feature 123 bias -1 w " ]] ||
  fail "model: $(head -n 7 "$directory/model")"
[[ $(wc -l <"$directory/model") -eq 129 ]] || fail "$(wc -l <"$directory/model") lines of the model"
run --predict "$data/test.txt.xz" --model "$directory/model" --output "$directory/labels" --summary-json "$directory/summary.json" ||
  fail "prediction: $(cat "$directory/err")"
summary 's["samples"] == 16281 and abs(s["accuracy"] - .850) < .003 and abs(s["auc"] - .902) < .002'
xz -dc "$data/test.txt.xz" | cut -d ' ' -f 1 | paste - "$directory/labels" |
  awk '{ right += $1 == $2; bad += ($3 > 0) != ($2 == 1) || ($4 > 0.5) != ($3 > 0) } END { exit bad || right / NR < .847 || right / NR > .853 || NR != 16281 }' ||
  fail "predicted labels: $(head -n 3 "$directory/labels")"

# A training that starts from a model of the same samples has nothing to do; from one of half of them, less than without.
run "$samples" --initial "$directory/model" --summary-json "$directory/summary.json" || fail "initial: $(cat "$directory/err")"
grep -q "^starts from $directory/model: 123 of 123 features have weights" "$directory/out" || fail "initial: $(cat "$directory/out")"
summary 's["error"] < 1e-4 and len(s["history"]) == 1 and abs(s["objective"] / 10529.5626 - 1) < 1e-3'
xz -dc "$samples" | head -n 16000 >"$directory/half"
run "$directory/half" --loss squared-hinge --bias 1 --save-model "$directory/half.model" || fail "half: $(cat "$directory/err")"
run "$samples" --loss squared-hinge --bias 1 --initial "$directory/half.model" --solver sgd --epochs 0 \
  --summary-json "$directory/summary.json" || fail "initial of half: $(cat "$directory/err")"
summary 's["history"][0]["accuracy"] > .84 and s["error"] < .05'

# A training in two parts ends like one in one part, also that of dual variables.
solvers=(sdca)
[[ ${launcher[-1]} -ne 1 ]] || solvers+=(svrg)
for solver in "${solvers[@]}"; do
  options=(--solver "$solver" --tolerance 0 --checkpoint-dir)
  run "$samples" "${options[@]}" "$directory/whole-$solver" --epochs 6 --save-model "$directory/whole" || fail "whole: $(cat "$directory/err")"
  run "$samples" "${options[@]}" "$directory/parts-$solver" --epochs 3 || fail "first part: $(cat "$directory/err")"
  run "$samples" "${options[@]}" "$directory/parts-$solver" --epochs 6 --resume --save-model "$directory/parts" ||
    fail "second part: $(cat "$directory/err")"
  grep -q '^resumed from step' "$directory/out" || fail "it did not resume: $(cat "$directory/out")"
  grep -q '^epoch    3 ' "$directory/out" && fail "it began anew: $(cat "$directory/out")"
  paste "$directory/whole" "$directory/parts" | tail -n +7 | awk '{ d = $1 - $2; if (d > 1e-7 || d < -1e-7) bad = 1 } END { exit bad }' ||
    fail "other weights after a resumption of $solver: $(paste "$directory/whole" "$directory/parts" | head -n 12)"
done
# Also with another number of workers.
run "$samples" --solver sdca --tolerance 0 --checkpoint-dir "$directory/parts-sdca" --epochs 8 --resume --workers 3 ||
  fail "more workers: $(cat "$directory/err")"

# Bad input ends all ranks with one clear line.
printf '1 1:1\n-1 0:1\n' >"$directory/zero"
printf '1 1:1\n1 2:1\n' >"$directory/one-class"
printf '1 1:1\n2 1:1\n3 1:1\n4 1:1\n' >"$directory/classes"
printf '1 2:1 1:1\n' >"$directory/order"
printf '1 1:nan\n' >"$directory/nan"
printf '1\n-1\n' >"$directory/empty"
printf '1 1:1\n-1 2:1\n' >"$directory/fine"
printf 'solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 3\nbias -1\nw\n1\n' >"$directory/short"
printf 'solver_type MCSVM\nnr_class 2\nlabel 1 -1\nnr_feature 1\nbias -1\nw\n1\n' >"$directory/type"
printf '1 1:1\n-1 2:1\n' >"$directory/two"
refuses "--folds 3|only 2 samples" "$directory/two" --folds 3
refuses "--folds|validate first" "$samples" --folds 3 --checkpoint-dir "$directory/folds"
refuses "zero:2:4: feature 0|counted from 1" "$directory/zero" --first-feature 1
refuses "one-class: all of its 2 samples have the label 1" "$directory/one-class"
refuses "classes: has 4 labels, 1, 2, 3, ..., expected two" "$directory/classes"
refuses "order:1:7: feature 1 after feature 2" "$directory/order"
refuses "nan:1:5: value 'nan'" "$directory/nan"
run --help || fail "--help: $(cat "$directory/err")"
[[ $(grep -c -- '--tolerance' "$directory/out") -eq 1 ]] || fail "help is printed by more than one rank, or by none"
refuses "empty: none of its samples has a feature" "$directory/empty"
refuses "missing" "$directory/missing"
refuses "classes: 1 samples have the label 2, expected -1 or 1" "$directory/fine" --test "$directory/classes"
refuses "training diverged|choose a smaller --step-scale" "$samples" --step-scale 1e12
refuses "svrg|slope is continuous" "$samples" --loss hinge --solver svrg
refuses "--initial: the solver sdca starts from dual variables" "$samples" --solver sdca --initial "$directory/model"
refuses "--initial: $directory/model has a bias of 0, but --bias is 1" "$samples" --bias 1 --initial "$directory/model"
sed 's/^-1/0/' "$directory/fine" >"$directory/labels-0-1"
refuses "the labels of $directory/model are 1 and -1, but those of the samples are 1 and 0" "$directory/labels-0-1" --initial "$directory/model"
sed 's/^-1/2/' "$directory/fine" >"$directory/labels-1-2"
sed 's/ 1:1/ 0:1/' "$directory/fine" >"$directory/from-0"
run "$directory/labels-1-2" --save-model "$directory/labels.model" || fail "labels 1 and 2: $(cat "$directory/err")"
awk '/^label/ { print "label 1 2"; next } past { print -$1; next } { print } /^w$/ { past = 1 }' "$directory/labels.model" >"$directory/exchanged"
run "$directory/labels-1-2" --initial "$directory/exchanged" || fail "exchanged labels: $(cat "$directory/err")"
grep -q '^epoch ' "$directory/out" && fail "exchanged labels are not those of the model: $(cat "$directory/out")"
refuses "features of $directory/model are counted from 1, but those of the samples from 0: expected --first-feature 1" \
  "$directory/from-0" --initial "$directory/model"
refuses "type:1:1: solver_type 'MCSVM'" "$directory/fine" --initial "$directory/type"
refuses "absent" "$directory/fine" --save-model "$directory/absent/model"
refuses "short: ends before its line 2 of 3 weights" --predict "$directory/fine" --model "$directory/short" --output "$directory/labels"
refuses "type:1:1: solver_type 'MCSVM'" --predict "$directory/fine" --model "$directory/type" --output "$directory/labels"
refuses "--cost is 2, but 1" "$samples" --solver sdca --cost 2 --checkpoint-dir "$directory/parts-sdca" --resume
refuses "has checkpoints: add --resume" "$samples" --checkpoint-dir "$directory/parts-sdca"

exit $((failures > 0))
