#!/bin/bash
# slurm_jobs.sh <slurm_testbed.sh> <folder slurm> <folder of the applications> <folder of their data>
# [<command...>]: runs the batch scripts under a Slurm of two virtual nodes; also those that the command
# installs below the folder that is added to it. Prints errors and exits with 1, or with 77 without Slurm. If
# MPI_Init itself crashes (slurm/README.md), prints so and repeats the run once.
set -u
self=$(realpath "$0")
testbed=$1
scripts=$2
programs=$3
data=$4
install=("${@:5}")
program=$programs/matrix_factorization
PATH=$PATH:/usr/sbin:/sbin
# The sockets of munge need a short path.
directory=$(mktemp -d /tmp/slurm.XXXXXX)
failures=0
jobs_done=0

end() {
  "$testbed" stop "$directory/cluster" >/dev/null 2>&1
  rm -rf "$directory"
}
trap end EXIT

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# Slurm waits 30 s between SIGTERM and SIGKILL, its default.
NODES=2 CPUS=8 KILLWAIT=30 "$testbed" start "$directory/cluster" || {
  status=$?
  tail -n 5 "$directory"/cluster/log/*.log 2>/dev/null
  echo "SKIPPED: no Slurm can be started here (exit status $status)"
  exit 77
}
eval "$("$testbed" env "$directory/cluster")"
cd "$directory" || exit 1
export TRAIN_SCRIPT=$scripts/train.sbatch RESUME_SCRIPT=$scripts/resume.sbatch

options=(--cpus-per-task=2 --time=5)
training=(--zipf 300x100x20000 --epochs 3 --no-baselines)

wait_for() {  # <job number>: waits for its end, sets status to the script's. sbatch --wait polls only every few seconds
  local shown
  for _ in {1..500}; do
    shown=$(scontrol show job --oneliner "$1")
    if [[ ! $shown =~ JobState=(PENDING|RUNNING|COMPLETING) ]]; then
      [[ $shown =~ ExitCode=([0-9]+): ]] && status=${BASH_REMATCH[1]}
      return
    fi
    sleep 0.1
  done
  status="none: $shown"
}

says() {  # <file> <words...>: waits until each is on a line of the file
  local file=$1 words
  shift
  for words in "$@"; do
    for _ in {1..500}; do
      grep -qE "$words" "$file" 2>/dev/null && continue 2
      sleep 0.1
    done
    return 1
  done
}

says_in_turn() {  # <turn> <file> <words>: waits until the words are on a line after the one that begins the turn
  for _ in {1..500}; do
    sed "1,/^turn $1 of job/d" "$2" 2>/dev/null | grep -qE "$3" && return
    sleep 0.1
  done
  return 1
}

# <what> <job number> <its output> <expected status> <words in the output...>: checks how the job has ended.
ended() {
  local what=$1 file=$3 expected=$4 status='' words
  wait_for "$2"
  [[ $status =~ ^($expected)$ ]] || fail "$what: exit status $status, expected $expected: $(cat "$file")"
  for words in "${@:5}"; do
    grep -qE "$words" "$file" || fail "$what: nothing says '$words': $(cat "$file")"
  done
}

# <what> <expected status> <words in the output> <command...>: runs a job until its end.
job() {
  ended "$1" "$("${@:4}")" job.out "$2" "$3"
  mv job.out "done-$((++jobs_done)).out" 2>/dev/null
}

submit=(sbatch --parsable "${options[@]}" --output=job.out)
resume=(sbatch --parsable "${options[@]}" --nodes=1 --ntasks=1)

# --- turns. A signal in the middle: the job saves a checkpoint, is requeued and finishes, with the result of
# a run without a signal. Only then the job that depends on it starts. Uses both launchers at once.
long=(--zipf 3000x1000x300000 --patience 0 --no-baselines)
endless=("${long[@]}" --epochs 1000000 --evaluate-every 0)
"$program" "${long[@]}" --epochs 500 --workers 2 --deterministic --output-prefix whole >whole.out 2>&1 || fail "without Slurm: $(cat whole.out)"
declare -A jobs
for launcher in srun mpirun; do
  jobs[$launcher]=$(LAUNCHER=$launcher PROGRAM=$program sbatch --parsable "${options[@]}" --output="$launcher.out" \
    "$scripts/matrix_factorization.sbatch" "${long[@]}" --epochs 500 --output-prefix "$launcher")
  sbatch --dependency="afterok:${jobs[$launcher]}" --nodes=1 --ntasks=1 --output="after-$launcher.out" \
    --wrap "cmp whole-rows.npy $launcher-rows.npy && cmp whole-columns.npy $launcher-columns.npy && echo equal" >/dev/null
  (says "$launcher.out" '^epoch   3' && scancel --batch --signal=USR1 "${jobs[$launcher]}") &
done
# A signal before the program exists; one between the start of a rank and that of its program, and one before
# MPI; and Slurm's own signal, which may arrive at any moment from the start on.
cat >signaled <<END
#!/bin/bash
# The first turn waits for the signal that comes again, the second has its checkpoint.
epochs=1000000
[[ ! -e first ]] || epochs=1
: >first
kill -USR1 \$\$
echo survived
exec "$program" --zipf 300x100x20000 --no-baselines --patience 0 --evaluate-every 0 --epochs \$epochs "\$@"
END
cat >signaled.sbatch <<'END'
#!/bin/bash
module() { echo loading "$UNSET_AS_MODULE_SYSTEMS_HAVE_IT"; sleep 2; }
export -f module
exec bash "$RESUME_SCRIPT" "$PWD/signaled"
END
chmod +x signaled
jobs[signal]=$(MODULES=slow "${resume[@]}" --signal=B:USR1@290 --open-mode=append --output=signal.out signaled.sbatch)
(says signal.out '^loading' && scancel --batch --signal=USR1 "${jobs[signal]}") &
# Turns that save no checkpoint.
printf '#!/bin/sh\nexit 75\n' >idle
chmod +x idle
jobs[idle]=$("${resume[@]}" --output=idle.out "$RESUME_SCRIPT" ./idle)
# The script finds the end of the job's time; then the job is cancelled.
jobs[cancelled]=$(PROGRAM=$program sbatch --parsable "${options[@]}" --output=cancelled.out "$scripts/matrix_factorization.sbatch" \
  "${endless[@]}" --stop-before 290)
(says_in_turn 2 cancelled.out '^resumed from step 1 ' && says_in_turn 2 cancelled.out '^epoch +[0-9]+ ' && scancel "${jobs[cancelled]}") &
# A rank that is killed; the other one ends before Slurm kills it.
jobs[killed]=$(PROGRAM=$program sbatch --parsable "${options[@]}" --output=killed.out "$scripts/matrix_factorization.sbatch" \
  "${endless[@]}" --stop-before 10 --seed 7)
# The other applications.
xz -dc "$data/wn18rr/train.txt.xz" | head -n 2000 >triples
xz -dc "$data/words/factbook.txt.xz" | head -n 3000 >text
jobs[graph]=$(PROGRAM=$programs/knowledge_graph_embeddings sbatch --parsable "${options[@]}" --output=graph.out \
  "$scripts/knowledge_graph_embeddings.sbatch" triples --dim 8 --epochs 2 --output-prefix graph)
jobs[words]=$(PROGRAM=$programs/word_vectors sbatch --parsable "${options[@]}" --output=words.out \
  "$scripts/word_vectors.sbatch" text --dim 8 --epochs 2 --output vectors.txt)

# The installed scripts, which find each other and their programs, run from a folder without any of them.
if [[ ${#install[@]} -gt 0 ]]; then
  "${install[@]}" "$directory/installed" >install.out 2>&1 || fail "no installation: $(cat install.out)"
  installed=$directory/installed/share/lapse/slurm
  mkdir elsewhere
  for name in knowledge_graph_embeddings:triples word_vectors:text; do
    jobs[${name%:*}]=$(cd elsewhere && env -u TRAIN_SCRIPT -u RESUME_SCRIPT sbatch --parsable "${options[@]}" --output="${name%:*}.out" \
      "$installed/${name%:*}.sbatch" "../${name#*:}" --dim 8 --epochs 2)
  done
fi

says killed.out '^epoch   3' || fail "to be killed: $(cat killed.out)"
for pid in $(pgrep -f -- "$program .*--seed 7"); do
  [[ $(tr '\0' '\n' <"/proc/$pid/environ") =~ PMIX_RANK=1 ]] && kill -KILL "$pid"
done

# --- one job after the other
job "srun" 0 "^workers +2$" "${submit[@]}" "$scripts/train.sbatch" "$program" "${training[@]}"
job "srun, three ranks" 0 "^workers +3$" "${submit[@]}" --ntasks=3 --ntasks-per-node=2 "$scripts/train.sbatch" "$program" "${training[@]}"
job "mpirun" 0 "^workers +2$" env LAUNCHER=mpirun "${submit[@]}" "$scripts/train.sbatch" "$program" "${training[@]}"
# When another rank has failed, srun ends a rank by SIGTERM.
job "wrong options of the program" "105|143" "^error: --zipf: .nonsense" "${submit[@]}" "$scripts/train.sbatch" "$program" --zipf nonsense
for script in "$scripts"/*.sbatch; do
  by_hand=$(env -u SLURM_JOB_ID bash "$script" anything else 2>&1)
  [[ $? -eq 2 && $by_hand == "${script##*/}: it is for a job of Slurm: submit it by sbatch, as in: sbatch "* ]] || fail "by hand: $by_hand"
