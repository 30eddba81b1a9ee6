/*
 * The protocol of a transaction: instances that share a database, a wallet that may decline, a provider that sends each
 * of its requests any number of times or never, and the resolver. Between any two steps, an instance can crash, a lease
 * can end, and an answer can be lost, late, doubled or delivered to another call.
 *
 * docs/model.md names the code of each step, and what is left out. A trace shows the lines that begin with '@'.
 */

#include "scope.pml"
#include "state.pml"
#include "plants.pml"
#include "invariants.pml"
#include "rules.pml"
#include "statements.pml"

/* A request of the provider arrives: LOAD and `decide`. */
#define ARRIVES(t) \
  :: d_step { serves && step[me] == IDLE -> \
      decide(me, t); \
      if \
      :: plan[me] == NONE \
      :: else -> \
        printf("@ instance %d receives %e from the provider and decides %e\n", me, t, plan[me]); \
        step[me] = DECIDED; \
        tx[me] = t; \
        remember(me) \
      fi }

/* The shortcut for a new BET or WIN: one statement checks the conditions of the rules and claims, without a step between. */
#define FRESH(t) \
  :: d_step { serves && step[me] == IDLE && freshClaimable(t) -> \
      decide(me, t); \
      REQUIRE(plan[me] == BOOK, "@! A fresh claim is made, and the rules would not book it.\n"); \
      tx[me] = t; \
      printf("@ instance %d receives %e from the provider and claims it at once, attempt 1\n", me, t); \
      commitClaim(me, t); \
      check() }

/* The resolver finds a transaction that is due: DUE, FIND and `decideResolution`. */
#define DUE(t) \
  :: d_step { resolves && step[me] == IDLE && undecided(t) && !parked[t] && mark[t] == NONE && \
              isResolved(t) && !(state[t] == PENDING && lease[t] && LEASE_BARS_RESOLVER) -> \
      decideResolution(me, t); \
      resolving[me] = RESOLVING(me); \
      if \
      :: plan[me] == REVERSE_BET -> \
        printf("@ the resolver of instance %d finds that %e is due and decides REVERSE_BET by %e\n", me, t, tx[me]) \
      :: else -> printf("@ the resolver of instance %d finds that %e is due and decides %e\n", me, t, plan[me]) \
      fi; \
      step[me] = DECIDED; \
      remember(me) }

/* An answer that the wallet has given before reaches this call, too, or in place of its own answer. */
#define SWAPPED(u) \
  :: d_step { step[me] == CALLING && verdict[tx[me]] == NONE && tx[me] != u && booked[u] != NONE && !healed -> \
      answer[me] = answerTo(tx[me], u); \
      step[me] = ANSWERED; \
      printf("@ instance %d receives the answer to %e for its call of %e, and reads %e\n", me, u, tx[me], answer[me]) }

proctype instance(byte me; bit serves; bit resolves) {
  do
  REQUESTED(ARRIVES)
  EACH_BET(FRESH)
  EACH_WIN(FRESH)
  RESOLVED(DUE)

  :: d_step { step[me] == DECIDED && plan[me] != PARK && claimable(me, tx[me]) && CLAIM_BEFORE_CALL(me) ->
      printf("@ instance %d claims %e, attempt %d\n", me, tx[me], attempt[tx[me]] + 1);
      commitClaim(me, tx[me]);
      check() }
  :: d_step { step[me] == DECIDED && plan[me] != PARK && !claimable(me, tx[me]) ->
      printf("@ instance %d cannot claim %e: what it has read has changed\n", me, tx[me]);
      forget(me) }
#ifdef PLANT_CLAIM_AFTER_CALL
  :: d_step { step[me] == DECIDED && !CLAIM_BEFORE_CALL(me) ->
      printf("@ instance %d calls the wallet for %e\n", me, tx[me]);
      checkCall(me, tx[me]);
      step[me] = CALLING }
#endif

  :: d_step { step[me] == CLAIMED && verdict[tx[me]] == NONE ->
      printf("@ instance %d calls the wallet for %e, attempt %d\n", me, tx[me], myAttempt[me]);
      checkCall(me, tx[me]);
      sent[tx[me]] = 1;
      step[me] = CALLING }
  :: d_step { step[me] == CLAIMED && verdict[tx[me]] != NONE ->
      printf("@ instance %d reads the balance for %e, attempt %d\n", me, tx[me], myAttempt[me]);
      step[me] = CALLING }
  :: d_step { step[me] == CLAIMED && (!leased[me] || !healed) ->
      printf("@ instance %d cannot call the wallet for %e: too late for the lease, or no connection\n", me, tx[me]);
      answer[me] = UNKNOWN;
      step[me] = ANSWERED }

  :: d_step { step[me] == CALLING && verdict[tx[me]] == NONE && booked[tx[me]] != NONE ->
      answer[me] = (holdsAttempt(me) -> booked[tx[me]] : UNKNOWN);
      step[me] = ANSWERED;
      printf("@ instance %d receives the answer to %e: %e\n", me, tx[me], answer[me]) }
  :: d_step { step[me] == CALLING && verdict[tx[me]] != NONE ->
      answer[me] = verdict[tx[me]];
      step[me] = ANSWERED;
      printf("@ instance %d receives the balance for %e\n", me, tx[me]) }
  :: d_step { step[me] == CALLING && !healed ->
      answer[me] = UNKNOWN;
      step[me] = ANSWERED;
      printf("@ instance %d receives no valid answer to %e in time\n", me, tx[me]) }
  EACH(SWAPPED)

  :: d_step { step[me] == ANSWERED ->
      if
      :: settles(me, tx[me]) ->
        settle(me, tx[me]);
        if
        :: endingDeclined(me) ->
          step[me] = ENDING_DECLINED;
          tx[me] = targetOf(tx[me]);
          answer[me] = NONE;
          sameAttempt[me] = 0;
          leased[me] = 0;
          resolving[me] = 0
        :: else -> forget(me)
        fi
      :: else ->
        printf("@ instance %d cannot settle %e, attempt %d: it was taken over\n", me, tx[me], myAttempt[me]);
        forget(me)
      fi }

  :: d_step { step[me] == ENDING_DECLINED || step[me] == DECIDED && plan[me] == PARK ->
      if
      :: !parked[tx[me]] && mark[tx[me]] == NONE && open(me, tx[me]) ->
        parked[tx[me]] = 1;
        printf("@ instance %d parks %e for a person\n", me, tx[me])
      :: else
      fi;
      forget(me) }

  :: d_step { step[me] != IDLE && !healed ->
      printf("@ instance %d crashes\n", me);
      forget(me) }
  od
}

