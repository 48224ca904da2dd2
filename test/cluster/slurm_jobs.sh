#!/bin/bash
# slurm_jobs.sh <slurm_testbed.sh> <folder slurm> <matrix_factorization>: the batch scripts under a Slurm of two virtual
# nodes. Prints what is wrong and exits with 1, or with 77 where there is no Slurm.
set -u
testbed=$1
scripts=$2
program=$3
PATH=$PATH:/usr/sbin:/sbin
# The sockets of munge want a short path.
directory=$(mktemp -d /tmp/slurm.XXXXXX)
failures=0

end() {
  "$testbed" stop "$directory/cluster" >/dev/null 2>&1
  rm -rf "$directory"
}
trap end EXIT

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

NODES=2 CPUS=4 "$testbed" start "$directory/cluster" || {
  status=$?
  tail -n 5 "$directory"/cluster/log/*.log 2>/dev/null
  echo "SKIPPED: no Slurm can be started here (exit status $status)"
  exit 77
}
eval "$("$testbed" env "$directory/cluster")"
cd "$directory" || exit 1

options=(--cpus-per-task=2 --time=5)
training=(--zipf 300x100x20000 --epochs 3 --no-baselines)

wait_for() {  # <job number>: until it has ended; sets status to the script's. sbatch --wait looks only every few seconds.
  local shown
  for _ in {1..600}; do
    shown=$(scontrol show job --oneliner "$1")
    if [[ ! $shown =~ JobState=(PENDING|RUNNING|COMPLETING) ]]; then
      [[ $shown =~ ExitCode=([0-9]+): ]] && status=${BASH_REMATCH[1]}
      return
    fi
    sleep 0.1
  done
  status="none: $shown"
}

# <what> <expected status> <words in the output> <command...>: a job, until it has ended.
job() {
  local what=$1 expected=$2 words=$3 status=
  shift 3
  wait_for "$("$@")"
  [[ $status == "$expected" ]] || fail "$what: exit status $status, expected $expected: $(cat job.out)"
  grep -qE "$words" job.out || fail "$what: nothing says '$words': $(cat job.out)"
  rm -f job.out
}

submit=(sbatch --parsable "${options[@]}" --output=job.out)
job "srun" 0 "^workers +2$" "${submit[@]}" "$scripts/train.sbatch" "$program" "${training[@]}"
job "srun, three ranks" 0 "^workers +3$" "${submit[@]}" --ntasks=3 --ntasks-per-node=2 "$scripts/train.sbatch" "$program" "${training[@]}"
job "mpirun" 0 "^workers +2$" env LAUNCHER=mpirun "${submit[@]}" "$scripts/train.sbatch" "$program" "${training[@]}"
job "wrong options of the program" 105 "^error: --zipf: .nonsense" "${submit[@]}" "$scripts/train.sbatch" "$program" --zipf nonsense
job "no program" 2 "usage: sbatch" "${submit[@]}" "$scripts/train.sbatch"
job "an unknown launcher" 2 "expected srun or mpirun" env LAUNCHER=ssh "${submit[@]}" "$scripts/train.sbatch" "$program"
"$scripts/scaling.sh" results 1,x "$program" 2>&1 | grep -q "'x' is no number of nodes" || fail "scaling: a wrong number of nodes"

OPTIONS="${options[*]}" "$scripts/scaling.sh" scaling 1,2 "$program" "${training[@]}" >submit.txt 2>&1 || fail "scaling: $(cat submit.txt)"
wait_for "$(sbatch --parsable "${options[@]}" --output=array-%a.out --array=0-7 --export="ALL,TRAIN_SCRIPT=$scripts/train.sbatch" \
  "$scripts/techniques.sbatch" techniques "$program" "${training[@]}" --mode intent)"

# A signal in the middle: the job saves a checkpoint, is requeued and finishes, with the result of a run without a signal.
# Only then the job starts that depends on it. With both launchers at the same time.
long=(--zipf 3000x1000x300000 --epochs 100 --patience 0 --no-baselines --evaluate-every 1)
declare -A jobs
for launcher in srun mpirun; do
  jobs[$launcher]=$(LAUNCHER=$launcher PROGRAM=$program TRAIN_SCRIPT=$scripts/train.sbatch RESUME_SCRIPT=$scripts/resume.sbatch \
    sbatch --parsable "${options[@]}" --output="$launcher.out" "$scripts/matrix_factorization.sbatch" "${long[@]}" \
    --output-prefix "$launcher")
  sbatch --dependency="afterok:${jobs[$launcher]}" --nodes=1 --ntasks=1 --output="after-$launcher.out" \
    --wrap "cmp whole-rows.npy $launcher-rows.npy && cmp whole-columns.npy $launcher-columns.npy && echo equal" >/dev/null
done
for launcher in srun mpirun; do
  for _ in {1..600}; do
    grep -q '^epoch   3' "$launcher.out" 2>/dev/null && break
    sleep 0.1
  done
  scancel --batch --signal=USR1 "${jobs[$launcher]}"
done
"$program" "${long[@]}" --workers 2 --deterministic --output-prefix whole >whole.out 2>&1 || fail "without Slurm: $(cat whole.out)"
for _ in {1..900}; do
  [[ -z $(squeue --noheader) ]] && break
  sleep 0.1
done
for launcher in srun mpirun; do
  wait_for "${jobs[$launcher]}"
  [[ $status == 0 ]] || fail "resumed, $launcher: exit status $status: $(cat "$launcher.out")"
  for words in '^turn 1 of job' '^stopped: SIGUSR1 on rank' 'is requeued$' '^turn 2 of job' '^resumed from step' '^epoch 100 '; do
    grep -qE "$words" "$launcher.out" || fail "resumed, $launcher: nothing says '$words': $(cat "$launcher.out")"
  done
  grep -q '^equal$' "after-$launcher.out" || fail "the job after it, $launcher: $(cat "after-$launcher.out")"
done

python3 -B "$scripts/gather.py" techniques >gathered.txt 2>&1 || fail "gathering the techniques: $(cat gathered.txt)"
[[ $(grep -cE '^\| `[a-z_]+` \| 2 \|' gathered.txt) -eq 8 ]] || fail "not eight techniques: $(cat gathered.txt array-*.out)"
grep -q "<svg" techniques/bars.svg || fail "no picture of the techniques"

grep -qE '^\| 1 \| 1 \|' scaling/table.md && grep -qE '^\| 2 \| 2 \|' scaling/table.md || fail "scaling: $(cat scaling/*)"
grep -q "polyline" scaling/curve.svg || fail "no curve"

# What has failed is a row; summaries of something else are refused.
rm scaling/nodes-2.json
python3 -B "$scripts/gather.py" scaling >gathered.txt 2>&1
grep -q '^| 2 | failed: see nodes-2.out' gathered.txt || fail "a failed run is no row: $(cat gathered.txt)"
echo '{}' >scaling/nodes-2.json
python3 -B "$scripts/gather.py" scaling >gathered.txt 2>&1
grep -q 'nodes-2.json: no summary' gathered.txt || fail "a wrong summary is not refused: $(cat gathered.txt)"

[[ $failures -eq 0 ]] || exit 1
echo "all jobs ended as they should"
