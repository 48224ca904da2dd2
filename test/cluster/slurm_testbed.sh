#!/bin/bash
# A throw-away Slurm cluster of virtual nodes on one machine, to test sbatch scripts for real.
#
#   slurm_testbed.sh start  DIR    make or resume the cluster in DIR (idempotent); exit 77 without Slurm
#   slurm_testbed.sh stop   DIR    cancel its jobs and stop its daemons, and only those
#   slurm_testbed.sh status DIR    nodes and jobs; exit 1 when it is not up
#   slurm_testbed.sh env    DIR    settings for clients:  eval "$(slurm_testbed.sh env DIR)"
#
# Settings, read by start:  NODES=2  CPUS=8 and GPUS=0 per node (may exceed the hardware)  KILLWAIT=5
# Needs (Debian 12, Slurm 22.05): apt-get install --no-install-recommends slurmctld slurmd slurm-client munge
#   and for `srun --mpi=pmix` also libpmix-dev, whose libpmix.so the plugin opens (libopenmpi-dev brings it).
# Jobs run as the user who started it. Each node has its own host name and /dev/shm (unshare), so that MPI
# sees separate machines; where namespaces are not allowed, `env` limits Open MPI to TCP instead.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,13s/^# \{0,1\}//p' "$0"; exit 2; }
cmd=$1; mkdir -p "$2"; W=$(cd "$2" && pwd -P)
NODES=${NODES:-2} CPUS=${CPUS:-8} GPUS=${GPUS:-0} KILLWAIT=${KILLWAIT:-5}
for v in ${!SLURM_@} ${!SBATCH_@}; do unset "$v"; done     # we may be called from inside another job
export SLURM_CONF=$W/slurm.conf PATH=$PATH:/usr/sbin:/sbin

