/*
 * Relocation of one key, with location caches and route pinning.
 *
 * WHAT IS MODELLED
 *   N ranks (each its own domain), one key, up to two workers.  A worker issues
 *   numbered pushes without waiting for their answers; ranks localize the key
 *   at any moment, MAXLOC times altogether.  Every `d_step` below is one step
 *   that the implementation makes without interruption:
 *     - one engine step: what the holder of a rank's progress lock does with
 *       one submission, one received message or one localize;
 *     - one worker step: a direct access under the latch, or one submission.
 *   SPIN explores all interleavings of these steps.
 *
 * CHANNELS
 *   fifo[s->d]   operations, forwards, LOCALIZE, INSTRUCT: first in, first out
 *                for each ordered pair of ranks (rules 4 and 15).
 *   transfer     the value on its way.  It has no order with anything else.
 *   answer[w,n]  the answer to push n of worker w.  No order at all.
 *   The home handles its own operations and localizes inline: no channel.
 *
 * WHAT IS CHECKED
 *   I1  at most one owner, at every moment; exactly one in the end
 *   I2  every push is applied exactly once
 *   I3, I4  the pushes of a worker are applied in its program order
 *   Rule 3: what the home has forwarded never meets an absent rank and is never
 *       forwarded again (so: at most 2 hops without caches, 3 with caches)
 *   No deadlock: when nothing can move any more, all is answered and empty
 *   I2 to I4 are one assertion, in `apply`: push n is applied right after push
 *   n - 1 of its worker.  A doubled or early push breaks it; a lost one breaks
 *   it later, or breaks the check at the end.  Rule numbers: see README.md.
 *
 * WHAT IS LEFT OUT
 *   - The value: only the order of the pushes matters.  A pull takes the same
 *     way as a push, so it needs no case of its own.
 *   - Other keys: keys share channels but no state.
 *   - Workers on a rank that does not serve (domains of several ranks),
 *     moves that the owner proposes, and replication.
 *   - Which worker localizes: localize is a step of the rank, possible at any
 *     moment.  This covers every place in every worker's program.
 *
 * CONFIGURATION (-D)
 *   OWNER0   first owner                       MAXLOC  localizes, all ranks
 *   W0 OPS0  rank and pushes of worker 0       LOCS    ranks that may localize,
 *   W1 OPS1  the same for worker 1                     a bit mask
 *   CACHES   location caches on
 *   Rank 0 is the home.
 *
 * VARIANTS (-D)
 *   Right, and to be verified:
 *     ANY_HINT           a cached location may be any rank, at every use
 *     NO_HOLD            no operation is held when an answer names a new owner
 *     HOME_OWN_BY_TABLE  the home routes its own workers' operations by table
 *                        even while it is arriving
 *   Faulty, and to be refuted:
 *     NO_ENTRY_RULE            unanswered operations do not pin the route
 *     NETWORK_ONLY_ENTRY_RULE  they pin it only where the rank is absent
 *     HOME_BY_ROLE             the home routes by its own role
 */

#define N     4
#define HOME  0

#ifndef OWNER0
#define OWNER0 2
#endif
#ifndef W0
#define W0 1
#endif
#ifndef OPS0
#define OPS0 3
#endif
#ifndef W1
#define W1 0
#endif
#ifndef OPS1
#define OPS1 0
#endif
#ifndef MAXLOC
#define MAXLOC 2
#endif
#ifndef LOCS
#define LOCS 15
#endif

#define NOBODY 7   /* no rank */
#define SELF   6   /* entry: executed, queued, or sent to the home, from here */

/* Roles. */
#define ABSENT   0
#define OWNER    1
#define ARRIVING 2

/* A message is one byte. */
#define OP(w, n)      ((w) * 8 + (n))
#define BY_HOME       32                  /* flag: the home has routed it */
#define LOCALIZE      64                  /* from: the channel says it */
#define INSTRUCT(to)  (128 + (to))
#define IS_OP(m)        ((m) < 64)
#define IS_INSTRUCT(m)  ((m) >= 128)
#define WHO(m)  (((m) >> 3) & 3)
#define NUM(m)  ((m) & 7)
#define TO(m)   ((m) & 7)

#define FIFO(s, d)    fifo[(s) * N + (d)]
#define RANK_OF(w)    ((w) == 0 -> W0 : W1)
#define OPS_OF(w)     ((w) == 0 -> OPS0 : OPS1)
#define HAS_WORKER(r) ((r) == W0 || (OPS1 > 0 && (r) == W1))

/* Room for all operations and one LOCALIZE or INSTRUCT.  Were it too little,
   SPIN would report a blocked d_step. */
