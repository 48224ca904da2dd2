#!/bin/bash
# run.sh [options] [NAME...]: builds the benchmarks (preset release), runs those named (default: all), each with the
# numbers of ranks it is made for, writes DIR/NAME.json (growth also NAME.csv and NAME.svg) and prints a table of them.
#   --out DIR       for the results; default bench/results
#   --case NAME     only this case; may be given several times
#   --workers N     workers of each rank, in benchmarks that leave it open: intent
#   --megabytes N   of data, in benchmarks that leave it open: checkpoints
#   --folder DIR    for files, in benchmarks that write some: checkpoints; default /tmp
#   --runs N        measurements of each case, of which the median counts
#   --no-twins      only the server, without the plain programs: for profiles
#   --report [PATH] also writes a page about all results in DIR, with pictures; PATH is a folder, or a file .md (default
#                   DIR/report.md)
#   --smoke         tiny sizes, only to see that everything works; all cases must be in the results
#   --programs DIR  where the programs are; nothing is built then
#   --launcher CMD  starts an MPI program, the number of ranks follows it
# Cases named tcp run between two hosts that test/cluster/netns_cluster.sh makes of this machine, with the launcher there;
# where it cannot, they are left out.
set -euo pipefail
start_folder=$PWD
cd "$(dirname "$0")/.."

# The numbers of ranks of a benchmark's cases: one run of its program for each.
declare -A ranks_of=([access]="1 2 3 4" [c_interface]="1" [checkpoints]="2" [elements]="1 2" [factorization]="1 2 4" [growth]="1" [idle]="2" [intent]="2" [knowledge_graphs]="1 2 4" [memory]="2"
  [one_sided]="2 3" [phases]="2 3 4" [pipeline]="2" [policies]="4" [relocation]="2 3 4" [replicas]="2 3 4" [sampling]="1 2" [stages]="1 2 4" [update_rules]="1 2")
# To see that everything works, fewer are enough.
declare -A smoke_ranks_of=([phases]="2 4" [policies]="2" [stages]="1 4")

# Benchmarks with cases between hosts: two ranks on two hosts.
declare -A between_hosts=([access]=yes [intent]=yes [one_sided]=yes [phases]=yes [pipeline]=yes [relocation]=yes)
cluster=test/cluster/netns_cluster.sh

out=bench/results
programs=
report=
# Neither the server nor the baselines are bound to cores. With one core per rank on two cores, all threads of
# a server's rank would share a core (remote accesses take three times as long), while plain MPI gains less
# than a fifth.
launcher="mpirun --oversubscribe --bind-to none -n"
options=()
check_options=()
smoke=false
names=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --out) out=$(realpath --canonicalize-missing "$start_folder/$2") && [[ $2 != /* ]] || out=$2; shift ;;
    --case | --runs | --workers | --megabytes | --folder) options+=("$1" "$2"); shift ;;
    --no-twins) options+=("$1") ;;
    --report)
      report=default
      if [[ $# -gt 1 && $2 != -* && -z ${ranks_of[$2]:-} ]]; then
        report=$(realpath --canonicalize-missing "$start_folder/$2") && [[ $2 != /* ]] || report=$2
        shift
      fi
      ;;
    --smoke) smoke=true; options+=("$1"); check_options+=(--each-case) ;;
    --programs) programs=$2; shift ;;
    --launcher) launcher=$2; shift ;;
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$0"; exit 0 ;;
    -*) echo "$0: unknown option $1" >&2; exit 2 ;;
    *)
      if [[ -z ${ranks_of[$1]:-} ]]; then
        echo "$0: unknown benchmark '$1'; there are: $(printf '%s\n' "${!ranks_of[@]}" | sort | xargs)" >&2
        exit 2
      fi
      names+=("$1")
      ;;
  esac
  shift
done
if [[ ${#names[@]} -eq 0 ]]; then
  mapfile -t names < <(printf '%s\n' "${!ranks_of[@]}" | sort)
fi
if [[ $(id -u) -eq 0 ]]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi

if [[ -z $programs ]]; then
  programs=build/release/bench
  cmake --preset release >/dev/null
  cmake --build --preset release --target "${names[@]/#/bench_}"
fi

if [[ $launcher != *mpirun* ]]; then
  obstacle="SKIPPED: no hosts are made where the launcher is not mpirun"
else
  obstacle=$("$cluster" true 2>&1) || true
fi
if [[ -n $obstacle ]]; then
  echo "$obstacle; left out: the cases tcp" >&2
  between_hosts=()
  check_options+=(${check_options:+--without tcp})
fi

mkdir -p "$out"
parts=$(mktemp -d)
trap 'rm -rf "$parts"' EXIT
results=()
for name in "${names[@]}"; do
  [[ $smoke == false ]] || ranks_of[$name]=${smoke_ranks_of[$name]:-${ranks_of[$name]}}
  for ranks in ${ranks_of[$name]}; do
    echo "== $name, $ranks ranks" >&2
    # shellcheck disable=SC2086
    $launcher "$ranks" "$programs/bench_$name" --out "$parts/$name.$ranks.json" "${options[@]}"
  done
  if [[ -n ${between_hosts[$name]:-} ]]; then
    echo "== $name, 2 ranks on 2 hosts" >&2
    # shellcheck disable=SC2086
    "$cluster" $launcher 2 "$programs/bench_$name" --out "$parts/$name.hosts.json" "${options[@]}"
  fi
  python3 -B bench/support/results.py merge "$out/$name.json" "$parts/$name".*.json
  python3 -B bench/support/results.py check "${check_options[@]}" "$out/$name.json"
  for table in "$parts/$name".*.csv; do
    [[ -e $table ]] || continue
    cp "$table" "$out/$name.csv"
    python3 -B bench/support/plot.py "$out/$name.csv" "$out/$name.svg"
  done
  results+=("$out/$name.json")
done
[[ $smoke == true && -z $report ]] || python3 -B bench/support/results.py table "${results[@]}"
if [[ -n $report ]]; then
  [[ $report != default ]] || report=$out
  [[ $report == *.md ]] || report=$report/report.md
  mapfile -t names < <(printf '%s\n' "${!ranks_of[@]}" | sort)
  results=("${names[@]/#/$out/}")
  python3 -B bench/support/report.py "$report" "${results[@]/%/.json}"
fi
