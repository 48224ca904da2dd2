#!/usr/bin/env bash
# Verifies the models of relocation and replication with SPIN and refutes their faulty variants.
#
#   verify.sh [-t] [-n] [-r] [name ...]
#                                 all runs, or the named ones; the name of a
#                                 model, relocation or replication, is all of its
#     -t    also print the counterexample of each refuted run
#     -n    only runs that verdicts.txt does not record: it has a hash of the
#           models and the configuration of each run that was as expected
#     -r    record in verdicts.txt the runs that are as expected
#
# Exit status: 0 if every verdict is the expected one, 1 if not, 2 for wrong
# usage, 77 (skipped) if SPIN or the C compiler is missing.
set -euo pipefail
export LC_ALL=C

# name | expected | configuration and variant (see relocation.pml)
# Above refuted runs stands their baseline: an equal configuration, rule kept.
relocation='
caches-off                 | verified | -DOPS0=4 -DMAXLOC=4
caches-off-home            | verified | -DOPS0=2 -DW1=0 -DOPS1=2 -DMAXLOC=3
caches-on                  | verified | -DCACHES -DOPS0=3 -DMAXLOC=4
caches-on-home             | verified | -DCACHES -DOPS0=2 -DW1=0 -DOPS1=2 -DMAXLOC=3
caches-on-two-ranks        | verified | -DCACHES -DOPS0=2 -DW1=3 -DOPS1=2 -DMAXLOC=3
caches-on-same-rank        | verified | -DCACHES -DOPS0=2 -DW1=1 -DOPS1=2 -DMAXLOC=3
any-hint                   | verified | -DCACHES -DANY_HINT -DOPS0=3 -DMAXLOC=4
any-hint-two-ranks         | verified | -DCACHES -DANY_HINT -DOPS0=2 -DW1=3 -DOPS1=2 -DMAXLOC=2
no-hold                    | verified | -DCACHES -DNO_HOLD -DOPS0=3 -DMAXLOC=4
home-own-by-table          | verified | -DHOME_OWN_BY_TABLE -DW0=0 -DOPS0=3 -DMAXLOC=4
other-rank                 | verified | -DCACHES -DOPS0=3 -DLOCS=8 -DMAXLOC=1
other-rank-no-entry        | refuted  | -DCACHES -DOPS0=3 -DLOCS=8 -DMAXLOC=1 -DNO_ENTRY_RULE
own-rank                   | verified | -DCACHES -DOPS0=2 -DLOCS=2 -DMAXLOC=1
own-rank-network-only      | refuted  | -DCACHES -DOPS0=2 -DLOCS=2 -DMAXLOC=1 -DNETWORK_ONLY_ENTRY_RULE
home-arriving              | verified | -DOPS0=2 -DLOCS=11 -DMAXLOC=3
home-arriving-by-role      | refuted  | -DOPS0=2 -DLOCS=11 -DMAXLOC=3 -DHOME_BY_ROLE
home-arriving-3            | verified | -DOPS0=2 -DOWNER0=1 -DLOCS=11 -DMAXLOC=3
home-arriving-by-role-3    | refuted  | -DOPS0=2 -DOWNER0=1 -DLOCS=11 -DMAXLOC=3 -DHOME_BY_ROLE
neighbour                  | verified | -DNEIGHBOUR0=1 -DOPS0=3 -DLOCS=31 -DMAXLOC=4
neighbour-caches           | verified | -DNEIGHBOUR0=1 -DCACHES -DOPS0=3 -DLOCS=31 -DMAXLOC=4
neighbour-any-hint         | verified | -DNEIGHBOUR0=1 -DCACHES -DANY_HINT -DPRIVATE -DOPS0=3 -DLOCS=31 -DMAXLOC=3
neighbour-no-hold          | verified | -DNEIGHBOUR0=1 -DCACHES -DANY_HINT -DPRIVATE -DNO_HOLD -DOPS0=3 -DLOCS=31 -DMAXLOC=3
neighbour-home             | verified | -DNEIGHBOUR0=1 -DCACHES -DW0=0 -DOPS0=2 -DW1=1 -DOPS1=2 -DLOCS=31 -DMAXLOC=2
neighbour-same-domain      | verified | -DNEIGHBOUR0=1 -DCACHES -DOPS0=2 -DW1=1 -DOPS1=2 -DLOCS=31 -DMAXLOC=2
two-neighbours             | verified | -DNEIGHBOUR0=1 -DCACHES -DOPS0=2 -DNEIGHBOUR1=1 -DW1=3 -DOPS1=2 -DLOCS=63 -DMAXLOC=2
neighbour-wants            | verified | -DNEIGHBOUR0=1 -DOPS0=2 -DLOCS=16 -DMAXLOC=1
neighbour-wants-direct     | refuted  | -DNEIGHBOUR0=1 -DOPS0=2 -DLOCS=16 -DMAXLOC=1 -DNEIGHBOUR_DIRECT
neighbour-wants-switches   | refuted  | -DNEIGHBOUR0=1 -DOPS0=2 -DLOCS=16 -DMAXLOC=1 -DNEIGHBOUR_SWITCHES_ENTRY
neighbour-beside           | verified | -DOPS0=2 -DNEIGHBOUR1=1 -DW1=1 -DLOCS=32 -DMAXLOC=1
neighbour-beside-localizes | refuted  | -DOPS0=2 -DNEIGHBOUR1=1 -DW1=1 -DLOCS=32 -DMAXLOC=1 -DNEIGHBOUR_LOCALIZES
lease-same-domain          | verified | -DMAXLEASE=2 -DNEIGHBOUR0=1 -DOPS0=2 -DW1=1 -DOPS1=1 -DLOCS=31 -DMAXLOC=2
lease-two-domains          | verified | -DMAXLEASE=2 -DCACHES -DNEIGHBOUR0=1 -DOPS0=2 -DW1=3 -DOPS1=1 -DLOCS=31 -DMAXLOC=2
lease-home                 | verified | -DMAXLEASE=2 -DNEIGHBOUR0=1 -DOPS0=2 -DNEIGHBOUR1=1 -DW1=0 -DOPS1=1 -DLOCS=63 -DMAXLOC=2
lease-release              | verified | -DMAXLEASE=1 -DLESSEES=2 -DOPS0=2 -DOWNER0=1 -DNEIGHBOUR1=1 -DW1=1 -DMAXLOC=0
lease-release-by-bit       | refuted  | -DMAXLEASE=1 -DLESSEES=2 -DOPS0=2 -DOWNER0=1 -DNEIGHBOUR1=1 -DW1=1 -DMAXLOC=0 -DRELEASE_IGNORES_QUEUED
lease-grant                | verified | -DMAXLEASE=1 -DNEIGHBOUR0=1 -DOPS0=2 -DLOCS=16 -DMAXLOC=1
lease-grant-unanswered     | refuted  | -DMAXLEASE=1 -DNEIGHBOUR0=1 -DOPS0=2 -DLOCS=16 -DMAXLOC=1 -DLEASE_UNANSWERED
refused                    | verified | -DREFUSALS=2 -DCACHES -DOPS0=3 -DMAXLOC=3
refused-two-ranks          | verified | -DREFUSALS=2 -DCACHES -DOPS0=2 -DW1=3 -DOPS1=1 -DMAXLOC=3
refused-lease              | verified | -DREFUSALS=1 -DMAXLEASE=2 -DNEIGHBOUR0=1 -DOPS0=2 -DW1=1 -DOPS1=1 -DLOCS=19 -DMAXLOC=1
refused-own                | verified | -DREFUSALS=1 -DOPS0=2 -DLOCS=2 -DMAXLOC=1
refused-own-queue-later    | refuted  | -DREFUSALS=1 -DOPS0=2 -DLOCS=2 -DMAXLOC=1 -DREFUSED_QUEUE_LATER
'

