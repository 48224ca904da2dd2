/*
 * Relocation of one key, with location caches, route pinning, domains of
 * several ranks, and leases.
 *
 * WHAT IS MODELLED
 *   N domains, one key, up to two workers.  The serving rank of domain d is
 *   rank d: its engine changes the domain's role and handles all messages about
 *   the key.  A worker is on the serving rank, or on a neighbour: a rank of its
 *   own in the same domain, which shares the key's word and value with the
 *   serving rank but does not serve the key.  A worker issues numbered pushes
 *   without waiting for their answers; ranks localize the key at any moment,
 *   MAXLOC times altogether; workers lease it, MAXLEASE times altogether.  Every
 *   `d_step` is one step that the implementation makes without interruption:
 *     - one engine step: what the holder of a rank's progress lock does with
 *       one submission, one received message or one localize;
 *     - one worker step: one submission, or one change under the latch: a
 *       direct access, taking a lease, giving one back.
 *   SPIN explores all interleavings of these steps.
 *
 * CHANNELS
 *   fifo[s->d]   operations, forwards, LOCALIZE, INSTRUCT, and what a neighbour
 *                asks its serving rank: first in, first out for each ordered
 *                pair of ranks (rules 4 and 15).
 *   transfer     the value on its way.  It has no order with anything else.
 *   refused[d]   the home's refusal, likewise.
 *   answer[w,n]  the answer to push n of worker w.  No order at all.
 *   The home handles its own operations and localizes inline: no channel.
 *
 * WHAT IS CHECKED
 *   I1  at most one owner, at every moment; exactly one in the end
 *   I2  every push is applied exactly once
 *   I3, I4  the pushes of a worker are applied in its program order
 *   Rule 3: what the home has forwarded never meets an absent rank and is never
 *       forwarded again
 *   Leases: while a worker has the key for itself no other worker applies a push,
 *       none gets a lease, and the value stays
 *   No deadlock: when nothing can move any more, all is answered and empty
 *   I2 to I4 are one assertion, in `apply_now`: push n is applied right after
 *   push n - 1 of its worker.  A doubled or early push breaks it; a lost one
 *   breaks it later, or breaks the check at the end.  Rule numbers: README.md.
 *
 * WHAT IS LEFT OUT
 *   - The value: only the order of the pushes matters.  A pull takes the same
 *     way as a push, so it needs no case of its own.
 *   - Other keys: keys share channels but no state.
 *   - Moves that the owner proposes, and replication.
 *   - Which worker localizes: localize is a step of the rank, possible at any
 *     moment.  This covers every place in every worker's program.
 *   - The way back of a grant or of the answer to a localize: nothing but the
 *     worker that waits depends on it, and workers pause at will anyway.
 *
 * CONFIGURATION (-D)
 *   OWNER0     first owner                    NEIGHBOUR0=1  worker 0 is on a
 *   W0 OPS0    domain, pushes of worker 0                   neighbour
 *   W1 OPS1    the same for worker 1          NEIGHBOUR1=1  the same
 *   MAXLOC     localizes, all ranks           LOCS     bit mask of the ranks that
 *   MAXLEASE   leases, all workers                     may localize; 16, 32: the
 *   CACHES     location caches on                      neighbour of worker 0, 1
 *   REFUSALS   LOCALIZEs that the home        LESSEES  bit mask of the workers
 *              may refuse                              that may lease
 *   Domain 0 is the home.
 *
 * VARIANTS (-D)
 *   Right, and to be verified:
 *     ANY_HINT           a cached location may be any domain, at every use
 *     NO_HOLD            no operation is held when an answer names a new owner
 *     HOME_OWN_BY_TABLE  the home routes its own workers' operations by table
 *                        even while it is arriving
 *     PRIVATE            a neighbour may be unable to address the value: then it
 *                        submits, and sends to its serving rank
 *   Faulty, and to be refuted:
 *     NO_ENTRY_RULE            unanswered operations do not pin the route
 *     NETWORK_ONLY_ENTRY_RULE  they pin it only where the rank is absent
 *     HOME_BY_ROLE             the home routes by its own role
 *     NEIGHBOUR_DIRECT         a neighbour touches memory with operations
 *                              unanswered
 *     NEIGHBOUR_SWITCHES_ENTRY it leaves the entry home for its serving rank
 *     NEIGHBOUR_LOCALIZES      it sends LOCALIZE to the home itself
 *     RELEASE_IGNORES_QUEUED   a lease is given back by its bit, whatever waits
 *     LEASE_UNANSWERED         a lease begins with operations unanswered
 *     REFUSED_QUEUE_LATER      a refused rank becomes absent in one step, and
 *                              sends its queue to the home in another
 */

