/** The rules of the contract, section 6, that the cases for a provider's server hold. */
export const RULES = {
  grant: 'A new grant is answered with 200 and an externalRef that no other grant of the player has.',
  repeated:
    'A repeated requestRef is answered with the externalRef of its first grant, however the JSON is written, and grants nothing more.',
  atOnce:
    'Of equal grants that arrive at the same time one is booked, and all are answered with its externalRef.',
  undone: 'A repeated grant gives no played spin back and does not undo a cancel.',
  unknownFields: 'Fields of a callback that a provider does not know are ignored.',
  spins: 'A grant of any number of spins from 1 to 1000 is booked.',
  defaultStake: "betAmountMinor 0 means the provider's default stake.",
  invalid:
    'A callback that is not a JSON object, that lacks one of its fields, or in which one has another type is refused with a 4xx other than 401.',
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
  refused: 'A refused call is not carried out, and uses up no id.',
} as const;