# The same for replication.pml; a refuted run names the property that it breaks.
replication='
replicas                      | verified        | -DTOGGLES=4 -DOPS0=2
replicas-manual               | verified        | -DTOGGLES=3 -DOPS0=2 -DMANUALS=1
replicas-moves                | verified        | -DBEGIN=3 -DTOGGLES=1 -DOPS0=2 -DMANUALS=3
replicas-two-domains          | verified        | -DTOGGLES=3 -DOPS0=1 -DOPS1=1
replicas-same-domain          | verified        | -DTOGGLES=3 -DOPS0=1 -DW1=1 -DOPS1=1
replicas-owner-1              | verified        | -DOWNER0=1 -DTOGGLES=3 -DOPS0=1 -DW1=0 -DOPS1=1 -DMANUALS=1 -DLOCS=1
replicas-neighbour            | verified        | -DNEIGHBOUR0=1 -DTOGGLES=3 -DOPS0=2
replicas-neighbour-beside     | verified        | -DNEIGHBOUR0=1 -DTOGGLES=3 -DOPS0=1 -DW1=1 -DOPS1=1
replicas-caches               | verified        | -DCACHES -DTOGGLES=3 -DOPS0=2
replicas-caches-neighbour     | verified        | -DCACHES -DNEIGHBOUR0=1 -DTOGGLES=3 -DOPS0=2
replicas-caches-moves         | verified        | -DCACHES -DBEGIN=5 -DINTENTS=6 -DTOGGLES=2 -DOPS0=1 -DMANUALS=2
replicas-round-first          | verified        | -DROUND_FIRST -DTOGGLES=3 -DOPS0=1 -DMANUALS=1
replicas-direct-reply         | verified        | -DREPLIES_TO_DELTA -DTOGGLES=3 -DOPS0=1 -DW1=0 -DOPS1=1
replicas-serve                | verified        | -DSERVES -DIN_BREADTH -DTOGGLES=3 -DOPS0=2
replicas-main-only            | verified        | -DMAIN_ONLY=2 -DTOGGLES=2 -DOPS0=2 -DW1=1 -DOPS1=1
replicas-main-only-neighbour  | verified        | -DMAIN_ONLY=2 -DNEIGHBOUR0=1 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=2 -DOPS0=2 -DW1=1 -DOPS1=1
replicas-main-only-caches     | verified        | -DMAIN_ONLY=2 -DCACHES -DIN_BREADTH -DTOGGLES=2 -DOPS0=2
replicas-refused              | verified        | -DREFUSALS=2 -DTOGGLES=3 -DOPS0=2
replicas-leases               | verified        | -DLEASES=2 -DTOGGLES=3 -DOPS0=1
replicas-leases-manual        | verified        | -DLEASES=1 -DTOGGLES=2 -DOPS0=1 -DMANUALS=1
holder                        | verified        | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1
holder-no-check               | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DNO_CHECK_ON_ARRIVAL
holder-awaiting-drops         | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DAWAITING_DROPS_REFRESH
holder-refresh-as-snapshot    | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DREFRESH_IS_SNAPSHOT
holder-snapshot-overwrites    | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DSNAPSHOT_OVERWRITES
holder-old-refresh            | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DOLD_REFRESH
holder-merge-no-raise         | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DMERGE_DOES_NOT_RAISE
holder-offer-dropped          | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DOFFER_DROPPED
holder-off-without-delta      | exactly_once    | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DOFF_WITHOUT_DELTA
holder-no-ack                 | monotonic_reads | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DNO_ACK
holder-closing-straight-home  | monotonic_reads | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DCLOSING_STRAIGHT_HOME
holder-upgrading-forwards     | routing         | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DUPGRADING_FORWARDS
holder-marks-clean            | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DMARKS_CLEAN
holder-new-owner-stays        | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DNEW_OWNER_STAYS
holder-old-owner-out          | convergence     | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DOLD_OWNER_OUT
holder-no-required            | monotonic_reads | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DNO_REQUIRED
holder-required-late          | monotonic_reads | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DREQUIRED_ONLY_AT_REPLICA
holder-unanswered             | program_order   | -DIN_BREADTH -DBEGIN=3 -DTOGGLES=3 -DOPS0=2 -DNEIGHBOUR0=1 -DDIRECT_UNANSWERED
moved                         | verified        | -DIN_BREADTH -DBEGIN=3 -DOPS0=1 -DMANUALS=1 -DLOCS=4
moved-bits-stay               | convergence     | -DIN_BREADTH -DBEGIN=3 -DOPS0=1 -DMANUALS=1 -DLOCS=4 -DBITS_STAY
direct                        | verified        | -DIN_BREADTH -DREPLIES_TO_DELTA -DBEGIN=3 -DOPS0=2 -DW1=0 -DOPS1=1
direct-only                   | convergence     | -DIN_BREADTH -DREPLIES_TO_DELTA -DBEGIN=3 -DOPS0=2 -DW1=0 -DOPS1=1 -DONLY_DIRECT_REPLY
deltas                        | verified        | -DIN_BREADTH -DBEGIN=3 -DOPS0=2 -DW1=0 -DOPS1=1
deltas-pipelined              | monotonic_reads | -DIN_BREADTH -DBEGIN=3 -DOPS0=2 -DW1=0 -DOPS1=1 -DPIPELINED_DELTAS
replies                       | verified        | -DIN_BREADTH -DBEGIN=1 -DINTENTS=3 -DTOGGLES=5 -DW0=0 -DOPS0=1
replies-off-first             | convergence     | -DIN_BREADTH -DBEGIN=1 -DINTENTS=3 -DTOGGLES=5 -DW0=0 -DOPS0=1 -DOFF_BEFORE_REPLY
replies-one-offer             | convergence     | -DIN_BREADTH -DBEGIN=1 -DINTENTS=3 -DTOGGLES=5 -DW0=0 -DOPS0=1 -DONE_OFFER
cached                        | verified        | -DIN_BREADTH -DCACHES -DBEGIN=1 -DINTENTS=2 -DTOGGLES=2 -DOPS0=2 -DMANUALS=1
cached-off                    | monotonic_reads | -DIN_BREADTH -DCACHES -DBEGIN=1 -DINTENTS=2 -DTOGGLES=2 -DOPS0=2 -DMANUALS=1 -DOFF_BY_CACHE
cached-localize-first         | routing         | -DIN_BREADTH -DCACHES -DBEGIN=1 -DINTENTS=2 -DTOGGLES=2 -DOPS0=2 -DMANUALS=1 -DLOCALIZE_BEFORE_REPLY
version                       | verified        | -DIN_BREADTH -DBEGIN=6 -DINTENTS=4 -DTOGGLES=2 -DW0=0 -DOPS0=1 -DW1=1 -DOPS1=1 -DMANUALS=1 -DLOCS=1
version-not-at-on             | convergence     | -DIN_BREADTH -DBEGIN=6 -DINTENTS=4 -DTOGGLES=2 -DW0=0 -DOPS0=1 -DW1=1 -DOPS1=1 -DMANUALS=1 -DLOCS=1 -DNO_RAISE_AT_ON
version-only-at-on            | convergence     | -DIN_BREADTH -DBEGIN=6 -DINTENTS=4 -DTOGGLES=2 -DW0=0 -DOPS0=1 -DW1=1 -DOPS1=1 -DMANUALS=1 -DLOCS=1 -DRAISE_ONLY_AT_ON
main-only                     | verified        | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2
main-only-at-once             | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2 -DMAIN_ONLY_AT_ONCE
main-only-without-delta       | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2 -DQUEUE_WITHOUT_DELTA
main-only-not-waiting         | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2 -DQUEUE_NOT_WAITING
main-only-later-pass          | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2 -DLATER_PASS
main-only-one-required        | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=2 -DTOGGLES=1 -DOPS0=3 -DW1=1 -DOPS1=2 -DREQUIRED_PER_DOMAIN
upgrading                     | verified        | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=3 -DTOGGLES=2 -DOPS0=3
upgrading-empties             | program_order   | -DIN_BREADTH -DMAIN_ONLY=2 -DBEGIN=1 -DINTENTS=3 -DTOGGLES=2 -DOPS0=3 -DUPGRADING_EMPTIES
set                           | verified        | -DIN_BREADTH -DMAIN_ONLY=16 -DBEGIN=7 -DOPS0=1 -DW1=2 -DOPS1=1
set-drops-deltas              | monotonic_reads | -DIN_BREADTH -DMAIN_ONLY=16 -DBEGIN=7 -DOPS0=1 -DW1=2 -DOPS1=1 -DSET_DROPS_OLD
refusal                       | verified        | -DIN_BREADTH -DREFUSALS=1 -DBEGIN=3 -DINTENTS=3 -DTOGGLES=3
refusal-keeps-offer           | convergence     | -DIN_BREADTH -DREFUSALS=1 -DBEGIN=3 -DINTENTS=3 -DTOGGLES=3 -DREFUSED_KEEPS_OFFER
refusal-asks-again            | no_livelock     | -DIN_BREADTH -DREFUSALS=1 -DBEGIN=3 -DINTENTS=3 -DTOGGLES=3 -DREFUSED_ASKS_AGAIN
leased                        | verified        | -DIN_BREADTH -DLEASES=1 -DBEGIN=3 -DTOGGLES=1 -DOPS0=1 -DOPS1=1
leased-no-raise               | convergence     | -DIN_BREADTH -DLEASES=1 -DBEGIN=3 -DTOGGLES=1 -DOPS0=1 -DOPS1=1 -DRELEASE_DOES_NOT_RAISE
leased-executes               | exclusive       | -DIN_BREADTH -DLEASES=1 -DBEGIN=3 -DTOGGLES=1 -DOPS0=1 -DOPS1=1 -DLEASED_EXECUTES
leased-merges                 | exclusive       | -DIN_BREADTH -DLEASES=1 -DBEGIN=3 -DTOGGLES=1 -DOPS0=1 -DOPS1=1 -DLEASED_MERGES
leased-no-check               | convergence     | -DIN_BREADTH -DLEASES=1 -DBEGIN=3 -DTOGGLES=1 -DOPS0=1 -DOPS1=1 -DNO_CHECK_UNDER_LEASE
'

