/* Localizing, transferring ownership, arriving. */

/* Domain r wants the key.  Marking it arriving and sending LOCALIZE are one step
   (rule 5).  With an INSTRUCT queued the re-localize is pending (rule 8). */
#define CAN_LOCALIZE(r)  (role[r] == ABSENT || \
                          (role[r] == ARRIVING && leaving[r] && !relocalize[r]))

inline localize(r)
{
	if
	:: role[r] == ABSENT ->
		printf("rank %d: localizes\n", r);
		role[r] = ARRIVING;
		hint[r] = NO_RANK;
		if
		:: r == HOME -> home_localize(HOME)
		:: else -> FIFO(r, HOME)!LOCALIZE
		fi
	:: else ->
		printf("rank %d: will localize again\n", r);
		relocalize[r] = 1
	fi
}

/* Only the home changes the table, in one step with the INSTRUCT (rule 1). */
inline home_localize(from)
{
	assert(owner != from);
	old = owner;
	owner = from;
	printf("home: the owner is now %d, instructs %d\n", from, old);
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
	:: IS_OPEN(r) -> transfer_ownership(r, to)
	:: WAITING(r) ->
		printf("rank %d: queues INSTRUCT\n", r);
		assert(!leaving[r]);
		leaving[r] = 1;
		enqueue(r, INSTRUCT(to))
	:: role[r] == ABSENT -> assert(false)
	fi
}

inline transfer_ownership(r, to)
{
	printf("rank %d: transfers ownership to rank %d\n", r, to);
	assert(transfer == NO_RANK && !IS_HELD);
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
	transfer = NO_RANK;
	assert(NO_OWNER);                                            /* I1 */
	drain(r)
}

/* The queue of rank r, which has the value: up to its end, or to a lease that
   begins.  After an INSTRUCT the rest goes to the home, then the re-localize (rule 8);
   requests for leases stay: they re-localize too, and wait for the next arrival. */
inline drain(r)
{
	transferred = 0;
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
			transferred = 1;
			leaving[r] = 0;
			k = TO(m);
			transfer_ownership(r, k)
		:: IS_OP(m) && !transferred -> apply(r, m)
		:: IS_OP(m) && transferred ->
			assert(!(m & BY_HOME));
			to_home(r, m)
#if MAXLEASE > 0
		:: IS_LEASE(m) && !transferred ->
			grant(r, WHO(m));
			queued[r] = nempty(queue[r]);
			break
		:: IS_LEASE(m) && transferred -> queue[r]!m
#endif
		fi
	:: else -> break
	od;
	answer_wants(r);
	if
	:: !transferred -> role[r] = OWNER
	:: transferred && (relocalize[r] || nempty(queue[r])) -> relocalize[r] = 0; localize(r)
	:: transferred && !relocalize[r] && empty(queue[r])
	fi
}


/* ---- Refusing --------------------------------------------------------- */

#if REFUSALS > 0
#define REFUSE_SENT   1
#define QUEUE_STAYS   2   /* faulty variant: the key is absent, its queue is not empty */

#define MAY_REFUSE(s) (refusals_left > 0 && FIFO(s, HOME)?[LOCALIZE])

/* The home cannot make the key: nothing changes there. */
inline refuse(s)
{
	FIFO(s, HOME)?m;
	printf("home: refuses rank %d\n", s);
	refusals_left--;
	refused[s] = REFUSE_SENT
}

/* REFUSE at rank r: absent, and the queue sent to the home in order, in one
   step (rule R2).  Requests for leases and localizes have failed. */
inline take_refusal(r)
{
	printf("rank %d: is refused the key\n", r);
	assert(role[r] == ARRIVING && !leaving[r] && !relocalize[r]);
	role[r] = ABSENT;
	transferred = 0;
	answer_wants(r);
#ifdef REFUSED_QUEUE_LATER
	refused[r] = QUEUE_STAYS
#else
	send_away(r)
#endif
}

inline send_away(r)
{
	rest = len(queue[r]);
	do
	:: rest > 0 ->
		rest--;
		queue[r]?m;
		if
		:: IS_OP(m) ->
			assert(!(m & BY_HOME));
			to_home(r, m)
#if MAXLEASE > 0
		:: IS_LEASE(m) ->
			printf("worker %d: is refused a lease\n", WHO(m));
			lease[WHO(m)] = NO
#endif
		fi
	:: else -> break
	od;
	refused[r] = 0
}
#endif


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
		wanted[w] = AT_RELOCALIZE;
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
	:: DOMAIN_OF(w) == r && wanted[w] == AT_RELOCALIZE && transferred -> wanted[w] = AT_ARRIVAL
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
		hint[DOMAIN_OF(w)] = NO_RANK;
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
