import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { reasonOf } from '../outbound/answer.js';
import { RedisConnection } from '../runtime/redis.js';
import type {
  BalanceAnswer,
  Booked,
  MovementRequest,
  OperatorWallet,
  WalletAnswer,
} from './operator-wallet.js';

/**
 * Maximum number of sessions whose play money is kept in memory. Beyond it, the session that has been idle longest
 * loses its ledger, and its next call begins with the initial balance.
 */
const SESSIONS_IN_MEMORY = 50_000;
/** Maximum number of transactions per session in memory; the oldest are dropped. A dropped BET cannot be reversed. */
const ENTRIES_OF_SESSION = 10_000;
/** Maximum number of transactions of all sessions in memory, about 70 MB. Beyond it, ledgers are dropped as above. */
const ENTRIES_IN_MEMORY = 500_000;
/** Maximum number of tries to book a transaction while other transactions change the same session. */
const TRIES_IN_REDIS = 200;
/**
 * After a session's last booking, Redis keeps its play money for the default lifetime of a session plus this time, in
 * seconds.
 */
const GRACE_SECONDS = 3_600;

/**
 * Stores a booking and returns 1. If the ledger no longer has the version that the caller read, ARGV[1], changes
 * nothing and returns 0.
 */
const WRITE_IF_UNCHANGED = `
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= ARGV[1] then return 0 end
redis.call('HINCRBY', KEYS[1], 'version', 1)
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1]) end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1`;

interface DemoLedger {
  /** Minor units, 0 … 2^53−1. */
  balance: number;
  /**
   * The outcome of each transactionId. A ROLLBACK of an unknown transaction stores a DECLINED entry for that
   * transaction as a tombstone, so that a BET that arrives later is declined.
   */
  readonly entries: Map<string, DemoEntry>;
}

interface DemoEntry {
  readonly status: 'APPROVED' | 'DECLINED';
  readonly reason?: string;
  /** The change of the balance, in minor units; negative for a BET. */
  readonly moved: number;
  readonly reversed?: true;
}

/** The play money of DEMO sessions, in Redis if it is configured, else in memory. Contract, section 3, "DEMO". */
@Injectable()
export class DemoBooks {
  /** By session id, in order of last use: the first session has been idle longest. */
  private readonly ledgers = new Map<string, DemoLedger>();
  private entriesInMemory = 0;

  constructor(
    private readonly configuration: Configuration,
    private readonly redis: RedisConnection,
  ) {}

  /** The wallet of one session. It calls no operator. */
  walletOf(sessionId: string): OperatorWallet {
    return {
      book: (request) => this.book(sessionId, request),
      balance: () => this.balance(sessionId),
    };
  }

  async book(sessionId: string, request: MovementRequest): Promise<WalletAnswer> {
    if (!this.redis.client) return this.bookInMemory(sessionId, request);
    try {
      return await this.bookInRedis(sessionId, request);
    } catch (error) {
      return { kind: 'unknown', cause: 'unavailable', detail: reasonOf(error) };
    }
  }

  private async balance(sessionId: string): Promise<BalanceAnswer> {
    if (!this.redis.client) return { kind: 'known', balance: this.inMemory(sessionId).balance };
    try {
      return { kind: 'known', balance: (await this.inRedis(sessionId, [])).ledger.balance };
    } catch (error) {
      return { kind: 'unknown', cause: 'unavailable', detail: reasonOf(error) };
    }
  }

  private bookInMemory(sessionId: string, request: MovementRequest): WalletAnswer {
    const ledger = this.inMemory(sessionId);
    const before = ledger.entries.size;
    const answer = bookDemo(ledger, request);
    for (const oldest of ledger.entries.keys()) {
      if (ledger.entries.size <= ENTRIES_OF_SESSION) break;
      ledger.entries.delete(oldest);
    }
    this.entriesInMemory += ledger.entries.size - before;
    this.evict();
    return answer;
  }

  private inMemory(sessionId: string): DemoLedger {
    const ledger = this.ledgers.get(sessionId) ?? {
      balance: this.configuration.demoStartBalanceMinor,
      entries: new Map<string, DemoEntry>(),
    };
    this.ledgers.delete(sessionId);
    this.ledgers.set(sessionId, ledger);
    this.evict();
    return ledger;
  }

