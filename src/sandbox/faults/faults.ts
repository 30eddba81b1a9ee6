/** A kind of misbehaviour that a counterpart of the sandbox shows on request. */
export interface Fault {
  /** One sentence for the documents and for `npm run round -- --faults`. */
  readonly does: string;
  /** The operations to which the fault applies; undefined means all operations of both counterparts. */
  readonly on?: readonly string[];
}

export const WALLET_OPERATIONS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT', 'balance'] as const;
export const PROVIDER_OPERATIONS = ['grant', 'status', 'cancel', 'revoke', 'play'] as const;

const TRANSACTIONS = ['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'];

export const FAULTS = {
  decline: { on: ['BET'], does: 'Declines the BET for good.' },
  'book-and-stay-silent': { does: 'Carries the call out and never answers.' },
  'lose-the-call': { on: WALLET_OPERATIONS, does: 'Neither carries the call out nor answers it.' },
  'book-late': {
    on: TRANSACTIONS,
    does: "Does not answer, and books only after the caller's time-out; a booked transaction is answered.",
  },
  'book-and-answer-500': { does: 'Carries the call out and answers 500.' },
  'answer-twice': { does: 'Carries the call out and answers it twice on the same connection.' },
  'answer-slowly': { does: 'Carries the call out and answers slowly, byte by byte.' },
  'cut-connection': {
    does: 'Carries the call out, and cuts the connection before the last byte of the answer.',
  },
  'unreadable-body': { does: 'Carries the call out and answers 200 with a truncated JSON body.' },
  redirect: { does: 'Carries the call out and answers 307 with a Location.' },
  'answers-swapped': {
    on: WALLET_OPERATIONS,
    does: 'Swaps the answers of two calls under way; a single call gets its answer and 2 ms later one of an earlier call.',
  },
  'wrong-balance': { on: TRANSACTIONS, does: 'Books and answers a balance that is 1 minor unit too high.' },
  refuse: {
    on: ['grant', 'status', 'cancel', 'revoke'],
    does: 'Carries nothing out and answers 503 with an error message.',
  },
  'same-external-ref': {
    on: ['grant'],
    does: "Grants nothing and answers with the externalRef of the player's previous grant.",
  },
  'no-external-ref': { on: ['grant'], does: 'Grants the spins and answers 200 without an externalRef.' },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

export function isFaultName(value: unknown): value is FaultName {
  return typeof value === 'string' && Object.hasOwn(FAULTS, value);
}

export function appliesTo(name: FaultName, operation: string): boolean {
  const { on }: Fault = FAULTS[name];
  return on?.includes(operation) ?? true;
}

/** The faults that a call of the operation can have, with what they do. */
export function faultsOf(operation: string): { name: FaultName; does: string }[] {
  const names = Object.keys(FAULTS).filter(isFaultName);
  return names
    .filter((name) => appliesTo(name, operation))
    .map((name) => ({ name, does: FAULTS[name].does }));
}
