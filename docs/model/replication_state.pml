/* Configuration, messages and state of the replication model. */

#define N     3
#define HOME  0

#ifndef OWNER0
#define OWNER0 0
#endif
#ifndef W0
#define W0 1
#endif
#ifndef OPS0
#define OPS0 0
#endif
#ifndef NEIGHBOUR0
#define NEIGHBOUR0 0
#endif
#ifndef W1
#define W1 2
#endif
#ifndef OPS1
#define OPS1 0
#endif
#ifndef NEIGHBOUR1
#define NEIGHBOUR1 0
#endif
#ifndef MAIN_ONLY
#define MAIN_ONLY 0
#endif
#ifndef TOGGLES
#define TOGGLES 0
#endif
#ifndef INTENTS
#define INTENTS 7
#endif
#ifndef BEGIN
#define BEGIN 0
#endif
#ifndef MANUALS
#define MANUALS 0
#endif
#ifndef LOCS
#define LOCS 7
#endif
#ifndef REFUSALS
#define REFUSALS 0
#endif
#ifndef LEASES
#define LEASES 0
#endif
#ifndef ROOM
#define ROOM (OPS0 + OPS1 + 3)
#endif
#ifndef REFRESHES
#define REFRESHES 3
#endif

#define NONE  3   /* no domain */

/* Roles. */
#define ABSENT     0
#define ARRIVING   1
#define AWAITING   2
#define CLOSING    3
#define OWNER      4
#define REPLICA    5
#define UPGRADING  6

/* A message: kind, the domain or worker that it is about, the number of a push, the bit of a DELTA, and
   beside it the pushes that it carries. */
#define OP        0
#define LOCALIZE  1
#define ON        2
#define DELTA     3
#define OFF       4
#define INSTRUCT  5
#define LEASE     6
#define NOTHING   7
#define MESSAGE(kind, who)   ((kind) + 8 * (who))
#define NUMBERED(n)          (32 * (n))
#define WITH_BIT(n)          (128 * (n))
#define CARRIES   256                      /* an operation with a delta in front of it (rule 26) */
#define BY_HOME   512                      /* the home has routed it */
#ifdef SET_DROPS_OLD
#define WITH_VERSION(v)  (1024 * (v))
#else
#define WITH_VERSION(v)  0
#endif
#define VERSION(m)       ((m) >> 10)
#define KIND(m)   ((m) & 7)
#define WHO(m)    (((m) >> 3) & 3)
#define NUM(m)    (((m) >> 5) & 3)
#define BIT(m)    (((m) >> 7) & 1)

/* Workers, and the pushes in a value: one bit each. */
#define NEIGHBOURS       (NEIGHBOUR0 + NEIGHBOUR1)
#define IS_NEIGHBOUR(w)  ((w) == 0 -> NEIGHBOUR0 : NEIGHBOUR1)
#define DOMAIN_OF(w)     ((w) == 0 -> W0 : W1)
#define OPS_OF(w)        ((w) == 0 -> OPS0 : OPS1)
#define PUSH(w, n)       (1 << ((w) * 4 + (n) - 1))
#define IN_ORDER(v)      ((((v) & 15) & (((v) & 15) + 1)) == 0 && (((v) >> 4) & (((v) >> 4) + 1)) == 0)
#define ALL_OF(w)        (((1 << issued[w]) - 1) << ((w) * 4))
#define HAS(set, x)      (((set) >> (x)) & 1)

/* FIFO channels: 0, 1 from the home, 2, 3 to it, 4, 5 between the others, then those of the neighbours. */
#ifdef CACHES
#define SIDE_CHANNELS    6
#else
#define SIDE_CHANNELS    4
#endif
#define FIFO(s, r)       fifo[((r) == HOME -> (s) + 1 : ((s) == HOME -> (r) - 1 : (r) + 3))]
#define SIDE(w, r)       fifo[SIDE_CHANNELS + (w) * NEIGHBOUR0 * 3 + (r)]
#define CHANNELS         (SIDE_CHANNELS + 3 * NEIGHBOURS)
chan fifo[CHANNELS] = [ROOM] of { short, byte };

