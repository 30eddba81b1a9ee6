import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { definite, type Intent, intentKey } from '../load/history.js';
import type { Row } from '../model/rows.js';
import { undecided } from '../model/rows.js';
import type { Fixed } from './moves.js';

/** The ledger of one operator, by provider and transaction. */
export class OperatorLedger {
  readonly entries = new Map<string, LedgerEntry>();
  /** The ids of the approved ROLLBACKs of each target. */
  readonly reversals = new Map<string, string[]>();

  static async read(path: string): Promise<OperatorLedger> {
    const ledger = new OperatorLedger();
    for await (const entry of linesOf<LedgerEntry>(path)) ledger.add(entry);
    return ledger;
  }

  /** Whether a transaction is booked and not reversed. */
  stands(id: string): boolean {
    return this.entries.get(id)?.status === 'APPROVED' && !this.reversals.has(id);
  }

  add(entry: LedgerEntry): void {
    const { providerId, transactionId, kind, status, originalTransactionId } = entry;
    this.entries.set(intentKey(providerId, transactionId), entry);
    if (kind !== 'ROLLBACK' || status !== 'APPROVED' || originalTransactionId === undefined) return;
    const target = intentKey(providerId, originalTransactionId);
    const known = this.reversals.get(target);
    if (known) known.push(transactionId);
    else this.reversals.set(target, [transactionId]);
  }
}

export async function* linesOf<Line>(path: string): AsyncGenerator<Line> {
  for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line) as Line;
}

/** Wins minus bets over all players, without those rolled back, in minor units, by the records of each party. */
export interface Sums {
  provider: number;
  platform: number;
  operator: number;
}

/** Compares the providers' answers, the platform's records and the operators' ledgers, transaction by transaction. */
export class Ledgers {
  readonly sums: Sums = { provider: 0, platform: 0, operator: 0 };
  readonly violations: string[] = [];
  private readonly matched = new Set<string>();

  constructor(
    private readonly operators: ReadonlyMap<string, OperatorLedger>,
    private readonly intents: ReadonlyMap<string, Intent>,
  ) {}

  compareRound(rows: ReadonlyMap<string, Row>, fixed: ReadonlyMap<string, Fixed>): void {
    for (const row of rows.values()) this.compare(row, fixed.get(row.transactionId)?.verdict ?? null);
  }

  /** Finds transactions that only an operator has or that it reversed twice, and compares the sums. */
  finish(): void {
    for (const { entries, reversals } of this.operators.values()) {
      for (const [id, { movedMinor }] of entries) {
        this.sums.operator += movedMinor;
        if (!this.matched.has(id))
          this.violations.push(`${id}: the operator booked it, the platform has no record`);
      }
      for (const [target, by] of reversals) {
        if (by.length > 1) this.violations.push(`${target}: reversed by ${by.join(' and ')}`);
      }
    }
    const { provider, platform, operator } = this.sums;
    if (provider !== platform || platform !== operator) {
      this.violations.push(
        `the sums differ: provider ${provider}, platform ${platform}, operator ${operator}`,
      );
    }
  }

  private compare(row: Row, verdict: string | null): void {
    const { providerId, transactionId, operatorId, kind, state } = row;
    const id = intentKey(providerId, transactionId);
    const ledger = this.operators.get(operatorId);
    const entry = ledger?.entries.get(id);
    if (entry) this.matched.add(id);
    const complain = (text: string) => {
      this.violations.push(`${id}: ${text}`);
    };
    if (undecided(row)) return complain(`${state} in the end`);
    if (kind === null) return this.compareTombstone(id, entry, complain);
    if (entry && entry.amountMinor !== row.amountMinor) {
      complain(`the operator booked ${entry.amountMinor}, the platform ${row.amountMinor}`);
    }
    const approved = state === 'APPROVED';
    const differ = verdict === null ? approved !== (ledger?.stands(id) ?? false) : entry !== undefined;
    if (differ) {
      const reversed = ledger?.reversals.has(id) ? ', reversed' : '';
      complain(`the platform stores ${state}, the operator has ${entry?.status ?? 'nothing'}${reversed}`);
    }
    const target = intentKey(providerId, row.originalTransactionId ?? '');
    if (approved && kind === 'ROLLBACK' && ledger?.stands(target)) {
      complain(`it is APPROVED, but its target ${target} stands at the operator`);
    }
    if (approved) this.sums.platform += signed(row);
    this.compareLastAnswer(row, id, complain);
  }

  private compareTombstone(
    id: string,
    entry: LedgerEntry | undefined,
    complain: (text: string) => void,
  ): void {
    if (entry?.status === 'APPROVED')
      complain('the operator booked a transaction for which the platform has a tombstone');
    this.compareDeclined(id, complain);
  }

  private compareLastAnswer(row: Row, id: string, complain: (text: string) => void): void {
    const intent = this.intents.get(id);
    const answer = intent && definite(intent);
    if (!intent) {
      if (!row.transactionId.startsWith('croupier-')) complain('no provider sent this transaction');
      return;
    }
    if (!answer) return complain('the provider has no definite answer');
    if (row.state === 'ROLLED_BACK') return this.compareRolledBack(intent, id, complain);
    const { status } = JSON.parse(answer.body ?? '{}') as { status?: string };
    if (status !== row.state)
      complain(`the provider's last answer is ${status ?? 'missing'}, the platform stores ${row.state}`);
    if (status === 'APPROVED') this.sums.provider += signed(row);
  }

  /** The provider must have learned of the reversal: its BET was declined, or a ROLLBACK of its own was approved. */
  private compareRolledBack(intent: Intent, id: string, complain: (text: string) => void): void {
    const { providerId } = intent.session;
    const lastStatus = (one: Intent | undefined) =>
      one && (JSON.parse(definite(one)?.body ?? '{}') as { status?: string }).status;
    if (lastStatus(intent) === 'DECLINED') return;
    const rollbacks = ['undo', 'undo-again', 'undo-second'].map((name) =>
      this.intents.get(intentKey(providerId, `${name}-${intent.request.transactionId.split('-').at(-1)}`)),
    );
    const known = rollbacks.some(
      (rollback) =>
        rollback?.request.originalTransactionId === intent.request.transactionId &&
        lastStatus(rollback) === 'APPROVED',
    );
    if (!known) complain(`it is rolled back, but no answer told the provider of ${id}`);
  }

  private compareDeclined(id: string, complain: (text: string) => void): void {
    const intent = this.intents.get(id);
    const answer = intent && definite(intent);
    if (!intent) return;
    const { status } = JSON.parse(answer?.body ?? '{}') as { status?: string };
    if (status !== 'DECLINED')
      complain(`the provider's last answer is ${status ?? 'missing'} although the platform has a tombstone`);
  }
}

function signed({ kind, amountMinor }: Row): number {
  if (kind === 'BET') return -amountMinor;
  return kind === 'WIN' ? amountMinor : 0;
}
