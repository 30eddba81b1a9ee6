/* The statements of claim.sql.ts and settlement.sql.ts. Each is one step, and carries the condition under which it
   may write. */

/* Undecided, and no attempt of it is in progress: the condition of a retry, of a ROLLBACK of it, and of parking it. */
#define open(me, t) (state[t] == TIMED_OUT || state[t] == PENDING && !leaseBars(me, t))

/* What an instance remembers of the database between its read and its claim. */
inline remember(me) {
  sameAttempt[me] = (plan[me] == RETRY || plan[me] == REVERSE_BET);
  myAttempt[me] = (plan[me] == REVERSE_BET -> attempt[targetOf(tx[me])] : attempt[tx[me]]);
  sameVersion[me] = (plan[me] == BOOK && tx[me] == WIN ||
                     plan[me] == REVERSE_NOTHING || plan[me] == REVERSE_TOMBSTONE || plan[me] == REVERSE_BET)
}

#define claimable(me, t) \
  (plan[me] == BOOK && !isStored(t) && (t != WIN || holdsVersion(me)) || \
   (plan[me] == CONCLUDE_APPROVED || plan[me] == CONCLUDE_DECLINED) && !isStored(t) || \
   plan[me] == RETRY && sameAttempt[me] && unmarkedForRetry(t) && open(me, t) || \
   plan[me] == REVERSE_BET && holdsVersion(me) && !isStored(t) && sameAttempt[me] && mark[targetOf(t)] == NONE && \
     (state[targetOf(t)] == APPROVED || open(me, targetOf(t))) || \
   plan[me] == REVERSE_TOMBSTONE && holdsVersion(me) && !isStored(t) && tombstone[targetOf(t)] && \
     mark[targetOf(t)] == NONE || \
   plan[me] == REVERSE_NOTHING && holdsVersion(me) && !isStored(t) && !isStored(targetOf(t)))

/* fresh-claim.sql.ts: the conditions of CLAIM_NEW_BET and CLAIM_NEW_WIN, which repeat those of the rules. */
#if defined(OVER_LIMIT) || defined(PLANT_CLAIM_AFTER_CALL)
#define freshBetClaimable false
#else
#define freshBetClaimable true
#endif
#define freshClaimable(t) \
  (!isStored(t) && (isBet(t) && freshBetClaimable || \
                    t == WIN && (anyStands || !(anyUndecided || anyRolledBack))))

/* A new attempt: every other instance that holds an attempt of the transaction holds an old one from now on. */
#define OUTDATE_ATTEMPT(other) \
  if \
  :: tx[other] == t && !(step[other] == DECIDED && plan[other] == REVERSE_BET) -> sameAttempt[other] = 0 \
  :: step[other] == DECIDED && plan[other] == REVERSE_BET && targetOf(tx[other]) == t -> sameAttempt[other] = 0 \
  :: else \
  fi

inline newAttempt(t) {
  EVERYWHERE(OUTDATE_ATTEMPT);
  attempt[t] = COUNTED(attempt[t] + 1)
}

/* A BET that was undecided when its ROLLBACK was judged is APPROVED from now on. */
#define OUTDATE_REVERSAL(other) \
  if \
  :: step[other] == DECIDED && plan[other] == REVERSE_BET && targetOf(tx[other]) == t -> sameAttempt[other] = 0 \
  :: else \
  fi

#define OUTDATE_VERSION(other) sameVersion[other] = 0

inline insert(me, t) {
  state[t] = PENDING;
  lease[t] = 1;
  attempt[t] = COUNTED(1);
  if
  :: plan[me] == CONCLUDE_APPROVED -> verdict[t] = APPROVED
  :: plan[me] == CONCLUDE_DECLINED -> verdict[t] = DECLINED
  :: else
  fi
}

inline takeTarget(me, t, b) {
  checkMark(t, b);
  if
  :: plan[me] != REVERSE_NOTHING -> mark[b] = t
  :: else ->
#ifndef PLANT_NO_TOMBSTONE
    state[b] = ROLLED_BACK;
    tombstone[b] = 1;
    mark[b] = t
#else
    skip
#endif
  fi
}

/* claim.sql.ts: CLAIM, CLAIM_WIN, MOVE_ROUND with TAKE_TARGET and CLAIM, or RETRY. */
inline commitClaim(me, t) {
  if
  :: plan[me] == RETRY -> newAttempt(t); state[t] = PENDING; lease[t] = 1
  :: else -> insert(me, t)
  fi;
  if
  :: t == WIN && plan[me] == BOOK ->
    EVERYWHERE(OUTDATE_VERSION);
    winStandsOnBet = betStands(BET)
  :: plan[me] == REVERSE_NOTHING || plan[me] == REVERSE_TOMBSTONE || plan[me] == REVERSE_BET ->
    EVERYWHERE(OUTDATE_VERSION);
    takeTarget(me, t, targetOf(t))
  :: else
  fi;
  step[me] = CLAIMED;
  plan[me] = NONE;
  sameAttempt[me] = 1;
  sameVersion[me] = 0;
  leased[me] = 1;
  myAttempt[me] = attempt[t]
}

inline settleTarget(me, t, b) {
  if
  :: b != NONE && mark[b] == t && answer[me] == APPROVED && rollsBack(b) ->
    checkReversal(b);
    state[b] = ROLLED_BACK;
    lease[b] = 0
  :: b != NONE && mark[b] == t && answer[me] == DECLINED -> mark[b] = NONE
  :: else
  fi
}

inline settle(me, t) {
  printf("@ instance %d settles %e, attempt %d: %e\n", me, t, myAttempt[me], (answer[me] == UNKNOWN -> TIMED_OUT : answer[me]));
  checkSettlement(me);
  state[t] = (answer[me] == UNKNOWN -> TIMED_OUT : answer[me]);
  lease[t] = 0;
  if
  :: outdatesReversal(me) -> EVERYWHERE(OUTDATE_REVERSAL)
  :: else
  fi;
  settleTarget(me, t, targetOf(t));
  check()
}

/* Whether the instance now parks the BET, because the wallet has declined the platform's ROLLBACK. */
#define endingDeclined(me) \
  (tx[me] == PLATFORM_ROLLBACK && resolving[me] && answer[me] == DECLINED)