/* ---- The wallet books each request once. It may decline any of them. ---- */

#define BOOKS(t) \
  :: d_step { sent[t] && booked[t] == NONE && (isRollback(t) || bookedRollbacks(t) == 0) -> \
      booked[t] = APPROVED; \
      printf("@ the wallet books %e\n", t); \
      check() } \
  :: d_step { sent[t] && booked[t] == NONE -> \
      booked[t] = DECLINED; \
      printf("@ the wallet declines %e\n", t); \
      check() }

proctype wallet() {
  do
  EACH(BOOKS)
  od
}

/* ---- The database's clock ends leases. After the faults, a lease outlives the attempt of a running instance. ---- */

#define EXPIRE(other) \
  if \
  :: tx[other] == t && step[other] != DECIDED -> leased[other] = 0 \
  :: else \
  fi

inline endLease(t) {
  lease[t] = 0;
  EVERYWHERE(EXPIRE)
}

#define holds(other, t) (tx[other] == t && step[other] != DECIDED && sameAttempt[other])
#if INSTANCES > 2
#define held(t) (holds(1, t) || holds(2, t) || holds(3, t))
#else
#define held(t) (holds(1, t) || holds(2, t))
#endif

#define ENDS(t) \
  :: d_step { leaseAlive(t) && !(healed && held(t)) -> \
      printf("@ the lease of %e, attempt %d, ends\n", t, attempt[t]); \
      endLease(t) }

proctype clock() {
  do
  EACH(ENDS)
  od
}

#ifdef LIVENESS
#define ATREST(t) && (parked[t] || !undecided(t))
ltl decidedOrParked { <> [] (healed EACH(ATREST)) }
#endif

#define START_ROW(t) state[t] = ABSENT;
#define START_INSTANCE(i) step[i] = IDLE

init {
  d_step {
    START_ROW(BET) START_ROW(BET_2) START_ROW(WIN) START_ROW(ROLLBACK_1) START_ROW(ROLLBACK_2)
    START_ROW(PLATFORM_ROLLBACK) START_ROW(ROLLBACK_OF_WIN)
    EVERYWHERE(START_INSTANCE);
  }
#ifdef WITH_BET_2
  /* Another BET of the round, which is in one of these states all the time. */
  if
  :: state[BET_2] = APPROVED
  :: state[BET_2] = DECLINED
  :: state[BET_2] = ROLLED_BACK
  :: state[BET_2] = TIMED_OUT
  fi;
#endif
  atomic {
#ifdef LIVENESS
    run instance(1, true, false);
    run instance(2, false, true);
#else
    run instance(1, true, true);
    run instance(2, true, true);
#if INSTANCES > 2
    run instance(3, true, true);
#endif
#endif
    run wallet();
    run clock()
  }
#ifdef LIVENESS
  ;
  healed = 1
#endif
}
