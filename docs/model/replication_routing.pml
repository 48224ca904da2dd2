/* Where messages about the key go: the home, queues, answers. */

/* From domain r to the home.  At the home this is done at once, and its table names another domain. */
inline to_home(r)
{
	if
	:: r == HOME ->
		MUST(routing, table != HOME);
		printf("home: sends a message to domain %d\n", table);
		FIFO(HOME, table)!(m | BY_HOME), d
	:: else ->
		printf("domain %d: sends a message to the home\n", r);
		FIFO(r, HOME)!m, d
	fi
}

inline enqueue(r)
{
	printf("domain %d: queues it\n", r);
	queue[r]!m, d;
#if LEASES > 0
	queued = IS_LEASED
#endif
}

#ifdef UPGRADING_FORWARDS
#define QUEUES(r)   (role[r] == ARRIVING)
#else
#define QUEUES(r)   (role[r] == ARRIVING || role[r] == UPGRADING)
#endif

#if defined(LEASED_EXECUTES)
#define HANDLES(r)  (IS_OPEN(r) || (role[r] == OWNER && KIND(m) == OP))
#elif defined(LEASED_MERGES)
#define HANDLES(r)  (IS_OPEN(r) || (role[r] == OWNER && KIND(m) == DELTA))
#else
#define HANDLES(r)  IS_OPEN(r)
#endif

#define IS_MAIN_ONLY(w, n)  ((MAIN_ONLY & PUSH(w, n)) != 0)

#if MAIN_ONLY == 0 || defined(MAIN_ONLY_AT_ONCE)
#define QUEUES_AT_REPLICA(r)  false
#elif defined(LATER_PASS)
#define QUEUES_AT_REPLICA(r)  (role[r] == REPLICA && KIND(m) == OP && DOMAIN_OF(WHO(m)) == r && \
                               !(m & BY_HOME) && IS_MAIN_ONLY(WHO(m), NUM(m)))
#else
#define QUEUES_AT_REPLICA(r)  (role[r] == REPLICA && KIND(m) == OP && DOMAIN_OF(WHO(m)) == r && \
                               !(m & BY_HOME) && (IS_MAIN_ONLY(WHO(m), NUM(m)) || len(queue[r]) > 0))
#endif

#if defined(QUEUE_NOT_WAITING)
#define MAY_EMPTY(r)  true
#elif defined(CACHES)
#define MAY_EMPTY(r)  (!unacked[r])
#else
#define MAY_EMPTY(r)  (!unacked[r] || val[r] == base[r])
#endif

/* An operation, ON, DELTA or OFF that reaches domain r (rule 2).  The home goes by its table. */
inline deliver(r)
{
	if
	:: QUEUES_AT_REPLICA(r) ->
		printf("domain %d: queues it\n", r);
		queue[r]!m, d;
		empty_replica_queue(r)
	:: else ->
		if
		:: (r == HOME -> table == HOME : role[r] == OWNER || QUEUES(r)) ->
			if
			:: HANDLES(r) -> handle(r)
			:: else ->
				MUST(routing, WAITING(r));
				enqueue(r)
			fi
		:: else ->
			MUST(routing, !(m & BY_HOME));
			to_home(r)
		fi
	fi
}

/* ---- Operations that a replica cannot execute (rule 26) ---------------- */

#ifdef UPGRADING_EMPTIES
#define HAS_REPLICA_QUEUE(r)  (SHOWS_COPY(r) && len(queue[r]) > 0)
#else
#define HAS_REPLICA_QUEUE(r)  (role[r] == REPLICA && len(queue[r]) > 0)
#endif

/* The queue of a replica goes to the home in one step; its first operation carries the delta.  The queue of an
   upgrading domain waits for the value (rule 18). */
inline empty_replica_queue(r)
{
#if MAIN_ONLY > 0
	if
	:: HAS_REPLICA_QUEUE(r) && MAY_EMPTY(r) ->
		rest = len(queue[r]);
		do
		:: rest > 0 ->
			rest--;
			queue[r]?m, d;
#ifndef QUEUE_WITHOUT_DELTA
			if
			:: val[r] != base[r] ->
				printf("domain %d: puts its delta in front of the next message\n", r);
				nbit[r] = !nbit[r];
				unacked[r] = 1;
				m = (m | CARRIES | WITH_BIT(nbit[r])) + WITH_VERSION(ver[r]);
				d = val[r] & ~base[r];
				base[r] = val[r]
			:: else
			fi;
#endif
			to_home(r)
		:: else -> break
		od
	:: else
	fi
#else
	skip
#endif
}


/* ---- Answers ---------------------------------------------------------- */

/* An answer carries the version of main (rule 25). */
#if defined(NO_REQUIRED)
#define RECORDS(r)  false
#elif defined(REQUIRED_ONLY_AT_REPLICA)
#define RECORDS(r)  SHOWS_COPY(r)
#else
#define RECORDS(r)  (role[r] == AWAITING || SHOWS_COPY(r))
#endif

inline take_answer(w, version)
{
	answered[w]++;
	printf("worker %d: takes an answer, version %d\n", w, version);
	if
	:: RECORDS(DOMAIN_OF(w)) && ver[DOMAIN_OF(w)] < version && required[w] < version ->
		required[w] = version
	:: else
	fi;
	if
	:: answered[w] == issued[w] -> entry[w] = NONE
	:: else
	fi
}

/* It is forgotten when satisfied, or where nothing is left to compare it with. */
#define SATISFIED(w)  (role[DOMAIN_OF(w)] == ABSENT || role[DOMAIN_OF(w)] == OWNER || \
                       ver[DOMAIN_OF(w)] >= required[w])
inline settle_required()
{
	if
	:: required[0] && SATISFIED(0) -> required[0] = 0
	:: else
	fi;
	if
	:: required[1] && SATISFIED(1) -> required[1] = 0
	:: else
	fi
}
