#!/usr/bin/env bash
# Verifies the relocation model with SPIN and refutes its faulty variants.
#
#   verify.sh [-t] [name ...]     all runs, or the named ones
#     -t    also print the counterexample of each refuted run
#
# Exit status: 0 if every verdict is the expected one, 1 if not, 2 for wrong
# usage, 77 (skipped) if SPIN or the C compiler is missing.
set -euo pipefail
export LC_ALL=C

# name | expected | configuration and variant (see relocation.pml)
# Above refuted runs stands their baseline: an equal configuration, rule kept.
runs='
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

trails=0
if [[ ${1-} == -t ]]; then trails=1; shift; fi
selected=" $* "
names=$(cut -d ' ' -f 1 <<<"$runs")
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
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The verdict on the verifier's output: "refuted" only by the assertion that the
# faulty variants are meant to break, program order; anything else is named.
verdict() {
	local broken
	broken=$(grep -E '^pan(:[0-9]+)?: (assertion violated|invalid end state|.*block in d_step)' out || true)
	if grep -qE 'max search depth too small|out of memory|reached -DMEMLIM' out; then
		echo incomplete
	elif grep -q 'errors: 0$' out && ! grep -q 'Search not completed' out; then
		echo verified
	elif [[ -n $broken ]] && ! grep -qvF '==(last[' <<<"$broken"; then
		echo refuted
	elif [[ -n $broken ]]; then
		echo "error: $(head -n 1 <<<"$broken")"
	else
		echo "error: $(tail -n 1 out)"
	fi
}

now() { date +%s%N; }

bad=0
begin=$(now)
printf '%-26s %-9s %-9s %10s %7s\n' run expected verdict states seconds
while IFS='|' read -r name expected flags; do
	name=${name// /}
	expected=${expected// /}
	[[ -n $name ]] || continue
	[[ $selected == "  " || $selected == *" $name "* ]] || continue
	read -ra flags <<<"$flags"

	rm -rf -- ./*
	cp "$model"/*.pml .
	start=$(now)
	# A refuted run looks for a shortest counterexample (-DREACH, -i).  It is so
	# short that compiling faster counts for more than searching faster.
	cflags=(-O1 -w -DSAFETY -DMEMLIM=3000)
	pflags=(-m10000 -w22)
	if [[ $expected == refuted ]]; then
		cflags+=(-O0 -DREACH)
		pflags+=(-i)
	fi
	if spin -a "${flags[@]}" relocation.pml >out 2>&1 &&
		"$cc" "${cflags[@]}" -o pan pan.c >out 2>&1; then
		./pan "${pflags[@]}" >out 2>&1 || true
		got=$(verdict)
	else
		got="error: $(tail -n 1 out)"
	fi
	tenths=$((($(now) - start) / 100000000))
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' out)

	note=
	if [[ $got != "$expected" ]]; then
		bad=1
		note='   <-- NOT AS EXPECTED'
	fi
	printf '%-26s %-9s %-9s %10s %7s%s\n' "$name" "$expected" "$got" \
		"${states:--}" "$((tenths / 10)).$((tenths % 10))" "$note"
	if [[ $trails == 1 && -f relocation.pml.trail ]]; then
		spin "${flags[@]}" -t -T -B relocation.pml | sed -n '/^ *\(rank\|home\|worker\|spin\)/s/^ */    /p'
	fi
done <<<"$runs"

tenths=$((($(now) - begin) / 100000000))
if [[ $bad == 0 ]]; then
	echo "all verdicts are as expected ($((tenths / 10)) s)"
else
	echo "SOME VERDICTS ARE NOT AS EXPECTED ($((tenths / 10)) s)"
fi
exit "$bad"
