/**
 * A complete operator's wallet on PostgreSQL, as Croupier's contract, section 4, describes it. `docs/integrate/operator.md`
 * explains it. Run it with:
 *
 *   DATABASE_URL=postgres://… TENANT=my-operator CROUPIER_SECRET=… PORT=4000 node example-wallet.mjs
 *
 * Each call is one database transaction that first locks the player's account. Concurrent calls for one player therefore
 * take turns, and a process that dies in between has booked either everything or nothing.
 */
import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import pg from 'pg';

const { DATABASE_URL, TENANT, CROUPIER_SECRET, PORT = '4000' } = process.env;
/** What a player has before the first transaction, in minor units; a real wallet opens accounts elsewhere. */
const WELCOME_MINOR = 100_000;
const TOLERANCE_SECONDS = 300;
const BODY_LIMIT_BYTES = 64 * 1024;

const SCHEMA = `
CREATE TABLE IF NOT EXISTS accounts (
  player_ref text, currency text, balance_minor numeric NOT NULL,
  PRIMARY KEY (player_ref, currency)
);
CREATE TABLE IF NOT EXISTS bookings (
  provider_id text, transaction_id text, booking_no bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL, player_ref text NOT NULL, currency text NOT NULL,
  moved_minor numeric NOT NULL, status text NOT NULL, reason text,
  PRIMARY KEY (provider_id, transaction_id)
);
-- A transaction that a ROLLBACK named: reversed if it was booked, else a tombstone.
CREATE TABLE IF NOT EXISTS rolled_back (
  provider_id text, transaction_id text,
  PRIMARY KEY (provider_id, transaction_id)
);`;

const pool = new pg.Pool({ connectionString: DATABASE_URL });

/** POST /transaction: books an order once, however often it arrives, and answers the same each time. */
async function book(order) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const balance = await lockAccount(client, order);
    const booking = (await findBooking(client, order)) ?? (await insertBooking(client, order, balance));
    const answer = {
      status: booking.status,
      balance: balance + (booking.isNew ? Number(booking.moved_minor) : 0),
      ...(booking.reason && { reason: booking.reason }),
      operatorTransactionId: `booking-${booking.booking_no}`,
    };
    await client.query('COMMIT');
    return answer;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

/** Until the end of the database transaction, no other call changes this account. @returns its balance */
async function lockAccount(client, { playerRef, currency }) {
  await client.query('INSERT INTO accounts VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    playerRef,
    currency,
    WELCOME_MINOR,
  ]);
  const { rows } = await client.query(
    'SELECT balance_minor FROM accounts WHERE player_ref = $1 AND currency = $2 FOR UPDATE',
    [playerRef, currency],
  );
  return Number(rows[0].balance_minor);
}

async function findBooking(client, { providerId, transactionId }) {
  const { rows } = await client.query(
    'SELECT * FROM bookings WHERE provider_id = $1 AND transaction_id = $2',
    [providerId, transactionId],
  );
  return rows[0];
}

async function insertBooking(client, order, balance) {
  const { providerId, transactionId, kind, playerRef, currency, originalTransactionId } = order;
  const { status, movedMinor = 0, reason = null } = await judge(client, order, balance);
  await client.query(
    'UPDATE accounts SET balance_minor = balance_minor + $3 WHERE player_ref = $1 AND currency = $2',
    [playerRef, currency, movedMinor],
  );
  if (kind === 'ROLLBACK' && status === 'APPROVED') {
    await client.query('INSERT INTO rolled_back VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      providerId,
      originalTransactionId,
    ]);
  }
  const { rows } = await client.query(
    `INSERT INTO bookings (provider_id, transaction_id, kind, player_ref, currency, moved_minor, status, reason)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING *`,
    [providerId, transactionId, kind, playerRef, currency, movedMinor, status, reason],
  );
  return { ...rows[0], isNew: true };
}

/** Decides a new order. Changes nothing. */
async function judge(client, order, balance) {
  const { providerId, transactionId, kind, amountMinor, originalTransactionId } = order;
  if (kind === 'ROLLBACK') {
    const target = await findBooking(client, { providerId, transactionId: originalTransactionId });
    if (!target) return approved(0); // leaves a tombstone
    if (target.kind !== 'BET' || !sameAccount(target, order)) return declined('NOT_ROLLBACKABLE');
    const reversed = await isRolledBack(client, providerId, originalTransactionId);
    return approved(reversed ? 0 : -Number(target.moved_minor)); // at most one reversal
  }
  if (await isRolledBack(client, providerId, transactionId)) return declined('TRANSACTION_ROLLED_BACK');
  const movedMinor = kind === 'BET' ? -amountMinor : amountMinor;
  if (kind === 'BET' && amountMinor > balance) return declined('INSUFFICIENT_FUNDS');
  if (!Number.isSafeInteger(balance + movedMinor)) return declined('LIMIT_REACHED');
  return approved(movedMinor);
}

