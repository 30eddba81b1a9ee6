/** The rules of the contract, section 6, that the cases for a provider's server hold. */
export const RULES = {
  grant: 'A new grant is answered with 200 and an externalRef that no other grant of the player has.',
  repeated:
    'A repeated requestRef is answered with the externalRef of its first grant, however the JSON is written, and grants nothing more.',
  otherTerms:
    'This holds for other terms, too: a known requestRef with another player, game, number of spins, stake or currency changes nothing.',
  atOnce: 'Of grants with one requestRef that arrive at the same time, only one is booked.',
  undone: 'A repeated grant gives no played spin back and does not undo a cancel.',
  remembered: 'A requestRef, an externalRef and a revocationRef are never forgotten.',
  references:
    'References are compared character by character: upper and lower case differ, and all 128 characters of a requestRef count.',
  unknownFields: 'Fields of a callback that a provider does not know are ignored.',
  spins: 'A grant of any number of spins from 1 to 1000 is booked.',
  defaultStake: "betAmountMinor 0 means the provider's default stake.",
  bookedOrRefused:
    'A grant that a provider cannot book, such as one for an unknown player, is refused with a 4xx other than 401, never with a 5xx.',
  invalid:
    'A callback that is not a JSON object, or that lacks its requestRef or externalRef, is refused with a 4xx other than 401, and changes nothing.',
  status:
    'remainingSpins counts the spins that are neither played nor voided; a batch is completed once its last spin was played, and not before.',
  statusReads: 'A status call changes nothing.',
  unknownBatch:
    'A status or cancel whose externalRef, playerRef and gameId do not name a batch is refused with a 4xx other than 401, and changes nothing.',
  cancel: 'A cancel is answered with 200, and voids the remaining spins of its batch and no others.',
  cancelRepeated:
    'A cancel of a batch without remaining spins is answered with 200, too, so a cancel may be repeated.',
  cancelEnds: 'Once a cancel is answered, no spin of its batch is played.',
  revoke: 'Every revocation is answered with 200, whatever its reason, and even if the session is not known.',
  revokeRepeated:
    'A repeated revocation is answered with 200, and so is a second revocation of the same session with another revocationRef.',
  play: 'Your server plays one of the free spins that externalRef names and answers 200, or another status if no spin is left.',
  everyRoute: 'Every route verifies the signature, the tenant, the time and the nonce.',
  unknownRoute: 'A route that a provider does not serve is not answered with 200.',
  lost: 'A call whose caller does not wait for the answer disturbs no later call.',
  timeout: 'The time-out of a callback is CALLBACK_TIMEOUT_MS (10000)',
} as const;
