/** The sentences of docs/contract.md, sections 1 and 4, that the cases hold, verbatim. */
export const RULES = {
  echo: '`transactionId`, or `playerRef` and `currency`, are required in the answer, and are the same strings as in the request.',
  once: 'If a transaction arrives again, later or concurrently, the wallet answers with the same `status` and `reason` as the first time and does not move money again; `balance` may be the current one.',
  identity: '`(providerId, transactionId)` identifies a transaction.',
  oneReversal:
    'The wallet reverses a transaction at most once, even if several ROLLBACKs with different ids name it.',
  tombstone:
    'A ROLLBACK of a transaction that the wallet never booked is `APPROVED`, moves nothing, and is remembered: if the BET arrives afterwards, it is `DECLINED`.',
  inTime: 'Each call ends after `walletTimeoutMs` (5000) at the latest.',
  definite: 'The wallet answers 200 only if it knows the outcome.',
  adjustment:
    "An ADJUSTMENT is a correction by the platform's support: `providerId` is `platform`, `amountMinor` is negative for a debit, and there is no `gameId` or `roundId`.",
  balanceMovesNothing: 'The call moves no money.',
  answerOnce: 'Answer each call once, and take the names from the request that you answer',
  repeats:
    'Croupier repeats a call whenever it does not know the outcome: after a time-out, a lost connection or a crash.',

  exact:
    'Book every amount exactly, to the minor unit: keep balances as integers or decimals, never as floating-point numbers.',
  balanceAfter:
    'The `balance` of an answer is the balance after the transaction, and a `/balance` call that begins after the answer returns the same.',
  repeatedBalance:
    'The `balance` in the answer to a repetition is that of the first answer, or the current one.',
  funds:
    'A BET of more than the balance is `DECLINED` and moves nothing; one of up to the whole balance, or of 0 at a balance that is not negative, is `APPROVED`.',
  credits:
    'A WIN of any amount, also of 0, is `APPROVED` and credits that amount; only one that makes the balance too large for the wallet may be `DECLINED`.',
  rounds:
    'A round may have any number of BETs and WINs in any order, also after `roundClosed`, and its id may occur at other players, games and providers.',
  informative:
    'Only `kind`, `amountMinor`, `playerRef`, `currency` and, for a ROLLBACK, `originalTransactionId` decide what is booked; the other fields are for your reports.',
  prizes:
    'A WIN of free spins, a `JACKPOT`, a `PROMOTION` and a `TOURNAMENT` need no BET, and several WINs may have the same `freeSpinsRef` or `promotionRef`.',
  rollbackAmount:
    'A ROLLBACK returns exactly what its BET took, to the account that the BET debited, and not its own `amountMinor`, which can differ if the platform does not know the BET.',
  rollbackOnlyBets: 'A ROLLBACK of anything but a BET moves nothing.',
  rollbackOfDeclined: 'A ROLLBACK of a `DECLINED` BET is `APPROVED` and moves nothing.',
  rollbackOfAnyAge:
    'A BET can be rolled back at any time, also after other transactions, and after its round was closed.',
  tombstoneKey:
    'A tombstone belongs to `(providerId, originalTransactionId)` alone: the BET is `DECLINED` whatever its other fields are, and a BET of another provider is not.',
  unknownPlayer:
    'A BET, WIN or ADJUSTMENT of a player without an account is `DECLINED`, with the `balance` 0; a ROLLBACK is `APPROVED` and leaves its tombstone.',
  unknownBalance: 'A `/balance` call for a player without an account is a 404, or has the `balance` 0.',
  currencies:
    "A player's accounts in different currencies are separate: a transaction moves only the account in its `currency`.",
  players: 'A transaction moves only the account of its `playerRef`.',
  otherFields:
    'A known `(providerId, transactionId)` with other fields moves nothing: answer as the first time, or 400.',
  identifiers:
    'Identifiers are compared character by character and in full: upper and lower case differ, and no character has a meaning of its own.',
  lengths:
    '`transactionId`, `originalTransactionId`, `playerRef`, `gameId`, `roundId` and `promotionRef` have up to 128 printable ASCII characters without spaces, `providerId` up to 64, and `freeSpinsRef` up to 256 characters of any script.',
  reason:
    'A `reason` that is one of the codes is spelled exactly like the code, and used for what the code says.',
  reference:
    'your own id, a text of 1 to 200 characters, the same in every answer to this transaction; kept for support and searches',
  belowZero:
    'An ADJUSTMENT that would take the balance below zero is either `DECLINED` or `APPROVED`; at a negative balance, BETs are `DECLINED` and WINs and ROLLBACKs are `APPROVED`.',
  invalid:
    'A body that is not JSON, lacks a field, or has an invalid `kind` or `amountMinor` is a 400 and books nothing.',
  unknownFields: 'Fields that you do not know are ignored: fields may be added.',
  concurrency: 'Concurrent calls for one account are booked as if one had come after the other.',
  requestId:
    '`X-Request-Id` identifies neither a transaction nor a call: it has up to 128 characters, a repetition has another one, and two transactions may have the same.',
  connections:
    'Keep an idle connection open for at least 5 seconds, or say in `Keep-Alive` for how long, or close it with `Connection: close`.',
  durable:
    'Answer only when the booking is durable, so that a restart of the wallet loses nothing that it has answered.',
} as const;
