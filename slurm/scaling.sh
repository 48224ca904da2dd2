#!/bin/bash
# scaling.sh FOLDER NODES PROGRAM [ARGUMENTS...]: strong scaling of an application. Submits slurm/train.sbatch once for each
# number of nodes, and a last job that gathers the summaries when all have ended.
#
#   OPTIONS="--time=00:30:00 --cpus-per-task=16" slurm/scaling.sh results 1,2,4,8 build/release/apps/word_vectors text.txt.xz
#
# FOLDER/nodes-N.json is a run's summary, FOLDER/nodes-N.out its output; slurm/gather.py writes
# FOLDER/table.md and FOLDER/curve.svg. OPTIONS are options of sbatch for each run. Jobs of different sizes
# cannot be one job array: all tasks of an array have the same number of nodes.
set -euo pipefail
if [[ $# -lt 3 ]]; then
  sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$0" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
IFS=, read -ra counts <<<"$2"
for count in "${counts[@]}"; do
  if [[ ! $count =~ ^[1-9][0-9]*$ ]]; then
    echo "scaling.sh: '$count' is no number of nodes: expected numbers separated by commas" >&2
    exit 2
  fi
done
shift 2

jobs=()
for count in "${counts[@]}"; do
  # shellcheck disable=SC2086  # several options
  jobs+=("$(sbatch --parsable ${OPTIONS:-} --nodes="$count" --job-name="scaling-$count" --output="$folder/nodes-$count.out" \
    "$here/train.sbatch" "$@" --summary-json "$folder/nodes-$count.json")")
done
# afterany: a failed run becomes a row that says so.
gather=$(sbatch --parsable --dependency="afterany:$(IFS=:; echo "${jobs[*]%%;*}")" --nodes=1 --ntasks=1 --job-name=scaling-gather \
  --output="$folder/gather.out" --wrap "python3 '$here/gather.py' '$folder'")
echo "jobs ${jobs[*]}, gathered by job $gather into $folder/table.md"