#define ROOM  (OPS0 + OPS1 + 1)
chan fifo[N * N] = [ROOM] of { byte };

/* Per rank. */
byte role[N];
chan queue[N] = [ROOM] of { byte };  /* while arriving: operations, INSTRUCT */
bit  leaving[N];                    /* an INSTRUCT is in the queue */
bit  wish[N];                       /* localize again after leaving */
byte hint[N];                       /* cached location, while absent */

/* The home's table. */
byte owner = OWNER0;

/* The value in flight: to whom. */
byte transfer = NOBODY;

/* Per worker.  Numbers of operations: issued >= routed >= answered.
   submitted, not yet routed = issued - routed; unanswered = issued - answered */
byte issued[2];
byte routed[2];
byte answered[2];
byte entry[2];       /* where its unanswered operations entered; else NOBODY */
bit  stale[2];       /* an answer named another owner than the entry */
byte answer[16];     /* in flight: responder + 1 */

/* The history: the last push applied, per worker. */
byte last[2];

byte budget = MAXLOC;

/* Scratch: used inside one step only, so not part of the state. */
hidden byte m, k, x, old;
hidden byte handed;


/* ---- Applying and answering ------------------------------------------- */

/* An answer is taken by the engine of the worker's rank.  It unpins the route
   when it is the last one (rule 9) and tells the rank where the key is. */
inline take_answer(w, from)
{
	answered[w]++;
	if
	:: entry[w] < N && entry[w] != from -> stale[w] = 1
	:: else
	fi;
	if
	:: answered[w] == routed[w] -> entry[w] = NOBODY; stale[w] = 0
	:: else
	fi;
	learn(RANK_OF(w), from)
}

/* Only an absent rank has a cached location, and the home has none (rule 6).
   A location that no worker can use is not kept. */
inline learn(at, loc)
{
#if defined(CACHES) && !defined(ANY_HINT)
	if
	:: role[at] == ABSENT && at != HOME && HAS_WORKER(at) -> hint[at] = loc
	:: else
	fi
#else
	skip
#endif
}

/* Apply push m at rank r, and answer its worker. */
inline apply(r, m)
{
	printf("rank %d: applies push %d of worker %d\n", r, NUM(m), WHO(m));
	assert(NUM(m) == last[WHO(m)] + 1);             /* I2, I3, I4 */
	last[WHO(m)] = NUM(m);
	if
	:: RANK_OF(WHO(m)) == r -> take_answer(WHO(m), r)
	:: else -> answer[m & 15] = r + 1
	fi
}


/* ---- Routing ---------------------------------------------------------- */

/* The home: by its table; by its role only if the table says itself (rule 2). */
inline home_route(m)
{
	if
#ifdef HOME_BY_ROLE
	:: role[HOME] == OWNER -> apply(HOME, m)
	:: role[HOME] == ARRIVING -> enqueue(HOME, m)
#else
	:: owner == HOME && role[HOME] == OWNER -> apply(HOME, m)
	:: owner == HOME && role[HOME] == ARRIVING -> enqueue(HOME, m)
	:: owner == HOME && role[HOME] == ABSENT -> assert(false)
#endif
	:: else -> send_by_table(m)
	fi
}

inline send_by_table(m)
{
	assert(owner != HOME);
	printf("home: sends push %d of worker %d to rank %d\n", NUM(m), WHO(m), owner);
	FIFO(HOME, owner)!(m | BY_HOME)
}

inline enqueue(r, m)
{
	printf("rank %d: arriving, queues push %d of worker %d\n", r, NUM(m), WHO(m));
	queue[r]!m
}

/* Send an operation towards the home.  At the home this is done at once: its
   own operations and localizes are handled inline, both of them (rule 6). */
inline to_home(r, m)
{
	if
	:: r == HOME -> send_by_table(m)
	:: else ->
		printf("rank %d: sends push %d of worker %d to the home\n", r, NUM(m), WHO(m));
		FIFO(r, HOME)!m
	fi
}

/* An operation received by rank r. */
inline receive_op(r, m)
{
	if
	:: r == HOME -> home_route(m)
	:: r != HOME && role[r] == OWNER -> apply(r, m)
	:: r != HOME && role[r] == ARRIVING -> enqueue(r, m)
	:: r != HOME && role[r] == ABSENT ->            /* rule 3 */
		assert(!(m & BY_HOME));
		to_home(r, m)
	fi
}