trails=0
only_new=0
records=0
while [[ ${1-} == -[tnr] ]]; do
	case $1 in
	-t) trails=1 ;;
	-n) only_new=1 ;;
	-r) records=1 ;;
	esac
	shift
done
selected=" $* "
names=$(printf 'relocation\nreplication\n' && cut -d ' ' -f 1 <<<"$relocation$replication")
for name in "$@"; do
	if [[ -z $name ]] || ! grep -qxF -e "$name" <<<"$names"; then
		echo "verify.sh: no run named '$name'" >&2
		exit 2
	fi
done

cc=${CC:-cc}
for tool in spin "$cc"; do
	if ! command -v "$tool" >/dev/null; then
		echo "verify.sh: SKIPPED, NOTHING WAS VERIFIED: '$tool' is not installed" >&2
		exit 77
	fi
done

model=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
record=$model/verdicts.txt
recorded=0
models=$(cat "$model"/*.pml | sha256sum)

# Of everything that decides a verdict, except the version of SPIN.
fingerprint() {
	sha256sum <<<"$models $*" | cut -c 1-16
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The verdict on the verifier's output: "refuted" only by the assertion that the
# faulty variant is meant to break, program order or the named property; anything
# else is named.
verdict() {
	local meant=$1 broken
	broken=$(grep -E '^pan(:[0-9]+)?: (assertion violated|invalid end state|.*block in d_step)' out || true)
	if grep -qE 'max search depth too small|out of memory|reached -DMEMLIM' out; then
		echo incomplete
	elif grep -q 'errors: 0$' out && ! grep -q 'Search not completed' out; then
		echo verified
	elif [[ -n $broken ]] && ! grep -qvF "$meant" <<<"$broken"; then
		echo refuted
	elif [[ -n $broken ]]; then
		echo "error: $(head -n 1 <<<"$broken")"
	else
		echo "error: $(tail -n 1 out)"
	fi
}

# Sets used: the processor time of all commands so far, in tenths of a second.
measure() {
	local part seconds
	used=0
	times >.times
	for part in $(tail -n 1 .times); do # two like 1m2.345s: user, system
		part=${part%s}
		seconds=${part#*m}
		used=$((used + ${part%m*} * 60000 + 10#${seconds/./}))
	done
	used=$((used / 100))
}

# Prints the row of one run: model, name, expected verdict, broken property, flags.
verify() {
	local model_file=$1 name=$2 expected=$3 property=$4 meant='==(last['
	shift 4
	local flags=("$@") cflags pflags got start tenths states note= trail hash
	hash=$(fingerprint "$model_file" "$expected" "$property" "$@")
	if [[ $only_new == 1 ]] && grep -qs "^$hash " "$record"; then
		recorded=$((recorded + 1))
		return
	fi

	rm -rf -- ./*
	cp "$model"/*.pml .
	measure
	start=$used
	# A refuted run looks for a shortest counterexample: in breadth, or in depth
	# with -DREACH and -i.  It is so short that compiling faster counts for more
	# than searching faster.  Baselines of runs in breadth search so too.
	cflags=(-O1 -w -DSAFETY -DMEMLIM=3000)
	pflags=(-m10000 -w22)
	if [[ " ${flags[*]} " == *' -DIN_BREADTH '* ]]; then
		cflags+=(-O0 -DBFS)
	elif [[ $expected == refuted ]]; then
		cflags+=(-O0 -DREACH)
		pflags+=(-i)
	fi
	if [[ $model_file == replication.pml ]]; then
		cflags+=(-DNOREDUCE)
		meant="($property||"
	fi
	if spin -a "${flags[@]}" "$model_file" >out 2>&1 &&
		"$cc" "${cflags[@]}" -o pan pan.c >out 2>&1; then
		./pan "${pflags[@]}" >out 2>&1 || true
		got=$(verdict "$meant")
	else
		got="error: $(tail -n 1 out)"
	fi
	measure
	tenths=$((used - start))
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' out)

	if [[ $records == 1 && $got == "$expected" ]]; then
		[[ ! -f $record ]] || sed -i "/^[0-9a-f]* $name /d" "$record"
		echo "$hash $name $got ${states:--}" >>"$record"
	fi
	if [[ $got != "$expected" ]]; then
		bad=1
		note='   <-- NOT AS EXPECTED'
	fi
	printf '%-29s %-9s %-9s %10s %7s%s\n' "$name" "$expected" "$got" \
		"${states:--}" "$((tenths / 10)).$((tenths % 10))" "$note"
	trail=$model_file.trail
	if [[ $trails == 1 && -f $trail ]]; then
		spin "${flags[@]}" -t -T -B "$model_file" |
			sed -n '/^ *\(rank\|domain\|home\|owner\|worker\|spin: [^t]\)/s/^ */    /p'
	fi
}

bad=0
printf '%-29s %-9s %-9s %10s %7s\n' run expected verdict states seconds
for model_file in relocation.pml replication.pml; do
	runs=$relocation
	[[ $model_file == replication.pml ]] && runs=$replication
	while IFS='|' read -r name expected flags; do
		name=${name// /}
		property=${expected// /}
		[[ -n $name ]] || continue
		[[ $selected == "  " || $selected == *" $name "* || $selected == *" ${model_file%.pml} "* ]] || continue
		expected=refuted
		[[ $property == verified ]] && expected=verified
		read -ra flags <<<"$flags"
		verify "$model_file" "$name" "$expected" "$property" "${flags[@]}"
	done <<<"$runs"
done

[[ $only_new == 0 ]] || echo "recorded in verdicts.txt, and not run again: $recorded runs"
measure
tenths=$used
if [[ $bad == 0 ]]; then
	echo "all verdicts are as expected ($((tenths / 10)) s)"
else
	echo "SOME VERDICTS ARE NOT AS EXPECTED ($((tenths / 10)) s)"
fi
exit "$bad"
