/*
 * Replication of one key: domains that have intent for it hold replicas, and
 * the only domain with intent owns it.
 *
 * WHAT IS MODELLED
 *   3 domains, one key, up to two workers with up to 3 pushes each, which may
 *   be unanswered together.  Domain 0 is the home.  Intents come and go at any
 *   moment, TOGGLES times altogether; ranks localize the key, MANUALS times;
 *   workers lease it, LEASES times; ON is refused, REFUSALS times.  A worker is
 *   on the rank that serves its domain, or on a neighbour.  Every `d_step` is
 *   one step that the implementation makes without interruption, as in
 *   relocation.pml.  What follows from a cause and is sent (ON, OFF, DELTA, the
 *   REFRESH of one member, LOCALIZE for an OFFER or for a worker) is a step of
 *   its own: any delay is covered, so any grouping into rounds is too.
 *
 * THE VALUE
 *   A set of pushes, one bit each: adding is a union that must be disjoint,
 *   value - base is a difference.  A main-only operation (rule 26) is a push
 *   that main alone can take.
 *
 * CHANNELS
 *   fifo[s->d]   operations, ON, DELTA, OFF, LOCALIZE, INSTRUCT: first in, first
 *                out for each ordered pair of ranks.
 *   Replies to ON, ACK, OFFER to the last holder, REFRESH, TRANSFER and answers
 *   have no order at all.  Up to REFRESHES of them are in flight to a domain.
 *   The home handles what it sends to itself inline.
 *
 * WHAT IS CHECKED (the names that `assert` reports)
 *   exactly_once     no push is added to main or to a copy twice; none is lost
 *   program_order    in main, and in every copy that a worker reads or writes,
 *                    the pushes of each worker are a prefix of its program
 *   monotonic_reads  a worker sees all that it has seen before, its own pushes
 *                    included; every push reads too, wherever it is executed
 *   routing          what the home has forwarded meets an owner, or a domain
 *                    that queues it; ON, DELTA and OFF find the right set; a
 *                    reply meets the domain that waits for it
 *   one_owner        at most one owner, in the end the one of the home's table
 *   exclusive        a lease excludes all others from main
 *   no_livelock      a domain that was refused does not ask again
 *   convergence      whenever no message is in flight and no domain can act:
 *                    all operations are answered, no queue and nothing pending is left,
 *                    the members are the domains with intent, their replicas
 *                    equal main, the only domain with intent is the owner, and
 *                    the other domains are absent
 *   Rule numbers: README.md.
 *
 * WHAT IS LEFT OUT
 *   Other keys; gradients that are merged with their count; what a neighbour
 *   asks its serving rank with a message: to localize, or for a lease; memory
 *   that a neighbour cannot address.
 *
 * CONFIGURATION (-D)
 *   OWNER0     first owner                    NEIGHBOUR0=1  worker 0 is on a
 *   W0 OPS0    domain, pushes of worker 0                   neighbour
 *   W1 OPS1    the same for worker 1          NEIGHBOUR1=1  the same
 *   MAIN_ONLY  bit mask of the main-only operations: 1, 2, 4 of worker 0,
 *              16, 32, 64 of worker 1
 *   BEGIN      bit mask of the domains that have intent in the beginning, and
 *              replicas; all others join later
 *   TOGGLES    changes of intents             INTENTS  bit mask of the domains
 *   MANUALS    localizes                      LOCS     where they happen
 *   LEASES     leases                         REFUSALS refusals
 *   CACHES     operations, ON and DELTA of an absent or holding domain may enter
 *              at any domain that is not the home
 *   IN_BREADTH for a search in breadth (pan.c with -DBFS)
 *
 * VARIANTS (-D)
 *   Right, and to be verified:
 *     ROUND_FIRST       an owner refreshes dirty members before TRANSFER
 *     REPLIES_TO_DELTA  DELTA is answered by a REFRESH at once
 *     SERVES            the policy never offers the key
 *   Faulty, and to be refuted: see verify.sh and README.md
 */

#include "replication_state.pml"
#include "replication_routing.pml"
#include "replication_owner.pml"
#include "replication_holder.pml"
#include "replication_workers.pml"


/* ---- Channels ---------------------------------------------------------- */

inline receive(r)
{
	if
	:: KIND(m) == OP -> printf("domain %d: receives push %d of worker %d\n", r, NUM(m), WHO(m))
	:: KIND(m) == LOCALIZE -> printf("domain %d: receives LOCALIZE of domain %d\n", r, WHO(m))
	:: KIND(m) == ON -> printf("domain %d: receives ON of domain %d\n", r, WHO(m))
	:: KIND(m) == DELTA -> printf("domain %d: receives DELTA of domain %d\n", r, WHO(m))
	:: KIND(m) == OFF -> printf("domain %d: receives OFF of domain %d\n", r, WHO(m))
	:: KIND(m) == INSTRUCT -> printf("domain %d: receives INSTRUCT\n", r)
	fi;
	if
	:: KIND(m) == LOCALIZE ->
		x = WHO(m);
		MUST(one_owner, r == HOME && table != x);
		old = table;
		table = x;
		if
		:: old == HOME -> m = MESSAGE(INSTRUCT, x)
		:: else -> FIFO(HOME, old)!MESSAGE(INSTRUCT, x), 0; m = NOTHING
		fi
	:: else
	fi;
	if
	:: KIND(m) == INSTRUCT -> x = WHO(m); instruct(r, x)
	:: KIND(m) == NOTHING
	:: else -> deliver(r)
	fi
}

