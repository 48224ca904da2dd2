/* A domain that is not the owner: replicas, and what it has pending. */

inline forget_copy(r)
{
	val[r] = 0;
	base[r] = 0;
	ver[r] = 0;
	nbit[r] = 0;
	unacked[r] = 0
}

/* Requests for leases wait in the queue of the arrival. */
inline queue_request(w, r)
{
#if LEASES > 0
	if
	:: asked[w] == PENDING && DOMAIN_OF(w) == r ->
		asked[w] = IN_QUEUE;
		queue[r]!MESSAGE(LEASE, w), 0
	:: else
	fi
#else
	skip
#endif
}

/* LOCALIZE.  At the home: the table changes, and INSTRUCT goes to the old owner, in one step. */
inline localize(r, new_role)
{
	printf("domain %d: localizes\n", r);
	role[r] = new_role;
	manual[r] = 0;
	offered[r] = 0;
	queue_request(0, r);
	queue_request(1, r);
	if
	:: r == HOME ->
		MUST(one_owner, table != HOME);
		FIFO(HOME, table)!MESSAGE(INSTRUCT, HOME), 0;
		table = HOME
	:: else -> FIFO(r, HOME)!MESSAGE(LOCALIZE, r), 0
	fi
}

/* ON and DELTA may enter at a cached location: any domain that is not the home. */
inline to_home_or_cached(r)
{
	if
	:: by_cache ->
		printf("domain %d: sends it to the cached domain %d\n", r, 3 - r);
		FIFO(r, 3 - r)!m, d
	:: else -> to_home(r)
	fi
}

inline close(r)
{
	printf("domain %d: ends its replica with OFF\n", r);
#ifdef OFF_WITHOUT_DELTA
	d = 0;
#else
	d = (role[r] == REPLICA -> val[r] & ~base[r] : 0);
#endif
	m = MESSAGE(OFF, r) + WITH_VERSION(ver[r]);
	offered[r] = 0;
	forget_copy(r);
#ifdef NO_ACK
	role[r] = ABSENT;
	settle_required();
#else
	role[r] = CLOSING;
#endif
	to_home_or_cached(r)
}


/* ---- What is pending (rules 12, 17) -------------------------------------- */

#ifdef LOCALIZE_BEFORE_REPLY
#define LOCALIZES(r)          ((role[r] == ABSENT || role[r] == AWAITING) && manual[r])
#else
#define LOCALIZES(r)          (role[r] == ABSENT && manual[r])
#endif
#define ANNOUNCES(r)          (role[r] == ABSENT && !manual[r] && INTERESTED(r))
#define AT_REPLICA(r)         (role[r] == REPLICA && !unacked[r])
#define UPGRADES(r)           (AT_REPLICA(r) && (manual[r] || (offered[r] && want[r])))
#ifdef OFF_BEFORE_REPLY
#define CLOSES(r)             ((AT_REPLICA(r) || role[r] == AWAITING) && !manual[r] && !want[r])
#else
#define CLOSES(r)             (AT_REPLICA(r) && !manual[r] && !want[r])
#endif
#ifdef PIPELINED_DELTAS
#define SENDS_DELTA(r)        (role[r] == REPLICA && val[r] != base[r] && len(queue[r]) == 0)
#else
#define SENDS_DELTA(r)        (AT_REPLICA(r) && val[r] != base[r] && len(queue[r]) == 0)
#endif
#define ACTS(r)               (LOCALIZES(r) || ANNOUNCES(r) || UPGRADES(r) || CLOSES(r) || SENDS_DELTA(r))

inline announce(r)
{
#if REFUSALS > 0
	MUST(no_livelock, !refused[r]);
#endif
	printf("domain %d: announces its intent with ON\n", r);
	role[r] = AWAITING;
	m = MESSAGE(ON, r);
	d = 0;
	to_home_or_cached(r)
}

inline send_delta(r)
{
	printf("domain %d: sends DELTA\n", r);
	nbit[r] = !nbit[r];
	unacked[r] = 1;
	m = MESSAGE(DELTA, r) + WITH_BIT(nbit[r]) + WITH_VERSION(ver[r]);
	d = val[r] & ~base[r];
	base[r] = val[r];
	to_home_or_cached(r)
}


/* ---- What it receives --------------------------------------------------- */

#ifdef SNAPSHOT_OVERWRITES
#define SNAPSHOT_IS_NEWER(r, version)  true
#else
#define SNAPSHOT_IS_NEWER(r, version)  (version > ver[r])
#endif
#ifdef LATE_REPLIES
#define DROPS_REPLY(r)  (role[r] != AWAITING)
#else
#define DROPS_REPLY(r)  false
#endif

