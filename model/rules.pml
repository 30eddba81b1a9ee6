/* The rules, which are pure: src/wallet/rules/. */

/* rules/attempt.ts `decide` and `decideStored`. NONE is an answer without a claim: a refusal, a replay or a DECLINED. */
inline decide(me, t) {
  if
  :: !isStored(t) && isBet(t) -> decideBet(me)
  :: !isStored(t) && t == WIN -> decideWin(me)
  :: !isStored(t) && isRollback(t) -> decideRollback(me, targetOf(t))
  :: isStored(t) && undecided(t) && !rollbackUndecided(t) && !leaseAlive(t) -> plan[me] = RETRY
  :: else -> plan[me] = NONE
  fi
}

/* rules/bet.ts. In the scope with OVER_LIMIT, the stake exceeds the highest stake of the session. */
inline decideBet(me) {
#ifdef OVER_LIMIT
  plan[me] = CONCLUDE_DECLINED
#else
  plan[me] = BOOK
#endif
}

/* rules/win.ts */
inline decideWin(me) {
  if
  :: winBookable -> plan[me] = BOOK
  :: else -> plan[me] = (anyUndecided -> NONE : CONCLUDE_DECLINED)
  fi
}

/* rules/rollback.ts */
inline decideRollback(me, b) {
  if
  :: !isStored(b) -> plan[me] = REVERSE_NOTHING
  :: isStored(b) && !tombstone[b] && !isBet(b) -> plan[me] = CONCLUDE_DECLINED
  :: isStored(b) && (tombstone[b] || isBet(b)) && (leaseAlive(b) || rollbackUndecided(b)) -> plan[me] = NONE
  :: else ->
    if
    :: tombstone[b] && mark[b] == NONE -> plan[me] = REVERSE_TOMBSTONE
    :: !(tombstone[b] && mark[b] == NONE) && (state[b] == ROLLED_BACK || state[b] == DECLINED) ->
      plan[me] = CONCLUDE_APPROVED
    :: state[b] == APPROVED ->
      if
      :: state[WIN] == APPROVED -> plan[me] = CONCLUDE_DECLINED
      :: else -> plan[me] = (undecided(WIN) -> NONE : REVERSE_BET)
      fi
    :: undecided(b) -> plan[me] = (verdict[b] != NONE -> CONCLUDE_APPROVED : REVERSE_BET)
    fi
  fi
}

/* rules/resolution.ts `decideResolution`, for a transaction that is due. */
inline decideResolution(me, t) {
  if
  :: t == BET && verdict[t] == NONE && state[PLATFORM_ROLLBACK] == DECLINED -> plan[me] = PARK; tx[me] = t
  :: t == BET && verdict[t] == NONE && state[PLATFORM_ROLLBACK] != DECLINED ->
    plan[me] = REVERSE_BET;
    tx[me] = PLATFORM_ROLLBACK
  :: else -> plan[me] = RETRY; tx[me] = t
  fi
}