#if REFUSALS > 0
#define FIRST_IS(q, kind)  (FIRST(q, MESSAGE(kind, 0)) || FIRST(q, MESSAGE(kind, 1)) || FIRST(q, MESSAGE(kind, 2)))
#define FIRST(q, message)  (fifo[q]?[eval(message), 0] || fifo[q]?[eval(message + BY_HOME), 0])

inline refuse(q)
{
	fifo[q]?m, d;
	refusals_left--;
	x = WHO(m);
	printf("ON of domain %d is refused\n", x);
	replies[x]!REFUSED, 0, 0
}
#endif

proctype link(byte q; byte r)
{
end:	do
	:: d_step { fifo[q]?m, d -> receive(r); clear() }
#if REFUSALS > 0
	/* ON refused, by the owner or by the home on passing. */
	:: d_step { refusals_left && (r == HOME || IS_OPEN(r)) && FIRST_IS(q, ON) -> refuse(q); clear() }
	/* INSTRUCT at an owner with intent, which declines to keep a replica. */
	:: d_step { refusals_left && IS_OPEN(r) && INTERESTED(r) && (FIRST_IS(q, INSTRUCT) || FIRST_IS(q, LOCALIZE)) ->
		fifo[q]?m, d;
		refusals_left--;
		declines = 1;
		receive(r);
		clear()
	   }
#endif
	od
}


/* ---- Domains ----------------------------------------------------------- */

#define MAY_LOCALIZE(r)  (!manual[r] && (leaving[r] || role[r] == ABSENT || role[r] == AWAITING || \
                                     role[r] == CLOSING || role[r] == REPLICA))

inline toggle(r)
{
	want[r] = !want[r];
	printf("domain %d: its intent is now %d\n", r, want[r]);
	if
	:: !want[r] ->
#if REFUSALS > 0
		marked[r] = 0;
		refused[r] = 0;
#endif
		if
		:: role[r] == OWNER -> check(r)
		:: else
		fi
	:: else
	fi
}

proctype serving_rank(byte r)
{
end:	do
	:: d_step { transfer == r -> arrive(r); clear() }
	:: d_step { replies[r]?k, x, y -> by_cache = 0; take_reply(r, k, x, y); clear() }
	:: d_step { ack[r] -> take_ack(r); clear() }
	:: d_step { offers[r] -> take_offer(r); clear() }
	:: d_step { refreshes[r] > 0 -> take_refresh(r, 0); clear() }
	:: d_step { refreshes[r] > 1 -> take_refresh(r, 1); clear() }
	:: d_step { refreshes[r] > 2 -> take_refresh(r, 2); clear() }

	:: d_step { LOCALIZES(r) -> localize(r, ARRIVING); clear() }
	:: d_step { ANNOUNCES(r) -> by_cache = 0; announce(r); clear() }
	:: d_step { UPGRADES(r) -> localize(r, UPGRADING); clear() }
	:: d_step { CLOSES(r) -> by_cache = 0; close(r); clear() }
	:: d_step { SENDS_DELTA(r) -> by_cache = 0; send_delta(r); clear() }
#ifdef OFF_BY_CACHE
	:: d_step { r != HOME && CLOSES(r) -> by_cache = 1; close(r); clear() }
#endif
#ifdef CACHES
	:: d_step { r != HOME && ANNOUNCES(r) -> by_cache = 1; announce(r); clear() }
	:: d_step { r != HOME && SENDS_DELTA(r) -> by_cache = 1; send_delta(r); clear() }
#endif

	/* One member of a round: other steps may come between the members. */
	:: d_step { IS_OPEN(r) && HAS(dirty, 0) && refreshes[0] < REFRESHES -> send_refresh(0, 0); clear() }
	:: d_step { IS_OPEN(r) && HAS(dirty, 1) && refreshes[1] < REFRESHES -> send_refresh(1, 0); clear() }
	:: d_step { IS_OPEN(r) && HAS(dirty, 2) && refreshes[2] < REFRESHES -> send_refresh(2, 0); clear() }

	:: d_step { toggles_left && HAS(INTENTS, r) -> toggles_left--; toggle(r); clear() }
	:: d_step { manuals_left && HAS(LOCS, r) && MAY_LOCALIZE(r) -> manuals_left--;
		manual[r] = 1;
		printf("domain %d: a worker localizes\n", r);
		clear()
	   }
	od
}

/* ---- Workers ----------------------------------------------------------- */

inline take(w, n)
{
	y = answer[w * 4 + n] - 1;
	answer[w * 4 + n] = 0;
	take_answer(w, y)
}

