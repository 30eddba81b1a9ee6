import type { ReceivedCall } from '../world/counterpart.js';
import type { World } from '../world/world.js';

interface Claim {
  readonly state: string;
  readonly live: boolean;
  readonly rollbackId: string | null;
}

/**
 * Observes the wallet's transaction calls while they are under way. Each must have a committed claim that is live and no
 * ROLLBACK, and no other call of the same transaction, its target or its ROLLBACK may be under way. It suits tests in
 * which no call outlives its lease.
 */
export class CallsUnderWay {
  readonly violations: string[] = [];
  observed = 0;
  private readonly underWay = new Set<string>();

  private constructor(private readonly world: World) {}

  static observe(world: World): CallsUnderWay {
    const calls = new CallsUnderWay(world);
    world.wallet.surround((call, handle) =>
      call.path === '/transaction' ? calls.during(call, handle) : handle(),
    );
    return calls;
  }

  private async during({ json }: ReceivedCall, handle: () => Promise<void>): Promise<void> {
    const { providerId, transactionId, kind, originalTransactionId } = json as Readonly<
      Record<string, string>
    >;
    const id = `${providerId} ${transactionId}`;
    const target = kind === 'ROLLBACK' ? `${providerId} ${originalTransactionId}` : id;
    for (const other of new Set([id, target])) {
      if (this.underWay.has(other))
        this.violations.push(`the call of ${id}: a call of ${other} is under way`);
    }
    this.underWay.add(id);
    try {
      await this.readClaim(id, providerId!, transactionId!);
      await handle();
    } finally {
      this.underWay.delete(id);
    }
  }

  private async readClaim(id: string, providerId: string, transactionId: string): Promise<void> {
    const [claim] = await this.world.sql.run<Claim>(
      `SELECT state, coalesce(lease_until > clock_timestamp(), false) AS live, rollback_id AS "rollbackId"
         FROM transactions WHERE provider_id = $1 AND transaction_id = $2`,
      [providerId, transactionId],
    );
    this.observed += 1;
    const { state, live, rollbackId } = claim ?? {};
    if (state === 'PENDING' && live && rollbackId === null) return;
    this.violations.push(`the call of ${id}: its claim is ${JSON.stringify(claim)}`);
  }
}
