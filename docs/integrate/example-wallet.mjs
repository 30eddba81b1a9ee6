/**
 * A complete operator's wallet on PostgreSQL, as Croupier's contract, section 4, describes it. `docs/integrate/operator.md`
 * explains it. Run it in Croupier's folder:
 *
 *   TENANT=my-operator CROUPIER_SECRET=… node docs/integrate/example-wallet.mjs
 *
 * PORT is 4001 by default. Set DATABASE_URL to use a PostgreSQL of your own.
 *
 * Each POST /transaction is one database transaction that first locks the player's account. Concurrent calls for one
 * player therefore take turns, and a process that dies in between has booked either everything or nothing.
 */
import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers';
import pg from 'pg';

const { DATABASE_URL, TENANT, CROUPIER_SECRET, PORT = '4001' } = process.env;
if (!TENANT || !CROUPIER_SECRET) throw new Error('TENANT and CROUPIER_SECRET are needed');
/** A player's initial balance, in minor units. */
const WELCOME_MINOR = 100_000;
/** For trials, every player has an account, except those whose name begins like this. */
const UNKNOWN_PREFIX = 'unknown-';
const TOLERANCE_SECONDS = 300;
/** How long a nonce is remembered. */
const NONCE_SECONDS = 2 * TOLERANCE_SECONDS + 1;
const BODY_LIMIT_BYTES = 64 * 1024;
/** How long calls may take to end after a signal to stop: as long as Croupier waits for an answer by default. */
const STOP_MS = 5_000;

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
-- Why a WIN was paid, for reports; and the rest of a line in a statement.
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS win_kind text, ADD COLUMN IF NOT EXISTS promotion_ref text,
  ADD COLUMN IF NOT EXISTS amount_minor numeric, ADD COLUMN IF NOT EXISTS original_transaction_id text,
  ADD COLUMN IF NOT EXISTS booked_at timestamptz NOT NULL DEFAULT clock_timestamp();
