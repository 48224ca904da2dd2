/* A domain that is not the owner: replicas, and what it wishes. */

inline forget_copy(r)
{
	val[r] = 0;
	base[r] = 0;
	ver[r] = 0;
	nbit[r] = 0;
	unacked[r] = 0
}

/* LOCALIZE.  At the home: the table changes, and INSTRUCT goes to the old owner, in one step. */
inline localize(r, new_role)
{
	role[r] = new_role;
	manual[r] = 0;
	offered[r] = 0;
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
	:: by_cache -> FIFO(r, 3 - r)!m, d
	:: else -> to_home(r)
	fi
}

inline close(r)
{
#ifdef OFF_WITHOUT_DELTA
	d = 0;
#else
	d = val[r] & ~base[r];
#endif
	offered[r] = 0;
	forget_copy(r);
#ifdef NO_ACK
	role[r] = ABSENT;
	settle_required();
#else
	role[r] = CLOSING;
#endif
	m = MESSAGE(OFF, r);
	to_home_or_cached(r)
}


/* ---- Wishes (rules 12, 17) --------------------------------------------- */

#define LOCALIZES_ABSENT(r)   (role[r] == ABSENT && manual[r])
#define ANNOUNCES(r)          (role[r] == ABSENT && !manual[r] && INTERESTED(r))
#define AT_REPLICA(r)         (role[r] == REPLICA && !unacked[r])
#define UPGRADES(r)           (AT_REPLICA(r) && (manual[r] || (offered[r] && want[r])))
#define CLOSES(r)             (AT_REPLICA(r) && !manual[r] && !want[r])
#ifdef PIPELINED_DELTAS
#define SENDS_DELTA(r)        (role[r] == REPLICA && val[r] != base[r] && len(queue[r]) == 0)
#else
#define SENDS_DELTA(r)        (AT_REPLICA(r) && val[r] != base[r] && len(queue[r]) == 0)
#endif
#define ACTS(r)               (LOCALIZES_ABSENT(r) || ANNOUNCES(r) || UPGRADES(r) || CLOSES(r) || SENDS_DELTA(r))

inline announce(r)
{
	role[r] = AWAITING;
	m = MESSAGE(ON, r);
	d = 0;
	to_home_or_cached(r)
}

inline send_delta(r)
{
	nbit[r] = !nbit[r];
	unacked[r] = 1;
	m = MESSAGE(DELTA, r) + WITH_BIT(nbit[r]);
	d = val[r] & ~base[r];
	base[r] = val[r];
	to_home_or_cached(r)
}


/* ---- What it receives --------------------------------------------------- */

inline take_snapshot(r)
{
	MUST(routing, role[r] == AWAITING);
	if
#ifdef SNAPSHOT_OVERWRITES
	:: true ->
#else
	:: snap_ver[r] > ver[r] ->
#endif
		val[r] = snap_val[r];
		ver[r] = snap_ver[r]
	:: else
	fi;
	base[r] = val[r];
	role[r] = REPLICA;
	settle_required();
	reply[r] = 0;
	snap_val[r] = 0;
	snap_ver[r] = 0
}

inline take_offer_new(r)
{
	MUST(routing, role[r] == AWAITING);
	reply[r] = 0;
	forget_copy(r);
	if
	:: want[r] || manual[r] -> localize(r, ARRIVING)
	:: else -> by_cache = 0; close(r)
	fi
}

inline take_refusal(r)
{
#if REFUSALS > 0
	MUST(routing, role[r] == AWAITING);
	reply[r] = 0;
	forget_copy(r);
	role[r] = ABSENT;
	settle_required();
#ifndef REFUSED_ASKS_AGAIN
	marked[r] = want[r];
#endif
#ifndef REFUSED_KEEPS_OFFER
	offered[r] = 0
#endif
#else
	skip
#endif
}

#ifdef OLD_REFRESH
#define IS_NEWER(r, i)  true
#else
#define IS_NEWER(r, i)  (ref_ver[(r) * REFRESHES + (i)] > ver[r])
#endif

/* REFRESH number i of those in flight (rule 14). */
inline take_refresh(r, i)
{
	k = (r) * REFRESHES + (i);
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
	:: SHOWS_COPY(r) && IS_NEWER(r, i) && !(unacked[r] && ref_bit[k] != nbit[r]) ->
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
	if
#ifdef OFFER_DROPPED
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
	ack[r] = 0;
	role[r] = ABSENT;
	settle_required()
}
