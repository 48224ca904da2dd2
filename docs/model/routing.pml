/* Executing, answering and routing operations. */

/* ---- Applying and answering ------------------------------------------- */

/* An answer is taken by the engine of the worker's rank.  It unpins the route
   when it is the last one (rule 9) and names the domain where the key is. */
inline take_answer(w, from)
{
	answered[w]++;
	if
	:: entry[w] < N && entry[w] != from -> stale[w] = 1
	:: else
	fi;
	if
	:: answered[w] == routed[w] -> entry[w] = NO_RANK; stale[w] = 0
	:: else
	fi;
	learn(DOMAIN_OF(w), from)
}

/* Only an absent domain has a cached location, another one than itself, and the
   home has none (rule 6).  A location that no worker can use is not kept. */
inline learn(at, loc)
{
#if defined(CACHES) && !defined(ANY_HINT)
	if
	:: role[at] == ABSENT && at != HOME && at != loc && HAS_WORKER(at) -> hint[at] = loc
	:: else
	fi
#else
	skip
#endif
}

inline apply_now(m)
{
	assert(NUM(m) == last[WHO(m)] + 1);             /* I2, I3, I4 */
	last[WHO(m)] = NUM(m)
}

/* Engine r applies push m, and answers its worker. */
inline apply(r, m)
{
	printf("rank %d: applies push %d of worker %d\n", r, NUM(m), WHO(m));
	assert(!IS_HELD);
	apply_now(m);
	if
	:: DOMAIN_OF(WHO(m)) == r && !IS_NEIGHBOUR(WHO(m)) -> take_answer(WHO(m), r)
	:: else -> answer[m & 15] = r + 1
	fi
}

/* Worker w applies its next push in the memory of its domain. */
inline touch(w)
{
	printf("worker %d: applies push %d directly\n", w, routed[w] + 1);
	routed[w]++;
	answered[w]++;
	m = OP(w, routed[w]);
	apply_now(m)
}


/* ---- What a domain does with an operation ------------------------------ */

inline enqueue(r, m)
{
	queue[r]!m;
#if MAXLEASE > 0
	queued[r] = leased[r]
#endif
}

inline enqueue_op(r, m)
{
	printf("rank %d: queues push %d of worker %d\n", r, NUM(m), WHO(m));
	enqueue(r, m)
}

/* The home: by its table; by its role only if the table says itself (rule 2). */
inline home_route(m)
{
	if
#ifdef HOME_BY_ROLE
	:: IS_OPEN(HOME) -> apply(HOME, m)
	:: WAITING(HOME) -> enqueue_op(HOME, m)
#else
	:: owner == HOME && IS_OPEN(HOME) -> apply(HOME, m)
	:: owner == HOME && WAITING(HOME) -> enqueue_op(HOME, m)
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

/* An operation received by rank r, from another domain or from a neighbour. */
inline receive_op(r, m)
{
	if
	:: r == HOME -> home_route(m)
	:: r != HOME && IS_OPEN(r) -> apply(r, m)
	:: r != HOME && WAITING(r) -> enqueue_op(r, m)
	:: r != HOME && role[r] == ABSENT ->            /* rule 3 */
		assert(!(m & BY_HOME));
		to_home(r, m)
	fi
}


/* ---- Where a worker's operation enters --------------------------------- */

/* Is the route of worker w pinned to another rank?  Rules 9 and 10. */
#if defined(NO_ENTRY_RULE)
#define PINNED(r, w)  false
#define MAY_USE_CACHE(r, w)  true
#elif defined(NETWORK_ONLY_ENTRY_RULE)
#define PINNED(r, w)  (entry[w] < N && role[r] == ABSENT)
#define MAY_USE_CACHE(r, w)  (routed[w] == answered[w])
#elif defined(NEIGHBOUR_SWITCHES_ENTRY)
#define PINNED(r, w)  (entry[w] < N && !(entry[w] == HOME && role[r] != ABSENT))
#define MAY_USE_CACHE(r, w)  (routed[w] == answered[w])
#else
#define PINNED(r, w)  (entry[w] < N)
#define MAY_USE_CACHE(r, w)  (routed[w] == answered[w])
#endif

/* Hold the next operation once it is known that the route is old (rule 11). */
#ifdef NO_HOLD
#define IS_HELD_BACK(r, w)  false
#else
#define IS_HELD_BACK(r, w)  (PINNED(r, w) && stale[w])
#endif

#ifdef HOME_OWN_BY_TABLE
#define QUEUES_OWN(r)  (WAITING(r) && (r != HOME || owner == HOME))
#else
#define QUEUES_OWN(r)  WAITING(r)
#endif

/* The engine of serving rank r routes the next submission of its worker w; `loc`
   is the cached location.  Choosing the route and sending are one step (rule 5). */
inline route(r, w, loc)
{
	m = OP(w, routed[w] + 1);
	x = NO_RANK;                             /* a cached location to send to */
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
	:: entry[w] == NO_RANK -> entry[w] = (x < N -> x : SELF)
	:: else
	fi;
	routed[w]++;
	if
	:: x < N ->
		printf("rank %d: sends push %d of worker %d to cached rank %d\n", r, NUM(m), w, x);
		FIFO(r, x)!m
	:: x >= N && IS_OPEN(r) -> apply(r, m)
	:: x >= N && QUEUES_OWN(r) -> enqueue_op(r, m)
	:: else -> to_home(r, m)
	fi
}

#ifdef NEIGHBOUR_DIRECT
#define ENGINE_MAY_TOUCH(w)  true
#else
#define ENGINE_MAY_TOUCH(w)  (routed[w] == answered[w])
#endif

/* The engine of a neighbour routes the next submission of its worker: to the
   entry of what is unanswered (rule 16); else it touches memory where it may, and
   where not it sends to a serving rank: that of its own domain r unless the word
   says absent, else that of the cached location or of the home.  Sending may come
   long after looking: the channel has room for that delay. */
inline route_neighbour(r, w, loc, addressable)
{
	x = NO_RANK;
	if
	:: ENGINE_MAY_TOUCH(w) && IS_OPEN(r) && addressable -> touch(w)
	:: else ->
		if
		:: PINNED(r, w) -> x = entry[w]
		:: else ->
			if
			:: role[r] != ABSENT -> x = r
			:: role[r] == ABSENT && r != HOME && loc < N && loc != HOME -> x = loc
			:: else -> x = HOME
			fi
		fi;
		entry[w] = x;
		routed[w]++;
		m = OP(w, routed[w]);
		printf("worker %d: its rank sends push %d to rank %d\n", w, NUM(m), x);
		FIFO(NEIGHBOUR_RANK(w), x)!m
	fi
}
