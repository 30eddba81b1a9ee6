/* What the database, the wallet and the instances know, and the facts that the rules read. */

/* ---- The database: the table `transactions`. `sameVersion` below stands for the round's version. ---- */

mtype state[IDS];
/* The lease of a PENDING row has not expired. */
bit lease[IDS];
/* The ROLLBACK that reverses it or has reversed it: `rollback_id`. */
mtype mark[IDS];
/* The platform's own verdict. */
mtype verdict[IDS];
/* Stored by its ROLLBACK only: `kind` is null. */
bit tombstone[IDS];
bit parked[IDS];
/* The number of the latest attempt. No condition reads it: it is only counted when spin prints a trace. */
byte attempt[IDS];
#ifdef TRACE
#define COUNTED(number) number
#else
#define COUNTED(number) 0
#endif

/* ---- The wallet. A request that was sent can arrive at any later time, or never, or more than once. ---- */

bit sent[IDS];
/* The wallet's decision, which it repeats whenever the request arrives again. */
mtype booked[IDS];

/* ---- The instances. Each does one thing at a time, and loses all of this when it crashes. ---- */

mtype step[INSTANCES + 1];
mtype tx[INSTANCES + 1];
mtype plan[INSTANCES + 1];
/* Whether the attempt number that it holds is still the latest one. */
bit sameAttempt[INSTANCES + 1];
/* Whether the version of the round that it has read is still the current one. */
bit sameVersion[INSTANCES + 1];
/* Whether the lease of its claim has not expired. No condition of the protocol reads it, only the invariants. */
bit leased[INSTANCES + 1];
/* It ends a BET with the platform's ROLLBACK; a planted bug also needs to know whether the resolver acts. */
bit resolving[INSTANCES + 1];
mtype answer[INSTANCES + 1];
byte myAttempt[INSTANCES + 1];

/* The WIN depends on the BET: when it was claimed, the BET was APPROVED, and no ROLLBACK had marked it. */
bit winStandsOnBet;

/* The faults have ended: no crash, no lost or swapped answer, no lease that ends too early. */
bit healed;

#if INSTANCES > 2
#define EVERYWHERE(do) do(1); do(2); do(3)
#else
#define EVERYWHERE(do) do(1); do(2)
#endif

/* Ends the work of an instance: it has answered, given up or crashed. */
inline forget(me) {
  step[me] = IDLE;
  tx[me] = NONE;
  plan[me] = NONE;
  sameAttempt[me] = 0;
  sameVersion[me] = 0;
  leased[me] = 0;
  resolving[me] = 0;
  answer[me] = NONE;
  myAttempt[me] = 0
}

/* ---- Facts, as LOAD and FIND read them ---- */

#define undecided(t) (state[t] == PENDING || state[t] == TIMED_OUT)
#define leaseAlive(t) (state[t] == PENDING && lease[t])
#define isStored(t) (state[t] != ABSENT)
#define rollbackUndecided(t) \
  (t == BET && (undecided(ROLLBACK_1) || undecided(ROLLBACK_2) || undecided(PLATFORM_ROLLBACK)) || \
   t == WIN && undecided(ROLLBACK_OF_WIN))
/* A ROLLBACK of it that the wallet shall book is under way. One that the platform itself has decided moves no money. */
#define underWay(r) (undecided(r) && verdict[r] == NONE)
#define reversalUnderWay(t) \
  (t == BET && (underWay(ROLLBACK_1) || underWay(ROLLBACK_2) || underWay(PLATFORM_ROLLBACK)) || \
   t == WIN && underWay(ROLLBACK_OF_WIN))
#define betStands(b) (state[b] == APPROVED && mark[b] == NONE)
#define betUndecided(b) (undecided(b) || state[b] == APPROVED && mark[b] != NONE)
#define betRolledBack(b) (state[b] == ROLLED_BACK && !tombstone[b])
#define anyStands (betStands(BET) || betStands(BET_2))
#define anyUndecided (betUndecided(BET) || betUndecided(BET_2))
#define anyRolledBack (betRolledBack(BET) || betRolledBack(BET_2))
#define winBookable (anyStands || !(anyUndecided || anyRolledBack))