done
job "no program" 2 "usage: sbatch" "${submit[@]}" "$scripts/train.sbatch"
job "an unknown launcher" 2 "expected srun or mpirun" env LAUNCHER=ssh "${submit[@]}" "$scripts/train.sbatch" "$program"
job "an option of the script" 2 "^resume.sbatch: --resume: the script adds it" "${submit[@]}" "$RESUME_SCRIPT" ./idle --resume
job "a short time" 1 "and the program is to stop 301 s before that" "${submit[@]}" "$RESUME_SCRIPT" ./idle --stop-before=301
# The status of one rank: srun ends the others by SIGTERM when the first has ended with a status.
job "turns at most" 1 "not finished after 1 turns" env MAX_TURNS=1 "${resume[@]}" --output=job.out "$RESUME_SCRIPT" ./idle
"$scripts/scaling.sh" results 1,x "$program" 2>&1 | grep -q "'x' is no number of nodes" || fail "scaling: a wrong number of nodes"
OPTIONS="${options[*]}" "$scripts/scaling.sh" scaling 1,2 "$program" "${training[@]}" >submit.txt 2>&1 || fail "scaling: $(cat submit.txt)"
wait_for "$(sbatch --parsable "${options[@]}" --output=array-%a.out --array=0-7 "$scripts/techniques.sbatch" techniques "$program" \
  "${training[@]}" --mode intent)"