const approved = (movedMinor) => ({ status: 'APPROVED', movedMinor });
const declined = (reason) => ({ status: 'DECLINED', reason });
const sameAccount = (target, { playerRef, currency }) =>
  target.player_ref === playerRef && target.currency === currency;

async function isRolledBack(client, providerId, transactionId) {
  const { rowCount } = await client.query(
    'SELECT FROM rolled_back WHERE provider_id = $1 AND transaction_id = $2',
    [providerId, transactionId],
  );
  return rowCount > 0;
}

/** POST /balance */
async function readBalance({ playerRef, currency }) {
  const { rows } = await pool.query(
    'SELECT balance_minor FROM accounts WHERE player_ref = $1 AND currency = $2',
    [playerRef, currency],
  );
  return { balance: Number(rows[0]?.balance_minor ?? WELCOME_MINOR) };
}

/** What makes a request no order; undefined if it is one. */
function defectOf({ providerId, transactionId, kind, playerRef, currency, amountMinor, ...rest }) {
  if (![providerId, transactionId, playerRef].every(isText)) return 'an identifier is missing';
  if (!['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'].includes(kind)) return 'unknown kind';
  if (!/^[A-Z]{3}$/.test(currency)) return 'currency must be three upper-case letters';
  if (!Number.isSafeInteger(amountMinor)) return 'amountMinor must be an integer';
  if (amountMinor < 0 && kind !== 'ADJUSTMENT') return 'amountMinor must not be negative';
  if (kind === 'ROLLBACK' && !isText(rest.originalTransactionId)) return 'originalTransactionId is missing';
  return undefined;
}
const isText = (value) => typeof value === 'string' && value !== '';

/**
 * Verifies the signature over the raw bytes, before anything is parsed. Nonces are remembered for twice the tolerance; in
 * memory is enough, because a repeated transaction moves nothing anyway.
 */
const nonces = new Map();
function isSigned(method, path, headers, body) {
  const {
    'x-tenant-id': tenant,
    'x-timestamp': timestamp,
    'x-nonce': nonce,
    'x-signature': signature,
  } = headers;
  if (
    tenant !== TENANT ||
    !/^\d+$/.test(timestamp ?? '') ||
    !nonce ||
    !/^[0-9a-f]{64}$/.test(signature ?? '')
  )
    return false;
  const now = Date.now() / 1000;
  if (Math.abs(now - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', CROUPIER_SECRET)
    .update(`${method}\n${path}\n${timestamp}\n${nonce}\n`)
    .update(body)
    .digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return false;
  for (const [known, at] of nonces) {
    if (now - at <= 2 * TOLERANCE_SECONDS) break;
    nonces.delete(known);
  }
  if (nonces.has(nonce)) return false;
  nonces.set(nonce, now);
  return true;
}

async function answer(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > BODY_LIMIT_BYTES) return { status: 413, body: { error: 'the body is too large' } };
    chunks.push(chunk);
  }
  const raw = Buffer.concat(chunks);
  if (!isSigned(request.method, request.url, request.headers, raw))
    return { status: 401, body: { error: 'invalid signature' } };
  const order = JSON.parse(raw.toString());
  if (request.url.endsWith('/balance')) return { status: 200, body: await readBalance(order) };
  if (!request.url.endsWith('/transaction')) return { status: 404, body: { error: 'not found' } };
  const error = defectOf(order);
  return error ? { status: 400, body: { error } } : { status: 200, body: await book(order) };
}

await pool.query(SCHEMA);
const server = createServer(async (request, response) => {
  const { status, body } = await answer(request).catch((error) => {
    console.error(error); // Croupier repeats the call: anything but a 200 means "not known yet"
    return { status: 500, body: { error: 'internal error' } };
  });
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});
server.keepAliveTimeout = 65_000; // longer than Croupier keeps an idle connection
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`wallet: http://127.0.0.1:${server.address().port}`),
);
process.once('SIGTERM', () => server.close(() => pool.end()));
