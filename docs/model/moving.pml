/* Localizing, handing over, arriving. */

/* Domain r wants the key.  Marking it arriving and sending LOCALIZE are one step
   (rule 5).  With an INSTRUCT queued the wish is kept for later (rule 8). */
#define CAN_LOCALIZE(r)  (role[r] == ABSENT || \
                          (role[r] == ARRIVING && leaving[r] && !wish[r]))

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
	:: IS_OPEN(r) -> hand_over(r, to)
	:: WAITING(r) ->
		printf("rank %d: queues INSTRUCT\n", r);
		assert(!leaving[r]);
		leaving[r] = 1;
		enqueue(r, INSTRUCT(to))
	:: role[r] == ABSENT -> assert(false)
	fi
}

inline hand_over(r, to)
{
	printf("rank %d: hands the value over to rank %d\n", r, to);
	assert(transfer == NOBODY && !IS_HELD);
	transfer = to;
	role[r] = ABSENT;
	learn(r, to)
}

#define NO_OWNER  (role[0] != OWNER && role[1] != OWNER && \
                   role[2] != OWNER && role[3] != OWNER)

/* TRANSFER at rank r: drain the queue in order, then publish (rule 7). */
inline arrive(r)
{
	printf("rank %d: the value arrives\n", r);
	assert(role[r] == ARRIVING);
	transfer = NOBODY;
	assert(NO_OWNER);                                            /* I1 */
	drain(r)
}

/* The queue of rank r, which has the value: up to its end, or to a lease that
   begins.  After an INSTRUCT the rest goes to the home, then the wish (rule 8);
   requests for leases stay: they are a wish too, and wait for the next arrival. */
inline drain(r)
{
	handed = 0;
	rest = len(queue[r]);
#if MAXLEASE > 0
	leased[r] = 0;
	queued[r] = 0;
#endif
	do
	:: rest > 0 ->
		rest--;
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
#if MAXLEASE > 0
		:: IS_LEASE(m) && !handed ->
			grant(r, WHO(m));
			queued[r] = nempty(queue[r]);
			break
		:: IS_LEASE(m) && handed -> queue[r]!m
#endif
		fi
	:: else -> break
	od;
	answer_wants(r);
	if
	:: !handed -> role[r] = OWNER
	:: handed && (wish[r] || nempty(queue[r])) -> wish[r] = 0; localize(r)
	:: handed && !wish[r] && empty(queue[r])
	fi
}


/* ---- What a neighbour asks its serving rank to localize ---------------- */

#if NEIGHBOURS > 0
/* WANT at rank r: answered now, by the next arrival, or by the one after it. */
inline want(r, w)
{
	if
	:: role[r] == OWNER ->
		printf("rank %d: worker %d wants the key, which is here\n", r, w);
		wanted[w] = NO
	:: role[r] == ARRIVING && !leaving[r] ->
		printf("rank %d: worker %d waits for the arrival\n", r, w);
		wanted[w] = AT_ARRIVAL
	:: role[r] == ARRIVING && leaving[r] ->
		wanted[w] = AT_WISH;
		localize(r)
	:: role[r] == ABSENT ->
		wanted[w] = AT_ARRIVAL;
		localize(r)
	fi
}

inline answer_want(r, w)
{
	if
	:: DOMAIN_OF(w) == r && wanted[w] == AT_ARRIVAL -> wanted[w] = NO
	:: DOMAIN_OF(w) == r && wanted[w] == AT_WISH && handed -> wanted[w] = AT_ARRIVAL
	:: else
	fi
}

inline neighbour_localizes(w)
{
#ifdef NEIGHBOUR_LOCALIZES
	if
	:: role[DOMAIN_OF(w)] == ABSENT ->
		printf("worker %d: marks the key arriving, its rank sends LOCALIZE to the home\n", w);
		role[DOMAIN_OF(w)] = ARRIVING;
		hint[DOMAIN_OF(w)] = NOBODY;
		wanted[w] = AT_ARRIVAL;
		FIFO(NEIGHBOUR_RANK(w), HOME)!LOCALIZE
	:: else
	fi
#else
	printf("worker %d: asks its serving rank to localize\n", w);
	wanted[w] = ASKED;
	FIFO(NEIGHBOUR_RANK(w), DOMAIN_OF(w))!WANT(w)
#endif
}
#endif

inline answer_wants(r)
{
#if NEIGHBOURS > 0
	answer_want(r, 0);
	answer_want(r, 1)
#else
	skip
#endif
}
