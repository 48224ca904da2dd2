#!/bin/bash
# demo.sh [ranks]: builds the matrix factorization and trains it on the bundled MovieTweetings ratings until the error on
# held-out ratings stops improving, on 4 ranks unless another number is given. Twice as if every rank were on a host of its
# own, without shared memory: with parameters that move to their users (blocking) and with parameters that stay where they
# are (classic); and once as it is, with memory that the ranks share (shared). Ends with a comparison.
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
runs=(blocking classic shared)
for run in "${runs[@]}"; do
  case $run in
    shared) domain=host mode=blocking ;;
    *) domain=rank mode=$run ;;
  esac
  command=(env LAPSE_DOMAIN="$domain" mpirun --oversubscribe --bind-to none -n "$ranks"
    build/release/apps/matrix_factorization apps/data/movietweetings/ratings.tsv --mode="$mode"
    --summary-json "$results/$run.json")
  printf '\n==== %s\n' "${command[*]}"
  "${command[@]}"
done

printf '\n==== %s ranks on %s cores\n' "$ranks" "$(nproc)"
python3 - "$results" "${runs[@]}" <<'EOF'
import json
import pathlib
import sys

folder, runs = pathlib.Path(sys.argv[1]), sys.argv[2:]
summaries = {run: json.loads((folder / f"{run}.json").read_text(encoding="utf-8")) for run in runs}
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
print(" " * 30 + "".join(f"{run:>14}" for run in runs))
for name, value in rows:
    print(f"{name:<30}" + "".join(f"{value(summaries[run]):>14}" for run in runs))
seconds = {run: summary["seconds_per_epoch"] for run, summary in summaries.items()}
print("\nBetween ranks that share no memory, as between hosts, an epoch of parameters that stay takes "
      f"{seconds['classic'] / seconds['blocking']:.1f} times as long as one of parameters that move.")
EOF
