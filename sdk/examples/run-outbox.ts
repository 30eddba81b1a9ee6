import { ProviderClient } from '@croupier/provider-sdk';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'pg';
import { Outbox, OUTBOX_TABLE } from './outbox.js';

// Plays one round through the outbox. You can stop this program at any moment and start it again with the same
// SESSION_TOKEN: it continues the round, and no money moves twice. Run it with:
// DATABASE_URL=… CROUPIER_SECRET=… SESSION_TOKEN=… npm run example:outbox -w sdk
const { DATABASE_URL, CROUPIER_SECRET, SESSION_TOKEN: sessionToken } = process.env;
if (DATABASE_URL && CROUPIER_SECRET && sessionToken) {
  const platform = new ProviderClient({
    baseUrl: process.env['CROUPIER_URL'] ?? 'http://127.0.0.1:3000',
    tenantId: process.env['CROUPIER_TENANT'] ?? 'my-provider',
    secret: CROUPIER_SECRET,
  });
  const pool = new Pool({ connectionString: DATABASE_URL });
  // Without a listener, the loss of an idle connection ends the process. The pool opens another one when it needs one.
  pool.on('error', (error) => console.error(error.message));
  try {
    await pool.query(OUTBOX_TABLE);
    await playRound(new Outbox(pool, platform), platform, sessionToken);
  } finally {
    await pool.end();
  }
} else {
  console.error('Usage: DATABASE_URL=… CROUPIER_SECRET=… SESSION_TOKEN=… npm run example:outbox -w sdk');
  process.exitCode = 2;
}

async function playRound(outbox: Outbox, platform: ProviderClient, sessionToken: string): Promise<void> {
  await deliverOpen(outbox);
  const { playerRef, gameId, currency } = await platform.verifySession({ sessionToken });
  // A game keeps the ids of its round in its own state. Here they are derived from the session token, so that a
  // restarted process has the same ids.
  const roundId = createHash('sha256').update(sessionToken).digest('hex').slice(0, 32);
  const round = { sessionToken, playerRef, gameId, currency, roundId };
  await outbox.place({ ...round, kind: 'BET', transactionId: `${roundId}-bet`, amountMinor: 250 });
  await deliverOpen(outbox);
  const bet = await outbox.find(`${roundId}-bet`);
  console.log('BET', bet?.state, bet?.answer ?? bet?.error);
  if (bet?.answer?.status !== 'APPROVED') return;

  const payout = { transactionId: `${roundId}-win`, amountMinor: 400, roundClosed: true };
  await outbox.place({ ...round, kind: 'WIN', ...payout });
  await deliverOpen(outbox);
  const win = await outbox.find(`${roundId}-win`);
  console.log('WIN', win?.state, win?.answer ?? win?.error);
}

/** Delivers until no transaction is open, including those of earlier runs. */
async function deliverOpen(outbox: Outbox): Promise<void> {
  for (;;) {
    await outbox.deliverDue();
    const open = await outbox.countOpen();
    if (open === 0) return;
    console.log(`${open} open; the next attempt is due later`);
    await pause(1000);
  }
}