#include "state.pml"
#include "routing.pml"
#include "moving.pml"
#include "leases.pml"


/* ---- Engines ---------------------------------------------------------- */

/* One message from rank s to rank r, if there is one. */
inline receive(r, s)
{
	FIFO(s, r)?m ->
	if
	:: IS_OP(m) -> receive_op(r, m)
	:: m == LOCALIZE -> assert(r == HOME); k = DOMAIN_OF_RANK(s); home_localize(k)
	:: IS_INSTRUCT(m) -> k = TO(m); instruct(r, k)
#if NEIGHBOURS > 0
	:: IS_WANT(m) -> k = WHO(m); want(r, k)
#endif
#if NEIGHBOURS > 0 && MAXLEASE > 0
	:: IS_LEASE(m) -> k = WHO(m); request_lease(r, k)
	:: IS_RELEASE(m) -> end_lease(r)
#endif
	fi
}

proctype engine(byte r)
{
end:	do
	:: d_step { receive(r, 0) }
	:: d_step { receive(r, 1) }
	:: d_step { receive(r, 2) }
	:: d_step { receive(r, 3) }
#if NEIGHBOURS > 0
	:: d_step { receive(r, 4) }
#endif
#if NEIGHBOURS > 1
	:: d_step { receive(r, 5) }
#endif
	:: d_step { transfer == r -> arrive(r) }
#if REFUSALS > 0
	:: d_step { r == HOME && MAY_REFUSE(1) -> refuse(1) }
	:: d_step { r == HOME && MAY_REFUSE(2) -> refuse(2) }
	:: d_step { r == HOME && MAY_REFUSE(3) -> refuse(3) }
	:: d_step { refused[r] == REFUSE_SENT -> take_refusal(r) }
#ifdef REFUSED_QUEUE_LATER
	:: d_step { refused[r] == QUEUE_STAYS -> send_away(r) }
#endif
#endif
	:: d_step { budget > 0 && (LOCS & (1 << r)) && CAN_LOCALIZE(r) ->
		budget--;
		localize(r)
	   }
	od
}


/* ---- Workers, with what the engines of their ranks do for them --------- */

#define UNROUTED(w)  (issued[w] > routed[w] && !IS_HELD_BACK(DOMAIN_OF(w), w))
#define MAY_ISSUE(w) (issued[w] < OPS_OF(w) && !ASKS(w))

/* Memory is touched directly only as owner and with nothing unanswered, or with
   a lease; else the operation is submitted (rules 9, 10, 17). */
#ifdef NEIGHBOUR_DIRECT
#define NONE_BEFORE(w)  (issued[w] == (IS_NEIGHBOUR(w) -> routed[w] : answered[w]))
#else
#define NONE_BEFORE(w)  (issued[w] == answered[w])
#endif
#define MAY_TOUCH(w) (HOLDS(w) || (NONE_BEFORE(w) && IS_OPEN(DOMAIN_OF(w))))

#ifdef PRIVATE
#define MAY_SUBMIT(w)  (!HOLDS(w) && (IS_NEIGHBOUR(w) || !MAY_TOUCH(w)))
#else
#define MAY_SUBMIT(w)  (!MAY_TOUCH(w))
#endif

/* A lease begins with nothing unanswered: its holder touches memory too. */
#ifdef LEASE_UNANSWERED
#define MAY_LEASE(w) (issued[w] == routed[w])
#else
#define MAY_LEASE(w) (issued[w] == answered[w])
#endif

/* The engine of the worker's rank routes its next submission. */
#define ENGINE_ROUTES(w, loc) \
	d_step { UNROUTED(w) -> \
		if \
		:: IS_NEIGHBOUR(w) -> route_neighbour(DOMAIN_OF(w), w, loc, true) \
		:: else -> route(DOMAIN_OF(w), w, loc) \
		fi \
	}

