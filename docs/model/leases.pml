/* Leases: a key that a worker has for itself. */

#if MAXLEASE > 0
/* The bit of the word is set by a worker, or by the engine of the serving rank;
   under the latch, so only where it finds the key open. */
inline grant(r, w)
{
	printf("worker %d: has a lease\n", w);
	assert(!IS_HELD);
	leased[r] = 1;
	lease[w] = HELD
}

/* The request of worker w at its serving rank r. */
inline request_lease(r, w)
{
	if
	:: IS_OPEN(r) -> grant(r, w)
	:: else ->
		if
		:: role[r] == ABSENT -> localize(r)
		:: else
		fi;
		printf("rank %d: queues the lease of worker %d\n", r, w);
		enqueue(r, LEASE(w))
	fi
}

/* A worker without unanswered operations takes the key if the word is open;
   otherwise its serving rank is asked, by a neighbour with a message. */
inline lease_key(r, w)
{
	if
	:: IS_OPEN(r) -> grant(r, w)
	:: else ->
		lease[w] = ASKED;
		if
		:: IS_NEIGHBOUR(w) ->
			printf("worker %d: asks its serving rank for a lease\n", w);
			FIFO(NEIGHBOUR_RANK(w), r)!LEASE(w)
		:: else -> request_lease(r, w)
		fi
	fi
}

#ifdef RELEASE_IGNORES_QUEUED
#define SOMETHING_WAITS(r)  false
#else
#define SOMETHING_WAITS(r)  queued[r]
#endif

/* The holder clears the bit itself where nothing waits.  Otherwise the serving
   rank drains the queue as at an arrival; the key stays leased until then. */
inline release(r, w)
{
	printf("worker %d: gives its lease back\n", w);
	lease[w] = NO;
	if
	:: SOMETHING_WAITS(r) ->
		if
		:: IS_NEIGHBOUR(w) -> FIFO(NEIGHBOUR_RANK(w), r)!RELEASE(w)
		:: else -> end_lease(r)
		fi
	:: else ->
		leased[r] = 0;
		queued[r] = 0
	fi
}

inline end_lease(r)
{
	printf("rank %d: the lease is over\n", r);
	assert(role[r] == OWNER && leased[r]);
	drain(r)
}

#endif
