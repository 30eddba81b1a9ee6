/*
 * The transactions of the model, which are all in one round, and those that a scope has: scopes.ts defines WITH_… for
 * each of them, and the number of INSTANCES.
 */

mtype = {
  /* What an instance does now. */
  IDLE, DECIDED, CLAIMED, CALLING, ANSWERED, ENDING_DECLINED,
  /* What an instance has decided to do: rules/decision.ts and rules/resolution.ts. */
  BOOK, CONCLUDE_APPROVED, CONCLUDE_DECLINED, REVERSE_NOTHING, REVERSE_TOMBSTONE, REVERSE_BET, RETRY, PARK,
  /* The states of a stored transaction, and an id that is not stored. */
  ABSENT, PENDING, TIMED_OUT, ROLLED_BACK,
  /* States, too, and the answers of the wallet. */
  UNKNOWN, DECLINED, APPROVED,
  /* The transactions. The last one has the number 1. */
  ROLLBACK_OF_WIN, BET_2, PLATFORM_ROLLBACK, ROLLBACK_2, ROLLBACK_1, WIN, BET
};
#define NONE 0
#define IDS 8

/* EACH(do) applies a macro to every transaction of the scope. REQUESTED(do) to those that the provider sends. */
#ifdef WITH_BET
#define EACH_BET(do) do(BET)
#else
#define EACH_BET(do)
#endif
#ifdef WITH_WIN
#define EACH_WIN(do) do(WIN)
#else
#define EACH_WIN(do)
#endif
#ifdef WITH_ROLLBACK_1
#define EACH_ROLLBACK_1(do) do(ROLLBACK_1)
#else
#define EACH_ROLLBACK_1(do)
#endif
#ifdef WITH_ROLLBACK_2
#define EACH_ROLLBACK_2(do) do(ROLLBACK_2)
#else
#define EACH_ROLLBACK_2(do)
#endif
#ifdef WITH_ROLLBACK_OF_WIN
#define EACH_ROLLBACK_OF_WIN(do) do(ROLLBACK_OF_WIN)
#else
#define EACH_ROLLBACK_OF_WIN(do)
#endif
#ifdef WITH_PLATFORM_ROLLBACK
#define EACH_PLATFORM_ROLLBACK(do) do(PLATFORM_ROLLBACK)
#else
#define EACH_PLATFORM_ROLLBACK(do)
#endif
#define REQUESTED(do) \
  EACH_BET(do) EACH_WIN(do) EACH_ROLLBACK_1(do) EACH_ROLLBACK_2(do) EACH_ROLLBACK_OF_WIN(do)
#define EACH(do) REQUESTED(do) EACH_PLATFORM_ROLLBACK(do)
/*
 * RESOLVED(do) applies it to those that the resolver decides. In a scope without the platform's ROLLBACK, the resolver
 * cannot end the BET, and leaves it alone.
 */
#ifdef WITH_PLATFORM_ROLLBACK
#define RESOLVED(do) \
  EACH_BET(do) EACH_WIN(do) EACH_ROLLBACK_1(do) EACH_ROLLBACK_2(do) EACH_ROLLBACK_OF_WIN(do) do(PLATFORM_ROLLBACK)
#else
#define RESOLVED(do) EACH_WIN(do) EACH_ROLLBACK_1(do) EACH_ROLLBACK_2(do) EACH_ROLLBACK_OF_WIN(do)
#endif

#define isBet(t) (t == BET || t == BET_2)
#define isRollback(t) (targetOf(t) != NONE)
#define targetOf(t) \
  (t == ROLLBACK_1 || t == ROLLBACK_2 || t == PLATFORM_ROLLBACK -> BET : (t == ROLLBACK_OF_WIN -> WIN : NONE))
