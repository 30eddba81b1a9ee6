/* What must hold. docs/architecture.md has the invariants, docs/reliability.md those that the simulation checks. */

#define REQUIRE(condition, sentence) \
  if \
  :: !(condition) -> printf(sentence); assert(false) \
  :: else \
  fi

#define bookedRollbacks(b) \
  (b == BET -> (booked[ROLLBACK_1] == APPROVED) + (booked[ROLLBACK_2] == APPROVED) + \
               (booked[PLATFORM_ROLLBACK] == APPROVED) : \
  (b == WIN && booked[ROLLBACK_OF_WIN] == APPROVED))

#define isReversed(b) (state[b] == ROLLED_BACK || state[b] == DECLINED || verdict[b] == DECLINED)

#define AGREEMENT(t) \
  REQUIRE(state[t] != APPROVED || verdict[t] != NONE || booked[t] == APPROVED, \
          "@! The platform stores APPROVED, and the wallet has not booked it.\n"); \
  REQUIRE(state[t] != DECLINED || verdict[t] != NONE || booked[t] == DECLINED, \
          "@! The platform stores DECLINED, and the wallet has not declined it.\n"); \
  REQUIRE(verdict[t] == NONE || !sent[t], \
          "@! The wallet was asked to book what the platform itself has decided.\n"); \
  REQUIRE(!tombstone[t] || !sent[t], \
          "@! A transaction with a tombstone was sent to the wallet.\n"); \
  REQUIRE(!isRollback(t) || state[t] != APPROVED || isReversed(targetOf(t)), \
          "@! A ROLLBACK is APPROVED, and the transaction that it reverses stands.\n");

#define REVERSAL(b) \
  REQUIRE(state[b] != APPROVED || mark[b] != NONE || bookedRollbacks(b) == 0, \
          "@! The platform stores a BET as APPROVED, and the wallet has reversed it.\n"); \
  REQUIRE(state[b] != ROLLED_BACK || tombstone[b] || state[mark[b]] == APPROVED && booked[mark[b]] == APPROVED, \
          "@! A BET is ROLLED_BACK, and no ROLLBACK of it was booked.\n"); \
  REQUIRE(bookedRollbacks(b) <= 1, \
          "@! The wallet has booked two ROLLBACKs of one BET.\n"); \
  REQUIRE(!(winStandsOnBet && state[WIN] == APPROVED && state[b] == ROLLED_BACK), \
          "@! A WIN and the ROLLBACK of the BET on which it depends are both APPROVED.\n"); \
  REQUIRE(!(winStandsOnBet && booked[WIN] == APPROVED && bookedRollbacks(b) > 0), \
          "@! The wallet has paid a WIN and has reversed the BET on which it depends.\n");

/* What must hold after every change of the database or of the wallet. */
inline check() {
  EACH(AGREEMENT)
  EACH_BET(REVERSAL)
}

/* An attempt that was taken over changes nothing, and a definite answer never changes, except that a BET is rolled back. */
inline checkSettlement(me) {
  REQUIRE(sameAttempt[me], "@! An attempt that was taken over has changed its transaction.\n");
  REQUIRE(state[tx[me]] == PENDING, "@! A settlement has changed a transaction that was not PENDING.\n");
  REQUIRE(mark[tx[me]] == NONE, "@! A settlement has changed a transaction while its ROLLBACK is under way.\n")
}

/* The provider may have received the approval of a BET: only the provider itself may then reverse it. */
inline checkMark(t, b) {
  REQUIRE(t != PLATFORM_ROLLBACK || state[b] != APPROVED, "@! The platform itself reverses a BET that is APPROVED.\n")
}

inline checkReversal(b) {
  REQUIRE(tombstone[b] || isBet(b) && state[b] != DECLINED, "@! A transaction that cannot be reversed becomes ROLLED_BACK.\n")
}

#define callOf(other, t) \
  (step[other] == CALLING && leased[other] && verdict[tx[other]] == NONE && \
   (tx[other] == t || tx[other] == targetOf(t) || targetOf(tx[other]) == t))

#if INSTANCES > 2
#define otherCall(me, t) (me != 1 && callOf(1, t) || me != 2 && callOf(2, t) || me != 3 && callOf(3, t))
#else
#define otherCall(me, t) (me != 1 && callOf(1, t) || me != 2 && callOf(2, t))
#endif

#define mayHaveEffect(r) (sent[r] && booked[r] != DECLINED)

/*
 * The wallet is called only under a committed claim. While the lease lasts, the claim is the latest one, no ROLLBACK of
 * the transaction is under way, and no call for it, its target or its ROLLBACK is. After its lease, an instance that was
 * suspended can still send the request: the wallet is idempotent, and the answer is fenced off.
 */
inline checkCall(me, t) {
  REQUIRE(isStored(t) && !tombstone[t], "@! The wallet is called without a committed claim.\n");
  if
  :: leased[me] ->
    REQUIRE(state[t] == PENDING && sameAttempt[me], "@! The wallet is called by an attempt that was taken over.\n");
    REQUIRE(mark[t] == NONE && !reversalUnderWay(t), "@! The wallet is called while a ROLLBACK of the transaction is under way.\n");
    REQUIRE(!otherCall(me, t), "@! Two calls are under way for one transaction, or for a BET and its ROLLBACK.\n")
  :: else
  fi;
  REQUIRE(targetOf(t) != BET || booked[t] != NONE ||
          !(t != ROLLBACK_1 && mayHaveEffect(ROLLBACK_1)) && !(t != ROLLBACK_2 && mayHaveEffect(ROLLBACK_2)) &&
          !(t != PLATFORM_ROLLBACK && mayHaveEffect(PLATFORM_ROLLBACK)),
          "@! The wallet receives two ROLLBACKs of one BET, and has not declined the first one.\n")
}
