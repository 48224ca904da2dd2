/* Workers: direct accesses, and where their operations enter. */

#ifdef DIRECT_UNANSWERED
#define NONE_UNANSWERED(w)  true
#else
#define NONE_UNANSWERED(w)  (issued[w] == answered[w])
#endif

/* Memory of the own domain (rules 22, 23). */
#define ON_MAIN(w)   (IS_OPEN(DOMAIN_OF(w)) || HELD_BY(w))
#ifdef REQUIRED_PER_DOMAIN
#define SATISFIES(w)  (ver[DOMAIN_OF(w)] >= required[0] && ver[DOMAIN_OF(w)] >= required[1])
#else
#define SATISFIES(w)  (ver[DOMAIN_OF(w)] >= required[w])
#endif
#define ON_COPY(w)   (SHOWS_COPY(DOMAIN_OF(w)) && SATISFIES(w))
#define MAY_READ(w)  (NONE_UNANSWERED(w) && !ASKS(w) && (ON_MAIN(w) || ON_COPY(w)))
#define MAY_TOUCH(w) (NONE_UNANSWERED(w) && \
                      (ON_MAIN(w) || (ON_COPY(w) && !IS_MAIN_ONLY(w, issued[w] + 1))))
#define SHOWN_TO(w)  (role[DOMAIN_OF(w)] == OWNER -> main_val : val[DOMAIN_OF(w)])

inline read(w)
{
	x = SHOWN_TO(w);
	printf("worker %d: reads directly\n", w);
	MUST(monotonic_reads, !(seen[w] & ~x));
	MUST(program_order, IN_ORDER(x));
	seen[w] = x
}

inline touch(w)
{
	issued[w]++;
	answered[w]++;
	k = DOMAIN_OF(w);
	printf("worker %d: push %d, directly\n", w, issued[w]);
	if
	:: role[k] == OWNER ->
		execute(w, issued[w]);
		if
		:: HELD_BY(w)
		:: else -> change()
		fi
	:: else ->
		MUST(monotonic_reads, !(seen[w] & ~val[k]));
		val[k] = val[k] | PUSH(w, issued[w]);
		MUST(program_order, IN_ORDER(val[k]));
		seen[w] = val[k]
	fi
}

/* Where the next operation may enter (rules 22, 24): at the own domain's serving rank, at a cached location,
   and from a neighbour at the home. */
#define AWAY(w)        (role[DOMAIN_OF(w)] == ABSENT)
#ifdef CACHES
#define CACHED(w, at)  (AWAY(w) && DOMAIN_OF(w) != HOME && (at) != HOME && (at) != DOMAIN_OF(w))
#else
#define CACHED(w, at)  false
#endif
#ifdef CLOSING_STRAIGHT_HOME
#define PAST_S(w)      (AWAY(w) || role[DOMAIN_OF(w)] == CLOSING)
#else
#define PAST_S(w)      AWAY(w)
#endif
#define FIRST_ENTRY(w, at) \
	(CACHED(w, at) || \
	 (IS_NEIGHBOUR(w) && PAST_S(w) && (at) == HOME) || \
	 (!(IS_NEIGHBOUR(w) && PAST_S(w)) && (at) == DOMAIN_OF(w)))
#define MAY_ENTER(w, at)   (entry[w] == NONE -> FIRST_ENTRY(w, at) : entry[w] == (at))

inline submit(w, at)
{
	issued[w]++;
	entry[w] = at;
	printf("worker %d: push %d, enters at domain %d\n", w, issued[w], at);
	m = MESSAGE(OP, w) + NUMBERED(issued[w]);
	d = 0;
	if
	:: IS_NEIGHBOUR(w) -> SIDE(w, at)!m, d
	:: !IS_NEIGHBOUR(w) && at == DOMAIN_OF(w) -> deliver(at)
	:: else -> FIFO(DOMAIN_OF(w), at)!m, d
	fi
}


/* ---- Leases (rule 29) --------------------------------------------------- */

#if LEASES > 0
/* A worker has the key for itself; to all others the owner is arriving.  Where the key is not open the request
   waits: in the queue of an arriving or leased domain, else for a manual localize. */
#define MAY_LEASE(w)  (leases_left && issued[w] == answered[w] && !ASKS(w) && !HELD_BY(w))

inline lease(w)
{
	leases_left--;
	k = DOMAIN_OF(w);
	if
	:: IS_OPEN(k) -> grant(w, k)
	:: WAITING(k) ->
		printf("worker %d: its request for a lease is queued\n", w);
		asked[w] = IN_QUEUE;
		m = MESSAGE(LEASE, w);
		d = 0;
		enqueue(k)
	:: else ->
		printf("worker %d: its domain localizes for a lease\n", w);
		asked[w] = PENDING;
		manual[k] = 1
	fi
}

inline release(w)
{
	holder = 2;
	printf("worker %d: gives its lease back\n", w);
#ifdef RELEASE_DOES_NOT_RAISE
	dirty = members;
#else
	change();
#endif
	if
	:: queued -> queued = 0; drain(DOMAIN_OF(w))
	:: else
	fi
}
#endif
