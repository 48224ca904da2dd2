#!/bin/bash
# demo.sh [ranks]: builds the matrix factorization and trains it on the bundled MovieTweetings ratings until the error on
# held-out ratings stops improving, on 4 ranks unless another number is given: first with parameters that move to their
# users (blocking), then with parameters that stay where they are (classic). Ends with a comparison.
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-4}
if ! [[ $ranks =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: $0 [ranks]" >&2
  exit 2
fi
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

cmake/install_packages.sh build
echo "==== Build"
cmake --preset release --log-level=NOTICE
cmake --build --preset release --target matrix_factorization --parallel "$(nproc)"

results=build/demo
mkdir -p "$results"
modes=(blocking classic)
for mode in "${modes[@]}"; do
  command=(mpirun --oversubscribe --bind-to none -n "$ranks" build/release/apps/matrix_factorization
    apps/data/movietweetings/ratings.tsv --mode="$mode" --summary-json "$results/$mode.json")
  printf '\n==== %s\n' "${command[*]}"
  "${command[@]}"
done

printf '\n==== %s ranks on %s cores\n' "$ranks" "$(nproc)"
python3 - "$results" "${modes[@]}" <<'EOF'
import json
import pathlib
import sys

folder, modes = pathlib.Path(sys.argv[1]), sys.argv[2:]
summaries = {mode: json.loads((folder / f"{mode}.json").read_text(encoding="utf-8")) for mode in modes}
rows = [
    ("test RMSE, mean of all ratings", lambda s: f"{s['baseline_mean_rmse']:.4f}"),
    ("test RMSE, biases alone", lambda s: f"{s['baseline_biases_rmse']:.4f}"),
    ("test RMSE, trained", lambda s: f"{s['best_test_rmse']:.4f}"),
    ("reached in epoch", lambda s: f"{s['best_epoch']}"),
    ("seconds per epoch", lambda s: f"{s['seconds_per_epoch']:.3f}"),
    ("accesses in local memory", lambda s: f"{100 * s['local_share']:.2f} %"),
    ("messages per epoch", lambda s: f"{s['messages_per_epoch']:,.0f}"),
    ("megabytes sent per epoch", lambda s: f"{s['bytes_per_epoch'] / 1e6:,.2f}"),
]
print(" " * 30 + "".join(f"{mode:>14}" for mode in modes))
for name, value in rows:
    print(f"{name:<30}" + "".join(f"{value(summaries[mode]):>14}" for mode in modes))
first, second = (summaries[mode]["seconds_per_epoch"] for mode in modes)
print(f"\nAn epoch in mode {modes[1]} takes {second / first:.1f} times as long as in mode {modes[0]}.")
EOF
