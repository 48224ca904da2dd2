/* The owner of the key: main copy and set of members. */

/* Every change of main raises the version and marks all members dirty, if there are any (rule 4). */
inline change()
{
	if
	:: members -> main_ver++; dirty = members
	:: else
	fi
}

inline add(pushes)
{
	MUST(exactly_once, !(main_val & (pushes)));
	main_val = main_val | (pushes);
	MUST(program_order, IN_ORDER(main_val))
}

/* Push n of worker w on main. */
inline execute(w, n)
{
	printf("owner: applies push %d of worker %d\n", n, w);
	MUST(monotonic_reads, !(seen[w] & ~main_val));
	add(PUSH(w, n));
	seen[w] = main_val
}

inline send_refresh(to, direct)
{
	printf("owner: sends REFRESH to domain %d, version %d\n", to, main_ver);
	k = (to) * REFRESHES + refreshes[to];
	ref_val[k] = main_val;
	ref_ver[k] = main_ver;
	ref_bit[k] = HAS(bits, to) + direct;
	refreshes[to]++;
	dirty = dirty & ~(1 << (to))
}

/* The only domain with intent becomes the owner, if the policy says so. */
#ifdef SERVES
#define OFFERS  false
#else
#define OFFERS  true
#endif
inline check(r)
{
	if
	:: OFFERS && !INTERESTED(r) && (members == 1 || members == 2 || members == 4) ->
		printf("domain %d: offers the key to the last holder\n", r);
		offers[members / 2]++
	:: else
	fi
}

#ifdef SET_DROPS_OLD
#define IS_OLD(m)  (VERSION(m) < set_ver)
#else
#define IS_OLD(m)  false
#endif

inline merge(from, n, pushes)
{
	MUST(routing, HAS(members, from));
	MUST(exclusive, !IS_LEASED);
	printf("owner: merges the delta of domain %d\n", from);
	if
	:: pushes && !IS_OLD(m) -> add(pushes); change()
	:: else
	fi;
	bits = (bits & ~(1 << (from))) | ((n) << (from));
	dirty = dirty | (1 << (from));
#ifdef REPLIES_TO_DELTA
	send_refresh(from, 2)
#endif
}

/* The owner r handles message m with the pushes d. */
inline handle(r)
{
	x = WHO(m);
	if
	:: KIND(m) == OP ->
		MUST(exclusive, !IS_LEASED);
		if
		:: m & CARRIES -> y = DOMAIN_OF(x); merge(y, BIT(m), d)
		:: else
		fi;
		execute(x, NUM(m));
		change();
#ifdef SET_DROPS_OLD
		if
		:: IS_MAIN_ONLY(x, NUM(m)) -> set_ver = main_ver
		:: else
		fi;
#endif
		if
		:: DOMAIN_OF(x) == r && !IS_NEIGHBOUR(x) -> take_answer(x, main_ver)
		:: else -> answer[x * 4 + NUM(m)] = main_ver + 1
		fi
	:: KIND(m) == ON ->
		MUST(routing, x != r && !HAS(members, x));
		old = members;
		members = members | (1 << x);
		dirty = dirty & ~(1 << x);
		bits = bits & ~(1 << x);
#ifndef NO_RAISE_AT_ON
		if
		:: old == 0 -> main_ver++
		:: else
		fi;
#endif
		if
		:: OFFERS && old == 0 && !INTERESTED(r) ->
			printf("domain %d: answers ON of domain %d with an OFFER\n", r, x);
			replies[x]!OFFER_NEW, 0, 0
		:: else ->
			printf("domain %d: sends SNAPSHOT to domain %d, version %d\n", r, x, main_ver);
			replies[x]!SNAPSHOT, main_ver, main_val
		fi
	:: KIND(m) == DELTA -> merge(x, BIT(m), d)
	:: KIND(m) == OFF ->
		MUST(routing, HAS(members, x));
		if
		:: d && !IS_OLD(m) -> printf("domain %d: merges the delta of OFF\n", r); add(d); change()
		:: else
		fi;
		members = members & ~(1 << x);
		dirty = dirty & ~(1 << x);
		bits = bits & ~(1 << x);
#ifndef NO_ACK
		assert(!ack[x]);
		ack[x] = 1;
#endif
		check(r)
	fi
}