/* Is the route of worker w pinned to a cached location?  Rules 9 and 10. */
#if defined(NO_ENTRY_RULE)
#define PINNED(r, w)  false
#define MAY_USE_CACHE(r, w)  true
#elif defined(NETWORK_ONLY_ENTRY_RULE)
#define PINNED(r, w)  (entry[w] < N && role[r] == ABSENT)
#define MAY_USE_CACHE(r, w)  (routed[w] == answered[w])
#else
#define PINNED(r, w)  (entry[w] < N)
#define MAY_USE_CACHE(r, w)  (routed[w] == answered[w])
#endif

/* Hold the next operation once it is known that the route is old (rule 11). */
#ifdef NO_HOLD
#define HELD(r, w)  false
#else
#define HELD(r, w)  (PINNED(r, w) && stale[w])
#endif

#ifdef HOME_OWN_BY_TABLE
#define QUEUES_OWN(r)  (role[r] == ARRIVING && (r != HOME || owner == HOME))
#else
#define QUEUES_OWN(r)  (role[r] == ARRIVING)
#endif

/* The engine of rank r routes the next submission of its worker w; `loc` is
   the cached location.  Choosing the route and sending are one step (rule 5). */
inline route(r, w, loc)
{
	m = OP(w, routed[w] + 1);
	x = NOBODY;                              /* a cached location to send to */
	if
	:: PINNED(r, w) -> x = entry[w]
	:: else ->
		if
		:: role[r] == ABSENT && r != HOME && MAY_USE_CACHE(r, w) &&
		   loc < N && loc != r && loc != HOME -> x = loc
		:: else
		fi
	fi;
	if
	:: entry[w] == NOBODY -> entry[w] = (x < N -> x : SELF)
	:: else
	fi;
	routed[w]++;
	if
	:: x < N ->
		printf("rank %d: sends push %d of worker %d to cached rank %d\n", r, NUM(m), w, x);
		FIFO(r, x)!m
	:: x >= N && role[r] == OWNER -> apply(r, m)
	:: x >= N && QUEUES_OWN(r) -> enqueue(r, m)
	:: else -> to_home(r, m)
	fi
}


/* ---- Relocation ------------------------------------------------------- */

/* Rank r wants the key.  Marking it arriving and sending LOCALIZE are one step
   (rule 5).  With an INSTRUCT queued the wish is kept for later (rule 8). */
#define CAN_LOCALIZE(r)  (role[r] == ABSENT || (leaving[r] && !wish[r]))

inline localize(r)
{
	if
	:: role[r] == ABSENT ->
		printf("rank %d: localizes\n", r);
		role[r] = ARRIVING;
		hint[r] = NOBODY;
		if
		:: r == HOME -> home_localize(HOME)
		:: else -> FIFO(r, HOME)!LOCALIZE
		fi
	:: else ->
		printf("rank %d: will localize again\n", r);
		wish[r] = 1
	fi
}

/* Only the home changes the table, in one step with the INSTRUCT (rule 1). */
inline home_localize(from)
{
	assert(owner != from);
	old = owner;
	owner = from;
	printf("home: the owner is now %d, tells %d to hand over\n", from, old);
	if
	:: old == HOME -> instruct(HOME, from)
	:: else -> FIFO(HOME, old)!INSTRUCT(from)
	fi
}

/* INSTRUCT at rank r. */
inline instruct(r, to)
{
	assert(to != r);
	if
	:: role[r] == OWNER -> hand_over(r, to)
	:: role[r] == ARRIVING ->
		printf("rank %d: arriving, queues INSTRUCT\n", r);
		assert(!leaving[r]);
		leaving[r] = 1;
		queue[r]!INSTRUCT(to)
	:: role[r] == ABSENT -> assert(false)
	fi
}

inline hand_over(r, to)
{
	printf("rank %d: hands the value over to rank %d\n", r, to);
	assert(transfer == NOBODY);
	transfer = to;
	role[r] = ABSENT;
	learn(r, to)
}

#define NO_OWNER  (role[0] != OWNER && role[1] != OWNER && \
                   role[2] != OWNER && role[3] != OWNER)

/* TRANSFER at rank r: drain the queue in order, then publish (rule 7).  After a
   queued INSTRUCT the rest goes to the home, then the wish (rule 8). */
inline arrive(r)
{
	printf("rank %d: the value arrives\n", r);
	assert(role[r] == ARRIVING);
	transfer = NOBODY;
	handed = 0;
	do
	:: nempty(queue[r]) ->
		queue[r]?m;
		if
		:: IS_INSTRUCT(m) ->
			handed = 1;
			leaving[r] = 0;
			k = TO(m);
			hand_over(r, k)
		:: IS_OP(m) && !handed -> apply(r, m)
		:: IS_OP(m) && handed ->
			assert(!(m & BY_HOME));
			to_home(r, m)
		fi
	:: empty(queue[r]) -> break
	od;
	if
	:: !handed ->
		assert(NO_OWNER);                                    /* I1 */
		role[r] = OWNER
	:: handed && wish[r] -> wish[r] = 0; localize(r)
	:: else
	fi
}