inline take(w, n)
{
	answer[OP(w, n)] > 0 ->
	x = answer[OP(w, n)] - 1;
	answer[OP(w, n)] = 0;
	printf("worker %d: answer to push %d, from rank %d\n", w, n, x);
	take_answer(w, x)
}

proctype worker(byte w)
{
	do
	:: d_step { MAY_ISSUE(w) && MAY_TOUCH(w) -> issued[w]++; touch(w) }
	:: d_step { MAY_ISSUE(w) && MAY_SUBMIT(w) -> issued[w]++ }
#ifdef ANY_HINT
	:: ENGINE_ROUTES(w, 0)
	:: ENGINE_ROUTES(w, 1)
	:: ENGINE_ROUTES(w, 2)
	:: ENGINE_ROUTES(w, 3)
#else
	:: ENGINE_ROUTES(w, hint[DOMAIN_OF(w)])
#endif
#ifdef PRIVATE
	:: d_step { UNROUTED(w) && IS_NEIGHBOUR(w) ->
		route_neighbour(DOMAIN_OF(w), w, hint[DOMAIN_OF(w)], false)
	   }
#endif
	/* The engine takes an answer, in any order. */
	:: d_step { take(w, 1) }
	:: d_step { take(w, 2) }
	:: d_step { take(w, 3) }
	:: d_step { take(w, 4) }
#if NEIGHBOURS > 0
	:: d_step { IS_NEIGHBOUR(w) && budget > 0 && (LOCS & (16 << w)) && wanted[w] == NO ->
		budget--;
		neighbour_localizes(w)
	   }
#endif
#if MAXLEASE > 0
	:: d_step { leases_left > 0 && (LESSEES & (1 << w)) && NO_LEASE(w) &&
		    MAY_LEASE(w) ->
		leases_left--;
		lease_key(DOMAIN_OF(w), w)
	   }
	:: d_step { HOLDS(w) -> release(DOMAIN_OF(w), w) }
#endif
	:: answered[w] == OPS_OF(w) && NO_LEASE(w) -> break
	od
}

/* The ranks may stop to localize at any moment: so the check at the end sees
   every number of localizes up to MAXLOC. */
proctype stop()
{
end:	d_step { budget > 0 -> budget = 0 }
}


/* ---- Beginning and end ------------------------------------------------- */

init
{
	atomic {
		d_step {
			k = 0;
			do
			:: k < N ->
				hint[k] = NO_RANK;
				role[k] = ABSENT;
				k++
			:: else -> break
			od;
			role[OWNER0] = OWNER;
			entry[0] = NO_RANK;
			entry[1] = NO_RANK;
			/* Caches start warm: the workers' domains know the first owner. */
			learn(W0, OWNER0);
			learn(W1, OWNER0)
		}
		run engine(0); run engine(1); run engine(2); run engine(3);
		run stop();
		run worker(0);
		if
		:: ACTIVE1 -> run worker(1)
		:: else
		fi
	}

	/* Nothing can move any more. */
	timeout;
	d_step {
		assert(answered[0] == OPS0 && answered[1] == OPS1);  /* no deadlock */
		assert(last[0] == OPS0 && last[1] == OPS1);          /* I2 */
		assert(NO_LEASE(0) && NO_LEASE(1));
#if NEIGHBOURS > 0
		assert(wanted[0] == NO && wanted[1] == NO);
#endif
		assert(transfer == NO_RANK);
		old = 0;
		k = 0;
		do
		:: k < N ->
			assert(empty(queue[k]) && !relocalize[k] && !leaving[k]);
			assert(role[k] == ABSENT || IS_OPEN(k));
#if REFUSALS > 0
			assert(!refused[k]);
#endif
			old = old + (role[k] == OWNER);
			k++
		:: else -> break
		od;
		assert(old == 1 && role[owner] == OWNER);            /* I1 */
		k = 0;
		do
		:: k < (N + NEIGHBOURS) * N -> assert(empty(fifo[k])); k++
		:: else -> break
		od
	}
}