-- A transaction that a ROLLBACK named: reversed if it was booked, else a tombstone.
CREATE TABLE IF NOT EXISTS rolled_back (
  provider_id text, transaction_id text,
  PRIMARY KEY (provider_id, transaction_id)
);`;

/** Resolves at the first signal to stop, also if it arrives during the start. A second one ends the process at once. */
const stopRequested = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
});
const embedded = DATABASE_URL ? undefined : await startEmbedded();
const pool = new pg.Pool({ connectionString: DATABASE_URL ?? embedded.url });
// Without these listeners, a lost connection ends the process. The pool opens another one for the next call.
pool.on('connect', (client) => client.on('error', (error) => console.error(error)));
pool.on('error', () => undefined); // the same error, if the connection was idle

/** For trials: Croupier's embedded PostgreSQL, which `npm start` has built, with a database of the wallet's own. */
async function startEmbedded() {
  const { startEmbeddedPostgres } = await import('../../dist/embedded-postgres/embedded-postgres.js');
  return startEmbeddedPostgres({ dataDir: join(tmpdir(), 'croupier-example-wallet'), log: () => undefined });
}

/**
 * POST /transaction: books an order once, however often it arrives. The answer to a repetition has the stored decision and
 * the current balance.
 */
async function book(order) {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const account = await lockAccount(client, order);
    const balance = Number(account?.balance_minor ?? 0);
    const booking = (await findBooking(client, order)) ?? (await insertBooking(client, order, account));
    const answer = {
      transactionId: order.transactionId,
      status: booking.status,
      balance: balance + (booking.isNew ? Number(booking.moved_minor) : 0),
      ...(booking.reason && { reason: booking.reason }),
      operatorTransactionId: `booking-${booking.booking_no}`,
    };
    await client.query('COMMIT');
    return answer;
  } catch (error) {
    await client.query('ROLLBACK').catch(() => undefined); // on a lost connection, PostgreSQL does it itself
    throw error;
  } finally {
    client.release();
  }
}

/** Until the end of the database transaction, no other call changes this account. @returns undefined if there is none */
async function lockAccount(client, { playerRef, currency }) {
  await openAccount(client, playerRef, currency);
  const { rows } = await client.query(
    'SELECT balance_minor FROM accounts WHERE player_ref = $1 AND currency = $2 FOR UPDATE',
    [playerRef, currency],
  );
  return rows[0];
}

/** Opens an account at its first call. A real wallet opens accounts when players register, not here. */
async function openAccount(client, playerRef, currency) {
  if (playerRef.startsWith(UNKNOWN_PREFIX)) return;
  await client.query('INSERT INTO accounts VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
    playerRef,
    currency,
    WELCOME_MINOR,
  ]);
}

async function findBooking(client, { providerId, transactionId }) {
  const { rows } = await client.query(
    'SELECT * FROM bookings WHERE provider_id = $1 AND transaction_id = $2',
    [providerId, transactionId],
  );
  return rows[0];
}

async function insertBooking(client, order, account) {
  const { providerId, transactionId, kind, playerRef, currency, originalTransactionId } = order;
  const { amountMinor, winKind = null, promotionRef = null } = order;
  const { status, movedMinor = 0, reason = null } = await judge(client, order, account);
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
    `INSERT INTO bookings (provider_id, transaction_id, kind, player_ref, currency, moved_minor, status, reason,
                           win_kind, promotion_ref, amount_minor, original_transaction_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING *`,
    [
      ...[providerId, transactionId, kind, playerRef, currency, movedMinor, status, reason],
      ...[winKind, promotionRef, amountMinor, originalTransactionId],
    ],
  );
  return { ...rows[0], isNew: true };
}

/** Decides a new order. Changes nothing. */
async function judge(client, order, account) {
  const { providerId, transactionId, kind, amountMinor, originalTransactionId } = order;
  if (kind === 'ROLLBACK') {
    const target = await findBooking(client, { providerId, transactionId: originalTransactionId });
    if (!target) return approved(0); // leaves a tombstone
    if (target.kind !== 'BET' || !sameAccount(target, order)) return declined('NOT_ROLLBACKABLE');
    const reversed = await isRolledBack(client, providerId, originalTransactionId);
    return approved(reversed ? 0 : -Number(target.moved_minor)); // at most one reversal
  }
  if (await isRolledBack(client, providerId, transactionId)) return declined('TRANSACTION_ROLLED_BACK');
  if (!account) return declined('PLAYER_UNKNOWN');
  const balance = Number(account.balance_minor);
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

/** POST /balance @returns undefined if there is no such account */
async function readBalance({ playerRef, currency }) {
  await openAccount(pool, playerRef, currency);
  const { rows } = await pool.query(
    'SELECT balance_minor FROM accounts WHERE player_ref = $1 AND currency = $2',
    [playerRef, currency],
  );
  return rows[0] && { playerRef, currency, balance: Number(rows[0].balance_minor) };
}

/** The body as an object; empty if it is anything else. */
function parse(raw) {
  try {
    return Object(JSON.parse(raw));
  } catch {
    return {};
  }
}

/** Why a body names no account; undefined if it names one. */
function accountDefectOf({ playerRef, currency }) {
  if (!isText(playerRef)) return 'playerRef is missing';
  if (!isText(currency) || !/^[A-Z]{3}$/.test(currency)) return 'currency must be three upper-case letters';
  return undefined;
}

/** Why a body is not a transaction; undefined if it is one. */
function orderDefectOf({ providerId, transactionId, kind, amountMinor, originalTransactionId }) {
  if (!isText(providerId) || !isText(transactionId)) return 'an identifier is missing';
  if (!['BET', 'WIN', 'ROLLBACK', 'ADJUSTMENT'].includes(kind)) return 'unknown kind';
  if (!Number.isSafeInteger(amountMinor)) return 'amountMinor must be an integer';
  if (amountMinor < 0 && kind !== 'ADJUSTMENT') return 'amountMinor must not be negative';
  if (kind === 'ROLLBACK' && !isText(originalTransactionId)) return 'originalTransactionId is missing';
  return undefined;
}
const isText = (value) => typeof value === 'string' && value !== '';

/**
 * Verifies the signature over the raw bytes, before anything is parsed. Nonces are remembered in memory, which is enough,
 * because a repeated transaction moves nothing anyway.
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
    .update(`${method.toUpperCase()}\n${path}\n${timestamp}\n${nonce}\n`)
    .update(body)
    .digest();
  if (!timingSafeEqual(expected, Buffer.from(signature, 'hex'))) return false;
  for (const [known, at] of nonces) {
    if (now - at <= NONCE_SECONDS) break;
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
  const { method, url, headers } = request;
  if (!isSigned(method, url, headers, raw)) return { status: 401, body: { error: 'invalid signature' } };
  if (url.endsWith('/balance')) return answerBalance(parse(raw));
  if (url.endsWith('/transaction')) return answerTransaction(parse(raw));
  return { status: 404, body: { error: 'not found' } };
}

async function answerBalance(account) {
  const error = accountDefectOf(account);
  if (error) return { status: 400, body: { error } };
  const body = await readBalance(account);
  return body ? { status: 200, body } : { status: 404, body: { error: 'there is no such account' } };
}

async function answerTransaction(order) {
  const error = accountDefectOf(order) ?? orderDefectOf(order);
  return error ? { status: 400, body: { error } } : { status: 200, body: await book(order) };
}

const server = createServer(async (request, response) => {
  const { status, body } = await answer(request).catch((error) => {
    console.error(error); // Croupier repeats the call: anything but a 200 means "not known yet"
    return { status: 500, body: { error: 'internal error' } };
  });
  // While the server closes, the next call on this connection would keep it from stopping.
  if (!server.listening) response.setHeader('Connection', 'close');
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
});
server.keepAliveTimeout = 65_000; // longer than Croupier keeps an idle connection

try {
  await pool.query(SCHEMA);
  await once(server.listen(Number(PORT), '127.0.0.1'), 'listening');
  console.log(`wallet: http://127.0.0.1:${server.address().port}`);
  await stopRequested;
} finally {
  setTimeout(() => server.closeAllConnections(), STOP_MS).unref();
  await new Promise((closed) => server.close(closed));
  await pool.end();
  await embedded?.stop();
}