/* ---- Processes -------------------------------------------------------- */

/* One message from rank s to rank r, if there is one. */
inline receive(r, s)
{
	FIFO(s, r)?m ->
	if
	:: IS_OP(m) -> receive_op(r, m)
	:: m == LOCALIZE -> assert(r == HOME); home_localize(s)
	:: IS_INSTRUCT(m) -> k = TO(m); instruct(r, k)
	fi
}

proctype engine(byte r)
{
end:	do
	:: d_step { receive(r, 0) }
	:: d_step { receive(r, 1) }
	:: d_step { receive(r, 2) }
	:: d_step { receive(r, 3) }
	:: d_step { transfer == r -> arrive(r) }
	:: d_step { budget > 0 && (LOCS & (1 << r)) && CAN_LOCALIZE(r) ->
		budget--;
		localize(r)
	   }
	od
}

/* A worker, with what its rank's engine does for it. */
#define UNROUTED(w)  (issued[w] > routed[w] && !HELD(RANK_OF(w), w))

inline take(w, n)
{
	answer[OP(w, n)] > 0 ->
	x = answer[OP(w, n)] - 1;
	answer[OP(w, n)] = 0;
	printf("rank %d: answer to push %d of worker %d, from rank %d\n", RANK_OF(w), n, w, x);
	take_answer(w, x)
}

proctype worker(byte w)
{
	do
	/* Issue: memory is touched directly only as owner and with nothing
	   unanswered; else the operation is submitted (rules 9, 10, 17). */
	:: d_step { issued[w] < OPS_OF(w) ->
		if
		:: role[RANK_OF(w)] == OWNER && issued[w] == answered[w] ->
			printf("worker %d: direct access\n", w);
			issued[w]++;
			routed[w]++;
			m = OP(w, issued[w]);
			apply(RANK_OF(w), m)
		:: else ->
			issued[w]++
		fi
	   }
	/* The engine routes the next submission. */
#ifdef ANY_HINT
	:: d_step { UNROUTED(w) -> route(RANK_OF(w), w, 0) }
	:: d_step { UNROUTED(w) -> route(RANK_OF(w), w, 1) }
	:: d_step { UNROUTED(w) -> route(RANK_OF(w), w, 2) }
	:: d_step { UNROUTED(w) -> route(RANK_OF(w), w, 3) }
#else
	:: d_step { UNROUTED(w) -> route(RANK_OF(w), w, hint[RANK_OF(w)]) }
#endif
	/* The engine takes an answer, in any order. */
	:: d_step { take(w, 1) }
	:: d_step { take(w, 2) }
	:: d_step { take(w, 3) }
	:: d_step { take(w, 4) }
	:: answered[w] == OPS_OF(w) -> break
	od
}

/* The ranks may stop to localize at any moment: so the check at the end sees
   every number of localizes up to MAXLOC. */
proctype stop()
{
end:	d_step { budget > 0 -> budget = 0 }
}

init
{
	atomic {
		d_step {
			k = 0;
			do
			:: k < N ->
				hint[k] = NOBODY;
				role[k] = ABSENT;
				k++
			:: else -> break
			od;
			role[OWNER0] = OWNER;
			entry[0] = NOBODY;
			entry[1] = NOBODY;
			/* Caches start warm: the workers' ranks know the first owner. */
			learn(W0, OWNER0);
			learn(W1, OWNER0)
		}
		run engine(0); run engine(1); run engine(2); run engine(3);
		run stop();
		run worker(0);
		if
		:: OPS1 > 0 -> run worker(1)
		:: else
		fi
	}

	/* Nothing can move any more. */
	timeout;
	d_step {
		assert(answered[0] == OPS0 && answered[1] == OPS1);  /* no deadlock */
		assert(last[0] == OPS0 && last[1] == OPS1);          /* I2 */
		assert(transfer == NOBODY);
		old = 0;
		k = 0;
		do
		:: k < N ->
			assert(empty(queue[k]) && !wish[k] && !leaving[k]);
			assert(role[k] != ARRIVING);
			old = old + (role[k] == OWNER);
			k++
		:: else -> break
		od;
		assert(old == 1 && role[owner] == OWNER);            /* I1 */
		k = 0;
		do
		:: k < N * N -> assert(empty(fifo[k])); k++
		:: else -> break
		od
	}
}