  /** Drops the ledgers that have been idle longest. The bounds always leave the one in use. */
  private evict(): void {
    for (const [sessionId, { entries }] of this.ledgers) {
      if (this.ledgers.size <= SESSIONS_IN_MEMORY && this.entriesInMemory <= ENTRIES_IN_MEMORY) return;
      this.ledgers.delete(sessionId);
      this.entriesInMemory -= entries.size;
    }
  }

  private async bookInRedis(sessionId: string, request: MovementRequest): Promise<WalletAnswer> {
    const ids = [request.transactionId, request.originalTransactionId].filter((id) => id !== undefined);
    for (let attempt = 0; attempt < TRIES_IN_REDIS; attempt += 1) {
      const { ledger, version } = await this.inRedis(sessionId, ids);
      const answer = bookDemo(ledger, request);
      const fields = [...ledger.entries].flatMap(([id, entry]) => [`tx:${id}`, JSON.stringify(entry)]);
      const lifeSeconds = this.configuration.sessionTtlSeconds + GRACE_SECONDS;
      const written = await this.redis.client?.eval(
        WRITE_IF_UNCHANGED,
        1,
        key(sessionId),
        version,
        lifeSeconds,
        'balance',
        ledger.balance,
        ...fields,
      );
      if (written === 1) return answer;
    }
    return { kind: 'unknown', cause: 'unavailable', detail: 'the demo balance is contended' };
  }

  /** Reads the part of a session's ledger that a booking needs: the balance and the entries of these `ids`. */
  private async inRedis(
    sessionId: string,
    ids: readonly string[],
  ): Promise<{ ledger: DemoLedger; version: string }> {
    const fields = ['version', 'balance', ...ids.map((id) => `tx:${id}`)];
    const [version, balance, ...entries] = (await this.redis.client?.hmget(key(sessionId), ...fields)) ?? [];
    const ledger: DemoLedger = {
      balance: balance == null ? this.configuration.demoStartBalanceMinor : Number(balance),
      entries: new Map<string, DemoEntry>(),
    };
    ids.forEach((id, index) => {
      const entry = entries[index];
      if (entry != null) ledger.entries.set(id, JSON.parse(entry) as DemoEntry);
    });
    return { ledger, version: version ?? '0' };
  }
}

function key(sessionId: string): string {
  return `croupier:demo:${sessionId}`;
}

/** Books a movement by the rules of an operator's wallet: books each id once, and reverses each BET at most once. */
function bookDemo(ledger: DemoLedger, request: MovementRequest): Booked {
  const entry = ledger.entries.get(request.transactionId) ?? enter(ledger, request);
  const { status, reason } = entry;
  return { kind: 'decided', status, balance: ledger.balance, ...(reason !== undefined && { reason }) };
}

function enter(ledger: DemoLedger, request: MovementRequest): DemoEntry {
  const entry = decide(ledger, request);
  ledger.balance += entry.moved;
  ledger.entries.set(request.transactionId, entry);
  const { kind, originalTransactionId } = request;
  if (kind === 'ROLLBACK' && originalTransactionId !== undefined && entry.status === 'APPROVED') {
    const target = ledger.entries.get(originalTransactionId) ?? TOMBSTONE;
    ledger.entries.set(originalTransactionId, { ...target, reversed: true });
  }
  return entry;
}

const TOMBSTONE: DemoEntry = { status: 'DECLINED', reason: 'TRANSACTION_ROLLED_BACK', moved: 0 };

function decide(ledger: DemoLedger, request: MovementRequest): DemoEntry {
  const moved = movement(ledger, request);
  const after = ledger.balance + moved;
  if (after < 0) return { status: 'DECLINED', reason: 'INSUFFICIENT_FUNDS', moved: 0 };
  if (after > Number.MAX_SAFE_INTEGER) return { status: 'DECLINED', reason: 'LIMIT_REACHED', moved: 0 };
  return { status: 'APPROVED', moved };
}

function movement(ledger: DemoLedger, request: MovementRequest): number {
  if (request.kind === 'BET') return 0 - request.amountMinor;
  if (request.kind !== 'ROLLBACK') return request.amountMinor;
  const target = ledger.entries.get(request.originalTransactionId ?? '');
  return target === undefined || target.reversed ? 0 : 0 - target.moved;
}