inline take_snapshot(r, version, value)
{
	if
	:: SNAPSHOT_IS_NEWER(r, version) -> val[r] = value; ver[r] = version
	:: else
	fi;
	base[r] = val[r];
	role[r] = REPLICA;
	settle_required()
}

inline take_offer_new(r)
{
	forget_copy(r);
	if
	:: want[r] || manual[r] -> localize(r, ARRIVING)
	:: else -> close(r)
	fi
}

#if REFUSALS > 0
inline take_refusal(r)
{
	forget_copy(r);
	role[r] = ABSENT;
	settle_required();
	refused[r] = want[r];
#ifndef REFUSED_ASKS_AGAIN
	marked[r] = want[r];
#endif
#ifndef REFUSED_KEEPS_OFFER
	offered[r] = 0
#endif
}
#endif

/* The reply to ON (rules 13, 15, 27). */
inline take_reply(r, kind, version, value)
{
	MUST(routing, role[r] == AWAITING || DROPS_REPLY(r));
	printf("domain %d: takes the reply to ON\n", r);
	if
#ifdef ONE_OFFER
	:: kind == OFFER_NEW && role[r] == REPLICA -> offered[r] = 1
#endif
	:: DROPS_REPLY(r)
	:: !DROPS_REPLY(r) && kind == SNAPSHOT -> take_snapshot(r, version, value)
	:: !DROPS_REPLY(r) && kind == OFFER_NEW -> take_offer_new(r)
#if REFUSALS > 0
	:: !DROPS_REPLY(r) && kind == REFUSED -> take_refusal(r)
#endif
	fi
}

#ifdef OLD_REFRESH
#define IS_NEWER(r, i)  true
#else
#define IS_NEWER(r, i)  (ref_ver[(r) * REFRESHES + (i)] > ver[r])
#endif

#ifdef ONLY_DIRECT_REPLY
#define MATCHES(r)  (ref_bit[k] == 2 + nbit[r])
#else
#define MATCHES(r)  ((ref_bit[k] & 1) == nbit[r])
#endif

/* REFRESH number i of those in flight (rule 14). */
inline take_refresh(r, i)
{
	k = (r) * REFRESHES + (i);
	printf("domain %d: takes REFRESH, version %d\n", r, ref_ver[k]);
	if
#ifdef REFRESH_IS_SNAPSHOT
	:: role[r] == AWAITING ->
		val[r] = ref_val[k];
		base[r] = val[r];
		ver[r] = ref_ver[k];
		role[r] = REPLICA;
		settle_required()
#elif !defined(AWAITING_DROPS_REFRESH)
	:: role[r] == AWAITING && IS_NEWER(r, i) ->
		val[r] = ref_val[k];
		ver[r] = ref_ver[k];
		settle_required()
#endif
	:: SHOWS_COPY(r) && IS_NEWER(r, i) && !(unacked[r] && !MATCHES(r)) ->
		d = val[r] & ~base[r];
		MUST(exactly_once, !(ref_val[k] & d));
		base[r] = ref_val[k];
		val[r] = base[r] | d;
		ver[r] = ref_ver[k];
		unacked[r] = 0;
		settle_required();
		empty_replica_queue(r)
	:: else
	fi;
	k = (r) * REFRESHES + (i);
	do
	:: k + 1 < ((r) + 1) * REFRESHES ->
		ref_val[k] = ref_val[k + 1];
		ref_ver[k] = ref_ver[k + 1];
		ref_bit[k] = ref_bit[k + 1];
		k++
	:: else -> break
	od;
	ref_val[k] = 0;
	ref_ver[k] = 0;
	ref_bit[k] = 0;
	refreshes[r]--
}

inline take_offer(r)
{
	offers[r]--;
	printf("domain %d: takes the OFFER to the last holder\n", r);
	if
#ifdef ONE_OFFER
	:: role[r] == AWAITING -> take_offer_new(r)
	:: role[r] == REPLICA -> offered[r] = 1
#elif defined(OFFER_DROPPED)
	:: (role[r] == AWAITING || role[r] == REPLICA) && want[r] -> offered[r] = 1
#else
	:: role[r] == AWAITING || role[r] == REPLICA -> offered[r] = 1
#endif
	:: else
	fi
}

inline take_ack(r)
{
	MUST(routing, role[r] == CLOSING);
	printf("domain %d: OFF is acknowledged\n", r);
	ack[r] = 0;
	role[r] = ABSENT;
	settle_required()
}
