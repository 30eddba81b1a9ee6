/* The bugs that `npm run model -- --plant NAME` plants; without one, each macro is what the code does. */

#ifdef PLANT_NO_FENCING
#define holdsAttempt(me) true
#else
#define holdsAttempt(me) sameAttempt[me]
#endif
#ifdef PLANT_NO_ROUND_LOCK
#define holdsVersion(me) true
#else
#define holdsVersion(me) sameVersion[me]
#endif
#ifdef PLANT_RETRY_DURING_ROLLBACK
#define unmarkedForRetry(t) true
#else
#define unmarkedForRetry(t) (mark[t] == NONE)
#endif
#ifdef PLANT_RESOLVER_WITHOUT_LEASE
#define leaseBars(me, t) (lease[t] && !resolving[me])
#else
#define leaseBars(me, t) lease[t]
#endif
#ifdef PLANT_REVERSAL_AFTER_APPROVAL
#define outdatesReversal(me) false
#else
#define outdatesReversal(me) (answer[me] == APPROVED)
#endif
#ifdef PLANT_UNBOUND_ANSWER
#define answerTo(t, u) booked[u]
#else
#define answerTo(t, u) (t == u -> booked[u] : UNKNOWN)
#endif

#ifdef PLANT_CLAIM_AFTER_CALL
/* The call comes first, and the claim only when its answer is there. */
#define CLAIM_BEFORE_CALL(me) (plan[me] != BOOK)
#else
#define CLAIM_BEFORE_CALL(me) true
#endif
#ifdef PLANT_SETTLE_WITHOUT_CONDITION
#define settles(me, t) true
#else
#define settles(me, t) (holdsAttempt(me) && state[t] == PENDING && mark[t] == NONE)
#endif
#ifdef PLANT_RESOLVER_WITHOUT_LEASE
#define LEASE_BARS_RESOLVER false
#define RESOLVING(me) true
#else
#define LEASE_BARS_RESOLVER true
#define RESOLVING(me) (plan[me] == REVERSE_BET)
#endif
#ifdef PLANT_TARGET_STANDS
#define rollsBack(b) (state[b] != APPROVED)
#else
#define rollsBack(b) true
#endif
#ifdef PLANT_RESOLVER_WITHOUT_ROLLBACKS
#define isResolved(t) !isRollback(t)
#else
#define isResolved(t) true
#endif
