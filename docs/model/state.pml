/* Configuration, messages and state of the relocation model. */

#define N     4
#define HOME  0

#ifndef OWNER0
#define OWNER0 2
#endif
#ifndef W0
#define W0 1
#endif
#ifndef OPS0
#define OPS0 3
#endif
#ifndef NEIGHBOUR0
#define NEIGHBOUR0 0
#endif
#ifndef W1
#define W1 0
#endif
#ifndef OPS1
#define OPS1 0
#endif
#ifndef NEIGHBOUR1
#define NEIGHBOUR1 0
#endif
#ifndef MAXLOC
#define MAXLOC 2
#endif
#ifndef LOCS
#define LOCS 15
#endif
#ifndef MAXLEASE
#define MAXLEASE 0
#endif
#ifndef REFUSALS
#define REFUSALS 0
#endif
#ifndef LESSEES
#define LESSEES 3
#endif

#define NO_RANK 7   /* no rank */
#define SELF   6   /* entry: executed, queued, or sent to the home, from here */

/* Roles. */
#define ABSENT   0
#define OWNER    1
#define ARRIVING 2

/* A message is one byte.  The sender is known by the channel. */
#define OP(w, n)      ((w) * 8 + (n))
#define BY_HOME       32                  /* flag: the home has routed it */
#define LOCALIZE      64
#define WANT(w)       (80 + (w) * 8)      /* worker w, on a neighbour, localizes */
#define LEASE(w)      (96 + (w) * 8)      /* worker w would like a lease */
#define RELEASE(w)    (112 + (w) * 8)     /* worker w, on a neighbour, is done */
#define INSTRUCT(to)  (128 + (to))
#define IS_OP(m)        ((m) < 64)
#define IS_WANT(m)      ((m) >= 80 && (m) < 96)
#define IS_LEASE(m)     ((m) >= 96 && (m) < 112)
#define IS_RELEASE(m)   ((m) >= 112 && (m) < 128)
#define IS_INSTRUCT(m)  ((m) >= 128)
#define WHO(m)  (((m) >> 3) & 1)          /* the worker; not of INSTRUCT */
#define NUM(m)  ((m) & 7)
#define TO(m)   ((m) & 7)

/* Ranks: 0 to N - 1 serve their domains, neighbours follow. */
#define NEIGHBOURS         (NEIGHBOUR0 + NEIGHBOUR1)
#define NEIGHBOUR_RANK(w)  (N + (w) * NEIGHBOUR0)
#define FIFO(s, d)    fifo[(s) * N + (d)]
#define DOMAIN_OF_RANK(s)  ((s) < N -> (s) : ((s) == N && NEIGHBOUR0 -> W0 : W1))
#define IS_NEIGHBOUR(w)  ((w) == 0 -> NEIGHBOUR0 : NEIGHBOUR1)
#define DOMAIN_OF(w)  ((w) == 0 -> W0 : W1)
#define OPS_OF(w)     ((w) == 0 -> OPS0 : OPS1)
#define ACTIVE1       (OPS1 > 0 || NEIGHBOUR1 > 0)
#define HAS_WORKER(d) ((d) == W0 || (ACTIVE1 && (d) == W1))

/* Room for all that two workers and the relocation can have in flight.  Were it
   too little, SPIN would report a blocked d_step. */
#if MAXLEASE > 0
#define ROOM  (OPS0 + OPS1 + 1 + NEIGHBOURS + 2)
#else
#define ROOM  (OPS0 + OPS1 + 1 + NEIGHBOURS)
#endif
chan fifo[(N + NEIGHBOURS) * N] = [ROOM] of { byte };

/* Per domain.  Role, leased and queued are in the word that all its ranks see. */
byte role[N];
chan queue[N] = [ROOM] of { byte };  /* while arriving or leased: what waits */
bit  leaving[N];                    /* an INSTRUCT is in the queue */
bit  relocalize[N];                 /* pending: localize again after leaving */
byte hint[N];                       /* cached location, while absent */
#if MAXLEASE > 0
bit  leased[N];                     /* while owner: a worker has it for itself */
bit  queued[N];                     /* something waits for the end of the lease */
#endif

/* The home's table. */
byte owner = OWNER0;

/* The value in flight: to whom. */
byte transfer = NO_RANK;

#if REFUSALS > 0
/* REFUSE in flight, per domain. */
byte refused[N];
byte refusals_left = REFUSALS;
#endif

/* Per worker.  Numbers of operations: issued >= routed >= answered.
   submitted, not yet routed = issued - routed; unanswered = issued - answered */
byte issued[2];
byte routed[2];
byte answered[2];
byte entry[2];       /* where its unanswered operations entered; else NO_RANK */
bit  stale[2];       /* an answer named another owner than the entry */
byte answer[16];     /* in flight: responder + 1 */
#if NEIGHBOURS > 0
byte wanted[2];      /* what a neighbour has asked: NO, or where it waits */
#endif
#if MAXLEASE > 0
byte lease[2];       /* NO, ASKED or HELD */
#endif

#define NO           0
#define ASKED        1   /* the request is on its way, or queued */
#define AT_ARRIVAL   2   /* answered by the next arrival */
#define AT_RELOCALIZE 3   /* answered by the arrival after the next */
#define HELD         2   /* a lease: the key is this worker's */

/* To everyone but its holder a leased key behaves like an arriving one. */
#if MAXLEASE > 0
#define IS_OPEN(d)   (role[d] == OWNER && !leased[d])
#define WAITING(d)   (role[d] == ARRIVING || leased[d])
#define HOLDS(w)     (lease[w] == HELD)
#define ASKS(w)      (lease[w] == ASKED)
#define NO_LEASE(w)  (lease[w] == NO)
#else
#define IS_OPEN(d)   (role[d] == OWNER)
#define WAITING(d)   (role[d] == ARRIVING)
#define HOLDS(w)     false
#define ASKS(w)      false
#define NO_LEASE(w)  true
#endif
#define IS_HELD      (HOLDS(0) || HOLDS(1))

/* The history: the last push applied, per worker. */
byte last[2];

byte budget = MAXLOC;
byte leases_left = MAXLEASE;

/* Scratch: used inside one step only, so not part of the state. */
hidden byte m, k, x, old;
hidden byte transferred, rest;
