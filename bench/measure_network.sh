#!/bin/bash
# measure_network.sh [options]: measures messages and remote memory access between two hosts of a cluster.
# Writes one file, network-<host>-<date>.txt, with the figures and all that is needed to judge them: send the
# file back.
#   --programs DIR   the folder with bench_one_sided and bench_relocation; default build/release/bench
#   --launcher CMD   starts one rank on each of two hosts, the program follows it. Default: srun inside a job of Slurm,
#                    else mpirun. With mpirun and a host file: --launcher "mpirun --hostfile FILE -n 2 --map-by node"
#   --out FILE       another name for the file
#   --runs N         measurements of each case; default 10
# Examples:
#   cmake --preset release && cmake --build --preset release --target bench_one_sided bench_relocation
#   salloc -N 2 -n 2 --ntasks-per-node=1 ./bench/measure_network.sh
#   ./bench/measure_network.sh --launcher "mpirun --host node1,node2 -n 2 --map-by node"
#
# Tries every configuration: MPI's default, and with Open MPI also UCX and its windows. Records a
# configuration that fails, and continues with the next. Takes about five minutes. Writes only the file.
set -u
start_folder=$PWD
cd "$(dirname "$0")/.." || exit

programs=build/release/bench
launcher=
out=
runs=10
while [[ $# -gt 0 ]]; do
  case $1 in
    --programs) programs=${2:?}; shift ;;
    --launcher) launcher=${2:?}; shift ;;
    --out) out=${2:?}; shift ;;
    --runs) runs=${2:?}; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$0"; exit 0 ;;
    *) echo "$0: unknown option $1; --help says more" >&2; exit 2 ;;
  esac
  shift
done
for program in bench_one_sided bench_relocation; do
  [[ -x $programs/$program ]] && continue
  echo "$0: $programs/$program is missing: build it (see --help) or give --programs" >&2
  exit 2
done
if [[ -z $launcher ]]; then
  launcher="mpirun -n 2 --map-by node"
  [[ -z ${SLURM_JOB_ID:-} ]] || launcher="srun -N 2 -n 2 --ntasks-per-node=1"
fi
[[ -n $out ]] || out=network-$(hostname -s)-$(date +%Y%m%d-%H%M).txt
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT

say() {
  echo "== $*"
}

# Prints a command's output, or that the command is missing.
show() {
  say "$*"
  if command -v "$1" >/dev/null; then "$@" 2>&1 | head -n 60; else echo "(no command $1)"; fi
}

# Runs a program on both hosts with more environment variables and appends results as JSON.
measure() {  # <name> <variables, separated by spaces> <program> <arguments...>
  local name=$1 variables=$2 program=$3
  shift 3
  say "$name: ${variables:-no variables}: $program"
  # shellcheck disable=SC2086
  if env $variables timeout 300 $launcher "$programs/$program" --runs "$runs" --out "$parts/result.json" "$@" 2>&1; then
    cat "$parts/result.json"
  else
    echo "(failed with exit status $?)"
  fi
}

report() {
  say "Lapse $(git describe --always --dirty 2>/dev/null || echo 'of unknown version'), $(date --iso-8601=minutes)"
  echo "launcher: $launcher"
  show uname -a
  show lscpu
  show mpirun --version
  show ucx_info -v
  show ompi_info --parsable --param osc all --level 3
  show ibv_devinfo
  show fi_info -l
  say "environment"
  env | grep -E '^(OMPI_|UCX_|LAPSE_|PMIX_MCA|SLURM_(JOB_ID|NNODES|NTASKS|CPUS))' | sort
  # shellcheck disable=SC2016
  per_host='echo "$(hostname):"; for state in /sys/class/infiniband/*/ports/*/state; do echo "$state: $(cat "$state" 2>&1)"; done'
  say "adapters of each host"
  # shellcheck disable=SC2086
  timeout 60 $launcher bash -c "$per_host" 2>&1
  say "what MPI chooses"
  # shellcheck disable=SC2086
  OMPI_MCA_pml_base_verbose=10 OMPI_MCA_osc_base_verbose=10 OMPI_MCA_osc=^rdma UCX_LOG_LEVEL=info LAPSE_RMA=on \
    timeout 120 $launcher "$programs/bench_relocation" --smoke --case "tcp batch 1 waiting" 2>&1 |
    grep -Ei 'select|lapse|ucp_worker|lane|proto|osc' | head -n 80

  local configurations=(
    "as MPI chooses|OMPI_MCA_osc=^rdma"
    "UCX|OMPI_MCA_pml=ucx OMPI_MCA_osc=sm,ucx"
    "osc/rdma|OMPI_MCA_osc=sm,rdma"
  )
  for configuration in "${configurations[@]}"; do
    local name=${configuration%%|*} variables=${configuration#*|}
    measure "$name" "$variables" bench_one_sided
    for rma in auto on off; do
      measure "$name, rma=$rma" "$variables LAPSE_RMA=$rma" bench_relocation
    done
  done
}

[[ $out == /* ]] || out=$start_folder/$out
report >"$out"
echo "$out: $(wc -l <"$out") lines; send it back"