proctype worker(byte w)
{
end:	do
	:: d_step { issued[w] < OPS_OF(w) && !ASKS(w) && MAY_TOUCH(w) -> touch(w); clear() }
	:: d_step { MAY_READ(w) && SHOWN_TO(w) != seen[w] -> read(w); clear() }
#if LEASES > 0
	:: d_step { MAY_LEASE(w) -> lease(w); clear() }
	:: d_step { HELD_BY(w) -> release(w); clear() }
#endif
	:: d_step { answer[w * 4 + 1] -> take(w, 1); clear() }
	:: d_step { answer[w * 4 + 2] -> take(w, 2); clear() }
	:: d_step { answer[w * 4 + 3] -> take(w, 3); clear() }
	od
}

proctype submitter(byte w; byte at)
{
end:	do
	:: d_step { issued[w] < OPS_OF(w) && !ASKS(w) && !MAY_TOUCH(w) && MAY_ENTER(w, at) -> submit(w, at); clear() }
	od
}


/* ---- When nothing can move ---------------------------------------------- */

#define SILENT(r) \
	(len(replies[r]) == 0 && !ack[r] && offers[r] == 0 && refreshes[r] == 0 && !ACTS(r))
#define EMPTY(q)     (len(fifo[q]) == 0)
#ifdef CACHES
#define CACHED_EMPTY  (EMPTY(4) && EMPTY(5))
#else
#define CACHED_EMPTY  true
#endif
#define SIDE_EMPTY(q) (EMPTY(q) && EMPTY((q) + 1) && EMPTY((q) + 2))
#if NEIGHBOURS == 0
#define SIDES_EMPTY  true
#elif NEIGHBOURS == 1
#define SIDES_EMPTY  SIDE_EMPTY(SIDE_CHANNELS)
#else
#define SIDES_EMPTY  (SIDE_EMPTY(SIDE_CHANNELS) && SIDE_EMPTY(SIDE_CHANNELS + 3))
#endif
#define ALL_EMPTY    (EMPTY(0) && EMPTY(1) && EMPTY(2) && EMPTY(3) && CACHED_EMPTY && SIDES_EMPTY)
#define NOTHING_MOVES \
	(transfer == NONE && dirty == 0 && !IS_LEASED && SILENT(0) && SILENT(1) && SILENT(2) && \
	 ALL_EMPTY && NO_ANSWERS)
#define NO_ANSWERS  (answer[1] + answer[2] + answer[3] + answer[5] + answer[6] + answer[7] == 0)
#define ALONE(r)     (INTERESTED(r) && INTERESTED(0) + INTERESTED(1) + INTERESTED(2) == 1)

proctype observer()
{
end:	do
	:: d_step { NOTHING_MOVES ->
		MUST(convergence, answered[0] == issued[0] && answered[1] == issued[1] && !ASKS(0) && !ASKS(1));
		MUST(exactly_once, main_val == (ALL_OF(0) | ALL_OF(1)));
		old = 0;
		k = 0;
		do
		:: k < N ->
			MUST(convergence, len(queue[k]) == 0 && !leaving[k] && !manual[k] && !offered[k]);
			if
			:: role[k] == OWNER ->
				old++;
				MUST(one_owner, table == k);
				MUST(convergence, !HAS(members, k))
			:: role[k] == REPLICA ->
				MUST(convergence, INTERESTED(k) && HAS(members, k));
				MUST(convergence, val[k] == main_val && base[k] == main_val && ver[k] == main_ver)
			:: else ->
				MUST(convergence, role[k] == ABSENT && !INTERESTED(k) && !HAS(members, k))
			fi;
			MUST(convergence, !OFFERS || !ALONE(k) || role[k] == OWNER);
			k++
		:: else -> break
		od;
		MUST(one_owner, old == 1);
		clear()
	   }
	od
}

/* The domains of BEGIN have intent; all but the owner have a replica. */
inline set_up()
{
	role[OWNER0] = OWNER;
	members = BEGIN & ~(1 << OWNER0);
	k = 0;
	do
	:: k < N ->
		want[k] = HAS(BEGIN, k);
		if
		:: HAS(members, k) -> role[k] = REPLICA; ver[k] = main_ver
		:: else
		fi;
		k++
	:: else -> break
	od;
	clear()
}

init
{
	atomic {
		d_step { set_up() }
		run link(0, 1); run link(1, 2); run link(2, 0); run link(3, 0);
#ifdef CACHES
		run link(4, 1); run link(5, 2);
#endif
#if NEIGHBOURS > 0
		run link(SIDE_CHANNELS, 0); run link(SIDE_CHANNELS + 1, 1); run link(SIDE_CHANNELS + 2, 2);
#endif
#if NEIGHBOURS > 1
		run link(SIDE_CHANNELS + 3, 0); run link(SIDE_CHANNELS + 4, 1); run link(SIDE_CHANNELS + 5, 2);
#endif
		run serving_rank(0); run serving_rank(1); run serving_rank(2);
#if OPS0 > 0
		run worker(0);
		run submitter(0, 0); run submitter(0, 1); run submitter(0, 2);
#endif
#if OPS1 > 0
		run worker(1);
		run submitter(1, 0); run submitter(1, 1); run submitter(1, 2);
#endif
		run observer()
	}
}
