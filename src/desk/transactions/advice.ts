import { money, transactionMoney } from '../../money/money.js';
import { SHORTEST_WAIT_SECONDS } from '../../wallet/resolving/retry-schedule.js';
import { isUndecided, type Kind, type State } from '../../wallet/rules/facts.js';

export const ADVISED_ACTIONS = ['none', 'wait', 'resolve', 'contact-operator', 'contact-provider'] as const;

/** What the desk should do about a transaction, and whether money moved. Contract, section 9, "Advice". */
export interface Advice {
  readonly action: (typeof ADVISED_ACTIONS)[number];
  readonly text: string;
}

/** The facts on which the advice depends. */
export interface AdviceFacts {
  /** Null for a tombstone. */
  readonly kind: Kind | 'ADJUSTMENT' | null;
  readonly state: State;
  readonly amountMinor: number;
  readonly currency: string;
  /** Whether the transaction has a verdict, so that no money moves. */
  readonly ownVerdict: boolean;
  readonly leaseAlive: boolean;
  /** Whether no attempt reached the operator, so that it cannot have booked the transaction. */
  readonly neverSent: boolean;
  readonly parked: boolean;
  /** The undecided ROLLBACK of the transaction, if there is one. */
  readonly undecidedRollback: { readonly transactionId: string; readonly parked: boolean } | undefined;
  /** Seconds since the last change of the transaction, by the database's clock. */
  readonly idleSeconds: number;
  /** Whether the last answer that the provider received for the transaction was a 500. */
  readonly providerReceivedFailure: boolean;
}

export function adviceFor(facts: AdviceFacts): Advice {
  if (facts.kind === null) {
    return {
      action: 'none',
      text: 'No money moved: a ROLLBACK arrived first, and a later transaction with this id is declined.',
    };
  }
  return isUndecided(facts.state) ? undecided(facts) : decided(facts);
}

function undecided(facts: AdviceFacts): Advice {
  const doubt = doubtOf(facts);
  if (facts.parked && facts.neverSent) {
    const repair =
      'correct what the attempts name, with the operator, then resolve it again or settle it by hand';
    return { action: 'contact-operator', text: `${doubt} The resolver has given up: ${repair}.` };
  }
  if (facts.parked) {
    const ask = 'ask the operator whether it booked the transaction';
    const byHand = 'settle it by hand if its wallet cannot answer';
    return { action: 'contact-operator', text: `${doubt} The resolver has given up: ${ask}, and ${byHand}.` };
  }
  if (facts.leaseAlive) return { action: 'wait', text: `${doubt} An attempt is under way.` };
  if (facts.undecidedRollback?.parked) {
    const text =
      `${doubt} Its ROLLBACK ${facts.undecidedRollback.transactionId} is undecided, and the resolver has given up: ` +
      'ask the operator whether it booked the ROLLBACK, and settle the ROLLBACK by hand if its wallet cannot answer.';
    return { action: 'contact-operator', text };
  }
  if (facts.undecidedRollback !== undefined) {
    const { transactionId } = facts.undecidedRollback;
    const text = `${doubt} Its ROLLBACK ${transactionId} is undecided: resolving sends that ROLLBACK again.`;
    return { action: facts.idleSeconds < SHORTEST_WAIT_SECONDS ? 'wait' : 'resolve', text };
  }
  // The resolver does not take it up earlier, so there is nothing to do.
  if (facts.idleSeconds < SHORTEST_WAIT_SECONDS) {
    const text = `${doubt} The resolver takes it up if the provider does not retry.`;
    return { action: 'wait', text };
  }
  return { action: 'resolve', text: `${doubt} ${effectOfResolving(facts)}` };
}

function decided(facts: AdviceFacts): Advice {
  const outcome = outcomeOf(facts);
  if (facts.kind !== 'ADJUSTMENT' && facts.providerReceivedFailure) {
    const text = `${outcome} The provider last received a 500: ask it to send the transaction again, or to correct its round.`;
    return { action: 'contact-provider', text };
  }
  return { action: 'none', text: outcome };
}

function doubtOf({ kind, amountMinor, currency, ownVerdict, neverSent }: AdviceFacts): string {
  const amount = transactionMoney(kind, Math.abs(amountMinor), currency);
  if (ownVerdict) return 'No money moves; only the balance for the answer could not be read.';
  if (neverSent)
    return 'No money moved: nothing was sent to the wallet; the detail of each attempt says why.';
  switch (kind) {
    case 'BET':
      return `It is not known whether the operator debited ${amount}.`;
    case 'ROLLBACK':
      return `It is not known whether the operator returned ${amount}.`;
    case 'ADJUSTMENT':
      return `It is not known whether the operator ${amountMinor < 0 ? 'debited' : 'credited'} ${amount}.`;
    default:
      return `It is not known whether the operator credited ${amount}.`;
  }
}

function effectOfResolving({ kind, amountMinor, currency, ownVerdict, neverSent }: AdviceFacts): string {
  if (ownVerdict) return 'Resolving reads the balance again and completes the answer.';
  if (neverSent && kind === 'BET') return 'Resolving ends the BET with a ROLLBACK, which returns nothing.';
  if (kind === 'BET') {
    return `Resolving ends the BET with a ROLLBACK: if ${money(amountMinor, currency)} was debited, the player gets it back.`;
  }
  return `Resolving sends the ${kind} again as it is: the operator books it at most once.`;
}

function outcomeOf({ kind, state, amountMinor, currency, ownVerdict }: AdviceFacts): string {
  const amount = transactionMoney(kind, Math.abs(amountMinor), currency);
  if (state === 'ROLLED_BACK') return `The BET of ${amount} was rolled back: the player has lost nothing.`;
  if (state === 'DECLINED')
    return `No money moved: the ${kind} of ${transactionMoney(kind, amountMinor, currency)} was declined.`;
  if (ownVerdict) return `No money moved: there was nothing left to do for this ${kind}.`;
  switch (kind) {
    case 'BET':
      return `The operator debited ${amount}.`;
    case 'ROLLBACK':
      return `The operator accepted the ROLLBACK: ${amount} was returned if it had been debited.`;
    case 'ADJUSTMENT':
      return `The operator ${amountMinor < 0 ? 'debited' : 'credited'} ${amount}.`;
    default:
      return `The operator credited ${amount}.`;
  }
}