/* INSTRUCT at domain r: the key goes to domain `to`. */
inline instruct(r, to)
{
	if
	:: IS_OPEN(r) -> transfer_ownership(r, to)
	:: else ->
		MUST(routing, WAITING(r) && !leaving[r]);
		leaving[r] = 1;
		m = MESSAGE(INSTRUCT, to);
		d = 0;
		enqueue(r)
	fi
}

/* TRANSFER takes main and the set with it (rule 10). */
inline transfer_ownership(r, to)
{
#ifdef ROUND_FIRST
	y = 0;
	do
	:: y < N ->
		if
		:: HAS(dirty, y) && y != to -> send_refresh(y, 0)
		:: else
		fi;
		y++
	:: else -> break
	od;
#endif
#ifndef NEW_OWNER_STAYS
	members = members & ~(1 << to);
	dirty = dirty & ~(1 << to);
	bits = bits & ~(1 << to);
#endif
#ifdef MARKS_CLEAN
	dirty = 0;
#endif
#ifdef BITS_STAY
	bits = 0;
#endif
	if
	:: INTERESTED(r) && !declines ->
#ifndef RAISE_ONLY_AT_ON
		if
		:: members == 0 -> main_ver++
		:: else
		fi;
#endif
#ifndef OLD_OWNER_OUT
		members = members | (1 << r);
#endif
		role[r] = REPLICA;
		val[r] = main_val;
		base[r] = main_val;
		ver[r] = main_ver;
		nbit[r] = 0;
		unacked[r] = 0
	:: else ->
#if REFUSALS > 0
		marked[r] = want[r];
		refused[r] = want[r];
#endif
		role[r] = ABSENT
	fi;
	settle_required();
	MUST(one_owner, transfer == NONE);
	printf("domain %d: transfers ownership to domain %d\n", r, to);
	transfer = to
}

/* TRANSFER at domain r: merge, drain the queue, publish the role (rule 11). */
inline arrive(r)
{
	MUST(routing, role[r] == ARRIVING || role[r] == UPGRADING);
	printf("domain %d: the value arrives\n", r);
	transfer = NONE;
	MUST(one_owner, role[0] != OWNER && role[1] != OWNER && role[2] != OWNER);
	d = val[r] & ~base[r];
	if
	:: role[r] == UPGRADING && d ->
		add(d);
#ifdef MERGE_DOES_NOT_RAISE
		dirty = members
#else
		change()
#endif
	:: else
	fi;
	val[r] = 0;
	base[r] = 0;
	ver[r] = 0;
	nbit[r] = 0;
	role[r] = OWNER;
	settle_required();
	drain(r)
}

#if LEASES > 0
inline grant(w, r)
{
	printf("worker %d: leases the key\n", w);
	asked[w] = 0;
	holder = w;
	queued = len(queue[r]) > 0
}
#endif

/* The queue of domain r, which has main: up to its end, or to a lease that begins.  After an INSTRUCT the rest
   goes to the home; requests for leases are pending again. */
inline drain(r)
{
	transferred = 0;
	rest = len(queue[r]);
	do
	:: rest > 0 ->
		rest--;
		queue[r]?m, d;
		if
		:: transferred ->
			MUST(routing, !(m & BY_HOME));
			if
#if LEASES > 0
			:: KIND(m) == LEASE -> asked[WHO(m)] = PENDING; manual[r] = 1
#endif
			:: else -> to_home(r)
			fi
#if LEASES > 0
		:: !transferred && KIND(m) == LEASE ->
			x = WHO(m);
			grant(x, r);
			break
#endif
		:: !transferred && KIND(m) == INSTRUCT ->
			transferred = 1;
			leaving[r] = 0;
			x = WHO(m);
			transfer_ownership(r, x)
		:: else -> handle(r)
		fi
	:: else -> break
	od;
	if
	:: !transferred ->
		if
		:: !leaving[r] -> manual[r] = 0; offered[r] = 0
		:: else
		fi;
#if defined(NO_CHECK_UNDER_LEASE)
		if
		:: IS_LEASED
		:: else -> check(r)
		fi
#elif !defined(NO_CHECK_ON_ARRIVAL)
		check(r)
#endif
	:: else
	fi
}