# pid_of DAEMON [NODE]: the pid in our pid file, if that process still is this daemon of this DIR
pid_of() {
    local p; p=$(cat "$W/run/$1${2:+-$2}.pid" 2>/dev/null) || return 1
    [ "$(cat "/proc/$p/comm" 2>/dev/null)" = "$1" ] || return 1
    { tr '\0' '\n' <"/proc/$p/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$SLURM_CONF" || return 1
    echo "$p"
}
conf_nodes() { sed -n 's/^NodeName=n\[1-\([0-9]*\)\].*/\1/p' "$SLURM_CONF" 2>/dev/null; }
all_up() { [ "$(sinfo -h -N -r -t idle,alloc,mix,comp -o %N 2>/dev/null | wc -l)" = "$(conf_nodes)" ]; }

ns=(unshare --uts --mount)
[ "$(id -u)" = 0 ] || ns=(unshare --user --map-current-user --keep-caps --uts --mount)
have_ns() { "${ns[@]}" sh -c 'hostname x && mount -t tmpfs tmpfs /dev/shm' 2>/dev/null; }
start_node() {
    have_ns || { slurmd -N "$1"; return; }
    "${ns[@]}" sh -c 'hostname "$1"; mount -t tmpfs -o mode=1777 tmpfs /dev/shm; exec slurmd -N "$1"' sh "$1"
}

write_conf() {
    local port=${PORT:-$((20000 + $(cksum <<<"$W" | cut -d' ' -f1) % 200 * 50))}    # one range per DIR
    local me i; me=$(id -un)
    mkdir -p "$W"/{munge,state,spool,log,run}
    for i in $(seq "$NODES"); do mkdir -p "$W/tmp/n$i"; done
    [ -s "$W/munge/key" ] || (umask 277; head -c 1024 /dev/urandom >"$W/munge/key")
    : >"$W/gres.conf"
    if [ "$GPUS" != 0 ]; then       # empty files stand for the devices
        mkdir -p "$W/gpu"; for i in $(seq 0 $((GPUS - 1))); do : >"$W/gpu/gpu$i"; done
        echo "Name=gpu File=$W/gpu/gpu[0-$((GPUS - 1))]" >"$W/gres.conf"
    fi
    cat >"$SLURM_CONF" <<CONF
ClusterName=testbed
SlurmctldHost=localhost
SlurmctldPort=$port
SlurmUser=$me
SlurmdUser=$me
AuthType=auth/munge
CredType=cred/munge
# cred_expire is also how long a requeued job waits before it may start again (default 120 s)
AuthInfo=socket=$W/munge/sock,cred_expire=5
StateSaveLocation=$W/state
SlurmdSpoolDir=$W/spool/%n
SlurmctldPidFile=$W/run/slurmctld.pid
SlurmdPidFile=$W/run/slurmd-%n.pid
SlurmctldLogFile=$W/log/slurmctld.log
SlurmdLogFile=$W/log/slurmd-%n.log
# the PMIx plugin makes its client folders here; in one shared /tmp those of two nodes collide
TmpFS=$W/tmp/%n
# nothing that needs systemd, cgroups or a database
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$W/log/jobcomp.log
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
# poll pending jobs every 2 s (default 30 to 60 s)
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
KillWait=$KILLWAIT
MinJobAge=3600
GresTypes=gpu
MailProg=$(type -P true)
# trust the sizes below, not the hardware
SlurmdParameters=config_overrides
NodeName=n[1-$NODES] NodeHostname=localhost Port=[$((port + 1))-$((port + NODES))] Sockets=1 CoresPerSocket=$CPUS ThreadsPerCore=1 RealMemory=256000 Gres=gpu:$GPUS
PartitionName=main Nodes=ALL Default=YES DefaultTime=10 MaxTime=INFINITE State=UP
CONF
}

case $cmd in
start)
    [ ${#W} -le 60 ] || { echo "$W: too long for the Unix sockets in it (at most 60 characters)" >&2; exit 1; }
    for p in munged slurmctld slurmd sinfo; do
        command -v $p >/dev/null || { echo "SKIPPED: $p not found; see the head of $0" >&2; exit 77; }
    done
    pid_of slurmctld >/dev/null || write_conf
    # --force: accept a DIR below a private (mktemp -d) or group-writable folder
    pid_of munged >/dev/null || munged --force --key-file="$W/munge/key" --socket="$W/munge/sock" \
        --seed-file="$W/munge/seed" --pid-file="$W/run/munged.pid" --log-file="$W/log/munged.log" \
        >"$W/log/munged.err" 2>&1
    pid_of slurmctld >/dev/null || slurmctld
    for i in $(seq "$(conf_nodes)"); do pid_of slurmd "n$i" >/dev/null || start_node "n$i"; done
    for _ in $(seq 100); do ! all_up || exit 0; sleep 0.2; done
    echo "not up after 20 s; see $W/log" >&2; exit 1 ;;
stop)
    if pid_of slurmctld >/dev/null; then
        scancel -u "$(id -un)" || true
        for _ in $(seq $((KILLWAIT * 5 + 25))); do [ -n "$(squeue -h 2>/dev/null)" ] || break; sleep 0.2; done
    fi
    stop_one() {
        local p; p=$(pid_of "$@") || return 0
        kill "$p"
        for _ in $(seq 100); do pid_of "$@" >/dev/null || break; sleep 0.1; done
    }
    for i in $(seq "$(conf_nodes | grep . || echo 0)"); do stop_one slurmd "n$i"; done
    stop_one slurmctld; stop_one munged ;;
status)
    pid_of slurmctld >/dev/null || { echo "not running"; exit 1; }
    sinfo -h -N -o '%N %c CPUs %G %T'; squeue; all_up ;;
env)
    echo "export SLURM_CONF='$SLURM_CONF'"
    # more ranks than cores: yield while waiting, do not pin
    echo "export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_hwloc_base_binding_policy=none"
    [ "$(id -u)" != 0 ] || echo "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
    have_ns || echo "export OMPI_MCA_btl=tcp,self" ;;
*) echo "unknown command: $cmd" >&2; exit 2 ;;
esac