/* Per domain. */
byte role[N];
bit  want[N];          /* its intent */
bit  manual[N];        /* pending: a manual localize, an OFFER to the last holder */
bit  offered[N];
bit  leaving[N];       /* an INSTRUCT is in the queue */
byte val[N];           /* replica: its value, its base, the version of main that it shows */
byte base[N];
byte ver[N];
bit  nbit[N];          /* the bit of its last DELTA */
bit  unacked[N];       /* that DELTA is unanswered; ON and OFF are the roles awaiting and closing */
chan queue[N] = [ROOM] of { short, byte };
#if REFUSALS > 0
bit  marked[N];        /* refused: no ON until the intent ends */
bit  refused[N];       /* the same, for the check against livelock */
byte refusals_left = REFUSALS;
#define IS_MARKED(r)   marked[r]
#else
#define IS_MARKED(r)   false
#endif
#define INTERESTED(r)  (want[r] && !IS_MARKED(r))

/* In flight to a domain, without order. */
#define SNAPSHOT   1
#define OFFER_NEW  2
#define REFUSED    3
#if defined(REFRESH_IS_SNAPSHOT) || defined(OFF_BEFORE_REPLY) || defined(LOCALIZE_BEFORE_REPLY) || defined(ONE_OFFER) || defined(NO_ACK)
#define LATE_REPLIES             /* then a reply may meet another role than awaiting, which drops it */
#define REPLIES  2
#else
#define REPLIES  1
#endif
chan replies[N] = [REPLIES] of { byte, byte, byte };   /* to its ON: kind, version, value */
bit  ack[N];
byte offers[N];        /* OFFERs to the last holder */
byte refreshes[N];     /* REFRESHes: how many; the first is the oldest */
byte ref_val[N * REFRESHES];
byte ref_ver[N * REFRESHES];
byte ref_bit[N * REFRESHES];  /* the bit of the last DELTA; 2: a direct reply to it */

/* The home's table. */
byte table = OWNER0;

/* The main copy and the owner's set.  There is one main copy: at the owner, or in flight with the set to
   the domain `transfer`. */
byte main_val;
byte main_ver = 1;
byte members;
byte dirty;
byte bits;
byte transfer = NONE;

#ifdef SET_DROPS_OLD
byte set_ver;          /* the version that the last main-only operation has made */
#endif

#if LEASES > 0
byte holder = 2;       /* the worker that has leased the key; 2: none has */
bit  queued;           /* something waits for the end of the lease */
byte leases_left = LEASES;
byte asked[2];         /* a request for a lease: none, pending until its domain localizes, in the queue */
#define PENDING          1
#define IN_QUEUE         2
#define ASKS(w)          (asked[w] > 0)
#define IS_LEASED        (holder < 2)
#define HELD_BY(w)       (holder == (w))
#else
#define IS_LEASED        false
#define HELD_BY(w)       false
#define ASKS(w)          false
#endif
#define IS_OPEN(r)       (role[r] == OWNER && !IS_LEASED)
#define WAITING(r)       (role[r] == ARRIVING || role[r] == UPGRADING || (role[r] == OWNER && IS_LEASED))
#define SHOWS_COPY(r)    (role[r] == REPLICA || role[r] == UPGRADING)

/* Per worker. */
byte issued[2];
byte answered[2];
byte entry[2] = NONE;  /* where its unanswered operations entered */
byte required[2];
byte seen[2];          /* the pushes that it has seen: it must see them from now on */
byte answer[8];        /* in flight: version + 1 */

byte toggles_left = TOGGLES;
byte manuals_left = MANUALS;

/* Not part of the state.  SPIN's search in breadth has no hidden variables: there every step clears them. */
#ifdef IN_BREADTH
#define HIDDEN
#else
#define HIDDEN  hidden
#endif

/* Properties.  They are false; their names appear in what SPIN reports. */
HIDDEN byte exactly_once, program_order, monotonic_reads, convergence, routing, one_owner, no_livelock, exclusive;
#define MUST(property, condition)  assert(property || (condition))

/* Scratch: used inside one step only. */
HIDDEN short m;
HIDDEN byte d, k, x, y, rest, old, transferred, declines, by_cache;

inline clear()
{
#ifdef IN_BREADTH
	m = 0; d = 0; k = 0; x = 0; y = 0; rest = 0; old = 0; transferred = 0; declines = 0; by_cache = 0
#else
	skip
#endif
}
