#!/bin/bash
# tour.sh [page.html]: trains on the bundled data, on 4 ranks as if each were on a host of its own, with parameters that stay,
# that move, and that the manager moves and replicates; and writes a page that shows where the parameters were, with a tour.
set -euo pipefail
cd "$(dirname "$0")/.."
page=${1:-build/tour/tour.html}
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
programs=${TOUR_PROGRAMS:-build/release/apps}
if [[ $programs == build/release/apps ]]; then
  cmake/install_packages.sh build
  echo "==== Build"
  cmake --preset release --log-level=NOTICE
  cmake --build --preset release --parallel "$(nproc)" --target matrix_factorization knowledge_graph_embeddings word_vectors lapse-viewer
fi

traces=build/tour
mkdir -p "$traces" "$(dirname "$page")"
shown=()
run() {  # <file> <name> <program> <arguments>
  local file=$1 name=$2
  shift 2
  echo "==== $name"
  env LAPSE_DOMAIN=rank LAPSE_ALLOCATION_TRACE="$traces/$file" mpirun --oversubscribe --bind-to none -n 4 "$programs/$@" | tail -n 3
  shown+=("$name=$traces/$file")
}

ratings=(matrix_factorization apps/data/movietweetings/ratings.tsv --epochs 3 --patience 0)
run ratings-static "matrix factorization, static" "${ratings[@]}" --mode classic
run ratings-dynamic "matrix factorization, dynamic" "${ratings[@]}" --mode blocking
LAPSE_ALLOCATION_TRACE_EVENTS=intents run ratings-adaptive "matrix factorization, adaptive" "${ratings[@]}" --technique adaptive

graph=(knowledge_graph_embeddings apps/data/wn18rr/train.txt.xz --dim 8 --epochs 1 --negatives 2 --evaluate-every 0)
export LAPSE_ALLOCATION_TRACE_KEYS='embeddings-entities:random 4000;embeddings-relations:all'
run graph-static "knowledge graph, static" "${graph[@]}" --mode classic
run graph-dynamic "knowledge graph, dynamic" "${graph[@]}" --mode combined
run graph-adaptive "knowledge graph, adaptive" "${graph[@]}" --technique adaptive

words=(word_vectors apps/data/words/factbook.txt.xz --dim 8 --epochs 1)
export LAPSE_ALLOCATION_TRACE_KEYS=all
run words-static "word vectors, static" "${words[@]}" --technique static_partitioning
run words-dynamic "word vectors, dynamic" "${words[@]}" --technique relocation_only
run words-adaptive "word vectors, adaptive" "${words[@]}" --technique adaptive

"$programs/lapse-viewer" page "$page" "${shown[@]}"
