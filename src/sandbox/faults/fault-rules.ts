import type { IncomingHttpHeaders } from 'node:http';
import { type Fields, isText, isWhole } from '../fields.js';
import { appliesTo, type FaultName, FAULTS, isFaultName } from './faults.js';

/** A rule that was set over HTTP: which calls misbehave, and how. */
interface FaultRule {
  readonly fault: FaultName;
  /** The operation; undefined means all operations to which the fault applies. */
  readonly on?: string;
  /** The prefix of the playerRef; undefined means every player. */
  readonly playerRefPrefix?: string;
  /** The number of the first matching call that misbehaves, from 1. */
  readonly nth: number;
  /** How many matching calls misbehave, including the first. */
  readonly times: number;
  /** The duration of `answer-slowly`, or the delay of `book-late` after the caller's time-out, in milliseconds. */
  readonly ms: number;
}

interface CountedRule {
  readonly rule: FaultRule;
  matched: number;
  applied: number;
}

export interface VerifiedCall {
  readonly operation: string;
  readonly body: Fields;
  readonly headers: IncomingHttpHeaders;
}

export interface ChosenFault {
  readonly name: FaultName;
  readonly ms: number;
}

const MAX_RULES = 100;
/**
 * Maximum number of remembered calls. A call that misbehaves because of its player is remembered, so that its
 * repetition succeeds. Beyond the maximum, the oldest is forgotten.
 */
const MAX_REMEMBERED = 10_000;
const DEFAULT_MS = 2_000;
const MAX_MS = 60_000;
const RULE_FIELDS = ['fault', 'on', 'playerRefPrefix', 'nth', 'times', 'ms'];
/**
 * The operations by which the platform changes something, each with the field that identifies a repeated call. Only
 * these operations can misbehave because of the player.
 */
const ONCE_BY = {
  BET: 'transactionId',
  WIN: 'transactionId',
  ROLLBACK: 'transactionId',
  ADJUSTMENT: 'transactionId',
  grant: 'requestRef',
  cancel: 'externalRef',
  revoke: 'revocationRef',
} as const;

/** Whether a fault would change what happens to the call: a repetition, for instance, cannot be booked late. */
export type HasEffect = (fault: FaultName) => boolean;

/**
 * Chooses the fault of a call: by the call's header, else by the rules, else by the player. A fault without an effect on
 * the call is not chosen, and does not count as applied.
 */
export class FaultRules {
  private rules: CountedRule[] = [];
  /** The calls to which a player's fault has already been applied. */
  private readonly misbehaved = new Set<string>();

  constructor(readonly operations: readonly string[]) {}

  choose(call: VerifiedCall, hasEffect: HasEffect): ChosenFault | undefined {
    return this.byHeader(call, hasEffect) ?? this.byRule(call, hasEffect) ?? this.byPlayer(call, hasEffect);
  }

  list(): object[] {
    return this.rules.map(({ rule, matched, applied }) => ({ ...rule, matched, applied }));
  }

  /**
   * Replaces all rules.
   * @returns an error message if the rules are invalid, in which case nothing changes
   */
  replace({ rules }: Fields): string | undefined {
    if (!Array.isArray(rules) || rules.length > MAX_RULES)
      return `rules must be a list of at most ${MAX_RULES}`;
    const counted: CountedRule[] = [];
    for (const [index, given] of rules.entries()) {
      const rule = this.readRule(given, `rules[${index}]`);
      if (typeof rule === 'string') return rule;
      counted.push({ rule, matched: 0, applied: 0 });
    }
    this.rules = counted;
    return undefined;
  }

  clear(): void {
    this.rules = [];
  }

  /**
   * The fault that a header names: `X-Sandbox-Fault: NAME`, or `X-Request-Id: fault.NAME.anything`, which the platform
   * passes on.
   */
  private byHeader({ operation, headers }: VerifiedCall, hasEffect: HasEffect): ChosenFault | undefined {
    const named =
      headers['x-sandbox-fault'] ?? /^fault\.([a-z0-9-]+)\./.exec(String(headers['x-request-id']))?.[1];
    const isChosen = isFaultName(named) && appliesTo(named, operation) && hasEffect(named);
    return isChosen ? { name: named, ms: DEFAULT_MS } : undefined;
  }

  private byRule({ operation, body }: VerifiedCall, hasEffect: HasEffect): ChosenFault | undefined {
    let chosen: ChosenFault | undefined;
    for (const counted of this.rules) {
      const { fault, on, playerRefPrefix = '', nth, times, ms } = counted.rule;
      const isMeant = on === undefined ? appliesTo(fault, operation) : on === operation;
      if (!isMeant || !String(body['playerRef']).startsWith(playerRefPrefix)) continue;
      counted.matched += 1;
      if (chosen || counted.matched < nth || counted.applied >= times || !hasEffect(fault)) continue;
      counted.applied += 1;
      chosen = { name: fault, ms };
    }
    return chosen;
  }

  /**
   * The fault that a player named `fault-NAME-anything` causes in the first call of each transaction, grant, cancel
   * and revocation.
   */
  private byPlayer({ operation, body }: VerifiedCall, hasEffect: HasEffect): ChosenFault | undefined {
    const name = Object.keys(FAULTS).find((each) => String(body['playerRef']).startsWith(`fault-${each}-`));
    if (!isFaultName(name) || !appliesTo(name, operation) || !Object.hasOwn(ONCE_BY, operation))
      return undefined;
    const { providerId } = body;
    const id = body[ONCE_BY[operation as keyof typeof ONCE_BY]];
    const key = JSON.stringify([operation, providerId, id]);
    if (this.misbehaved.has(key) || !hasEffect(name)) return undefined;
    if (this.misbehaved.size >= MAX_REMEMBERED)
      this.misbehaved.delete(this.misbehaved.values().next().value!);
    this.misbehaved.add(key);
    return { name, ms: DEFAULT_MS };
  }

  private readRule(rule: unknown, path: string): FaultRule | string {
    if (typeof rule !== 'object' || rule === null) return `${path} must be an object`;
    const { fault, on, playerRefPrefix, nth = 1, times = 1, ms = DEFAULT_MS } = rule as Fields;
    const unknown = Object.keys(rule).find((field) => !RULE_FIELDS.includes(field));
    if (unknown !== undefined) return `${path}.${unknown} is not known`;
    if (!isFaultName(fault)) return `${path}.fault must be one of ${Object.keys(FAULTS).join(', ')}`;
    const possible = this.operations.filter((operation) => appliesTo(fault, operation));
    if (possible.length === 0) return `${path}.fault does not apply to this counterpart`;
    const operation = possible.find((each) => each === on);
    if (on !== undefined && operation === undefined)
      return `${path}.on must be one of ${possible.join(', ')}`;
    if (playerRefPrefix !== undefined && !isText(playerRefPrefix))
      return `${path}.playerRefPrefix must be a non-empty string`;
    if (!isWhole(nth, 1) || !isWhole(times, 1))
      return `${path}.nth and times must be whole numbers of at least 1`;
    if (!isWhole(ms, 0) || ms > MAX_MS) return `${path}.ms must be a whole number from 0 to ${MAX_MS}`;
    return {
      fault,
      nth,
      times,
      ms,
      ...(operation !== undefined && { on: operation }),
      ...(playerRefPrefix !== undefined && { playerRefPrefix }),
    };
  }
}
