import { ProviderClient } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { Outbox, OUTBOX_TABLE } from './outbox.js';

// Plays one round through the outbox. Stop it at any moment and start it again: it continues with what is open.
// DATABASE_URL=… CROUPIER_SECRET=… SESSION_TOKEN=… npm run example:outbox -w sdk
const { DATABASE_URL, CROUPIER_SECRET = '', SESSION_TOKEN: sessionToken = '' } = process.env;
const platform = new ProviderClient({
  baseUrl: process.env['CROUPIER_URL'] ?? 'http://127.0.0.1:3000',
  tenantId: process.env['CROUPIER_TENANT'] ?? 'sandbox-provider',
  secret: CROUPIER_SECRET,
});
const pool = new Pool({ connectionString: DATABASE_URL });
try {
  await pool.query(OUTBOX_TABLE);
  const outbox = new Outbox(pool, platform);
  console.log(`${await outbox.deliverDue()} transactions of an earlier run were sent`);

  const { playerRef, gameId, currency } = await platform.verifySession({ sessionToken });
  const round = { sessionToken, playerRef, gameId, currency, roundId: randomUUID() };
  const bet = { ...round, kind: 'BET', transactionId: randomUUID(), amountMinor: 250 } as const;
  await outbox.place(bet);
  if ((await decided(outbox, bet.transactionId)) === 'APPROVED') {
    const win = {
      ...round,
      kind: 'WIN',
      transactionId: randomUUID(),
      amountMinor: 400,
      roundClosed: true,
    } as const;
    await outbox.place(win);
    await decided(outbox, win.transactionId);
  }
} finally {
  await pool.end();
}

/** Delivers until the transaction is no longer open. */
async function decided(outbox: Outbox, transactionId: string): Promise<string> {
  for (;;) {
    const entry = await outbox.deliver(transactionId);
    if (entry && entry.state !== 'OPEN') {
      console.log(transactionId, entry.state, entry.answer ?? entry.error);
      return entry.answer?.status ?? entry.state;
    }
    await pause(1000);
  }
}
