#!/bin/bash
# netns_cluster.sh [options] COMMAND...: makes several virtual hosts on this machine and runs the command as
# if logged in on the first; mpirun (Open MPI) there starts its ranks on all of them. Exits with the command's
# status and leaves nothing.
#   --hosts N          N hosts, ranks dealt out in turn: rank 0 on the first, rank 1 on the second, ... Default: 2
#   --hosts A,B,...    a host for each number, ranks host by host: the first A on the first, the next B on the second, ...
#   --transport NAME   ob1: Open MPI's own TCP (default); ucx: UCX over TCP
#   --rate RATE        limits what a host sends, such as 10gbit
#   --shm SIZE         of each host's /dev/shm, such as 64m. Default: 4g
# Example: netns_cluster.sh --hosts 1,3 mpirun -n 4 PROGRAM
#
# A host has a network of its own (address 10.77.0.I, connected to the others by a bridge), a name (nI), a
# /dev/shm, System V memory and an /etc/hosts: ranks of different hosts reach each other only by TCP.
# Processors, files, /tmp and process ids are the machine's. Everything is in namespaces without names that no
# other process can enter: several clusters may run at once, and when the first process of one ends, however
# it ends, the kernel kills the others and frees the rest.
#
# If hosts cannot be made: prints one line that says why, and exits with 77, which marks a test as skipped.
set -euo pipefail

PATH=$PATH:/usr/sbin:/sbin
script=$(readlink -f "${BASH_SOURCE[0]}")
state=/run/cluster  # on a /run that only the cluster sees
network=10.77.0

die() {
  echo "netns_cluster.sh: $*" >&2
  exit 2
}

skip() {
  echo "SKIPPED: no hosts can be made of network namespaces: $*. Needed are root with CAP_SYS_ADMIN and CAP_NET_ADMIN, or" \
    "the permission to make user namespaces; ip, unshare and Open MPI's mpirun (Debian: iproute2, util-linux, openmpi-bin)" >&2
  exit 77
}

# Runs as the first process of the cluster, whose network namespace is the switch between the hosts.
make_switch() {
  mount -t tmpfs tmpfs /run
  mkdir -p /run/netns "$state/tmp"
  ip link add br0 type bridge
  ip link set br0 up
}

make_host() {  # <number> <slots>
  ip netns add "n$1"
  ip -n "n$1" link set lo up
  ip link add "port$1" type veth peer name eth0 netns "n$1"
  ip link set "port$1" master br0 up
  ip -n "n$1" address add "$network.$1/24" dev eth0
  ip -n "n$1" link set eth0 up
  [[ -z $rate ]] || tc -n "n$1" qdisc add dev eth0 root tbf rate "$rate" burst 256kb latency 20ms
  echo "$network.$1 n$1" >>"$state/hosts"
  echo "n$1 slots=$2" >>"$state/hostfile"
}

# Replaces this process by the command, on a host.
log_in() {  # <host> <size of /dev/shm> <command...>
  # shellcheck disable=SC2016
  exec ip netns exec "$1" unshare --uts --ipc --mount --propagation private sh -c '
    hostname "$1" && mount -t tmpfs -o size="$2" tmpfs /dev/shm && mount --bind "$3" /etc/hosts || exit 97
    shift 3
    exec "$@"' sh "$1" "$2" "$state/hosts" "${@:3}"
}

configure_mpi() {
  printf '#!/bin/sh\nexec "%s" --on-host "%s" "$@"\n' "$script" "$shm" >"$state/agent"
  chmod +x "$state/agent"
  export TMPDIR=$state/tmp
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # The agent starts daemons in place of ssh; they stay its children.
  export OMPI_MCA_plm=rsh OMPI_MCA_plm_rsh_agent=$state/agent OMPI_MCA_plm_rsh_no_tree_spawn=1
  export OMPI_MCA_orte_leave_session_attached=1 OMPI_MCA_orte_default_hostfile=$state/hostfile
  export OMPI_MCA_oob_tcp_if_include=$network.0/24 OMPI_MCA_btl_tcp_if_include=$network.0/24
  export OMPI_MCA_rmaps_base_mapping_policy=$placement OMPI_MCA_rmaps_base_oversubscribe=1
  export OMPI_MCA_hwloc_base_binding_policy=none
  if [[ $transport == ob1 ]]; then
    export OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader,tcp
  else
    export OMPI_MCA_pml=ucx OMPI_MCA_osc=sm,ucx UCX_TLS=self,sm,tcp UCX_NET_DEVICES=eth0
    # Otherwise Open MPI uses UCX only for the networks that it knows.
    export OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any OMPI_MCA_osc_ucx_tls=any OMPI_MCA_osc_ucx_devices=any
  fi
}

hosts=2
transport=ob1
rate=
shm=4g
role=
while [[ $# -gt 0 ]]; do
  case $1 in
    --hosts) hosts=${2:-}; shift ;;
    --transport) transport=${2:-}; shift ;;
    --rate) rate=${2:-}; shift ;;
    --shm) shm=${2:-}; shift ;;
    --probe | --inside) role=$1 ;;
    --on-host) log_in "$3" "$2" sh -c "${*:4}" ;;  # mpirun calls the agent with size, host, command line
    -h | --help) sed -n '2,/^set/{/^set/d;s/^# \?//;p}' "$script"; exit 0 ;;
    -*) die "unknown option $1" ;;
    *) break ;;
  esac
  shift
done
[[ $hosts =~ ^[1-9][0-9]?(,[1-9][0-9]*)*$ ]] || die "--hosts '$hosts': expected a number of hosts, or ranks for each as in 1,3"
[[ $transport == ob1 || $transport == ucx ]] || die "--transport '$transport': expected ob1 or ucx"
IFS=, read -ra slots <<<"$hosts"
placement=slot
if [[ $hosts != *,* ]]; then
  placement=node
  slots=()
  for ((i = 0; i < hosts; ++i)); do slots+=(64); done
fi

if [[ $role == --probe ]]; then
  make_switch
  make_host 1 1
  log_in n1 "$shm" true
fi
[[ $# -gt 0 ]] || die "no command; --help says more"
if [[ $role == --inside ]]; then
  make_switch
  echo "127.0.0.1 localhost" >"$state/hosts"
  for ((i = 0; i < ${#slots[@]}; ++i)); do
    make_host $((i + 1)) "${slots[i]}"
  done
  configure_mpi
  result=0
  (log_in n1 "$shm" "$@") || result=$?
  exit "$result"
fi

for program in ip unshare setpriv mpirun; do
  command -v $program >/dev/null || skip "there is no command $program"
done
[[ $(mpirun --version 2>&1) == *"Open MPI"* ]] || skip "mpirun is not Open MPI's"
cluster=(unshare --mount --propagation private --net --pid --fork --kill-child --mount-proc)
[[ $(id -u) -eq 0 ]] || cluster+=(--user --map-root-user)
obstacle=$("${cluster[@]}" "$script" --probe 2>&1) || skip "${obstacle//$'\n'/; }"

# The end of this process ends the cluster, whatever the reason.
setpriv --pdeathsig KILL "${cluster[@]}" "$script" --inside --hosts "$hosts" --transport "$transport" --rate "$rate" \
  --shm "$shm" "$@" <&0 &
first=$!
end_cluster() {
  # shellcheck disable=SC2046
  kill -KILL $(cat /proc/$first/task/$first/children) 2>/dev/null || kill -KILL $first 2>/dev/null
  wait $first
}
trap 'end_cluster; exit 143' TERM INT HUP
wait $first