# --- results of the turns
for launcher in srun mpirun; do
  ended "resumed, $launcher" "${jobs[$launcher]}" "$launcher.out" 0 '^turn 1 of job' '^stopped: SIGUSR1 on rank' 'is requeued$' \
    '^turn 2 of job' '^resumed from step' '^epoch 500 '
  says "after-$launcher.out" '^equal$' || fail "the job after it, $launcher: $(cat "after-$launcher.out")"
done
ended "signals at the start" "${jobs[signal]}" signal.out 0 '^survived' '^stopped: SIGUSR1 on rank' '^turn 2 of job' '^resumed from step'
ended "no progress" "${jobs[idle]}" idle.out 1 '^turn 2 of job' '^resume.sbatch: two turns without a new checkpoint'
[[ $(grep -c '^turn' idle.out) -eq 2 ]] || fail "no progress: $(cat idle.out)"
ended "a rank that is killed" "${jobs[killed]}" killed.out 143 'task 1: Killed' \
  '^error: rank 0: [0-9]* s after SIGTERM the ranks have not stopped together'
ended "cancelled" "${jobs[cancelled]}" cancelled.out 0 '^stopped: the time of the job ends' '^stopped: SIGTERM on rank .* from step [2-9]'
for name in cancelled killed idle; do
  shown=$(scontrol show job --oneliner "${jobs[$name]}")
  expected='JobState=FAILED .*Restarts='$([[ $name == killed ]] && echo 0 || echo 1)
  [[ $name != cancelled ]] || expected='JobState=CANCELLED .*Restarts=[1-9]'
  [[ $shown =~ $expected ]] || fail "$name: $shown"
done
ended "knowledge graph" "${jobs[graph]}" graph.out 0 '^turn 1 of job' '^epoch +2 '
ended "word vectors" "${jobs[words]}" words.out 0 '^turn 1 of job' '^epoch +2 '
for name in ${install[0]:+knowledge_graph_embeddings word_vectors}; do
  ended "installed, $name" "${jobs[$name]}" "elsewhere/$name.out" 0 '^turn 1 of job' '^epoch +2 '
done
[[ -s graph-entities.npy && -s vectors.txt ]] || fail "no files of the other applications: $(ls)"

python3 -B "$scripts/gather.py" techniques >gathered.txt 2>&1 || fail "gathering the techniques: $(cat gathered.txt)"
[[ $(grep -cE '^\| `[a-z_]+` \| 2 \|' gathered.txt) -eq 8 ]] || fail "not eight techniques: $(cat gathered.txt array-*.out)"
grep -q "<svg" techniques/bars.svg || fail "no picture of the techniques"

for _ in {1..300}; do
  [[ -z $(squeue --noheader) ]] && break
  sleep 0.1
done
grep -qE '^\| 1 \| 1 \|' scaling/table.md && grep -qE '^\| 2 \| 2 \|' scaling/table.md || fail "scaling: $(cat scaling/*)"
grep -q "polyline" scaling/curve.svg || fail "no curve"

# A failed run becomes a row; summaries of something else are refused.
rm scaling/nodes-2.json
python3 -B "$scripts/gather.py" scaling >gathered.txt 2>&1
grep -q '^| 2 | failed: see nodes-2.out' gathered.txt || fail "a failed run is no row: $(cat gathered.txt)"
echo '{}' >scaling/nodes-2.json
python3 -B "$scripts/gather.py" scaling >gathered.txt 2>&1
grep -q 'nodes-2.json: no summary' gathered.txt || fail "a wrong summary is not refused: $(cat gathered.txt)"

if [[ $failures -gt 0 ]]; then
  # A call of an invalid address, with neither the program nor a library of the project on the stack.
  mapfile -t crashed < <(grep -lE 'Caught signal 11 .*not mapped to object at address \(nil\)' ./*.out elsewhere/*.out 2>/dev/null)
  [[ ${#crashed[@]} -gt 0 && -z ${LAPSE_REPEATED:-} ]] || exit 1
  ! grep -qE '(matrix_factorization|liblapse[^ ]*|libadapm[^ ]*)\(' "${crashed[@]}" || exit 1
  echo "REPEATED: MPI_Init has crashed in a job (Open MPI, see slurm/README.md)"
  cd / && end
  trap - EXIT
  LAPSE_REPEATED=yes exec "$self" "$@"
fi
echo "all jobs ended as they should"
