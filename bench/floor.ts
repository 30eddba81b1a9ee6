/**
 * The floor: the minimum that the contract demands of a BET, a WIN, a replay, a balance and a verify, in one file with
 * node:http, undici and named statements. No framework, no log, no metrics, no administration, no ROLLBACK.
 * `FLOOR=lean` uses every known optimisation; see floor.means.ts.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import pg from 'pg';
import { leanMeans, plainMeans, type Reply } from './floor.means.js';
import { FLOOR_SCHEMA } from './floor.sql.js';
import { OPERATOR_ID, PROVIDER_ID } from './world.js';

const OPERATOR_URL = new URL(process.env['OPERATOR_URL'] ?? '');
const OPERATOR_PATH = OPERATOR_URL.pathname === '/' ? '' : OPERATOR_URL.pathname;
const LEASE_SECONDS = 30;
const TOLERANCE_SECONDS = 300;
const REQUESTS_PER_SECOND = 1_000_000;
const BODY_LIMIT_BYTES = 64 * 1024;

pg.types.setTypeParser(pg.types.builtins.INT8, Number);
const means = process.env['FLOOR'] === 'lean' ? leanMeans(OPERATOR_URL) : plainMeans(OPERATOR_URL);
const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: means.postgresConnections,
});

/** A refusal, as in the contract's tables. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
  ) {
    super(code);
  }
}

// ---- the caller -----------------------------------------------------------------------------------------------

const NONCE = /^[A-Za-z0-9\-_.:]{8,128}$/;
const nonces = { startedAt: 0, current: new Set<string>(), previous: new Set<string>() };
const rate = { second: 0, requests: 0 };

function authenticate(incoming: IncomingMessage, body: Buffer): void {
  const header = (name: string) => String(incoming.headers[name] ?? '');
  const [timestamp, nonce, signature] = [header('x-timestamp'), header('x-nonce'), header('x-signature')];
  const now = Math.floor(Date.now() / 1000);
  if (header('x-tenant-id') !== PROVIDER_ID || !NONCE.test(nonce) || signature.length !== 64)
    throw invalidSignature();
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Number(timestamp) - now) > TOLERANCE_SECONDS)
    throw invalidSignature();
  const head = `${incoming.method}\n${incoming.url}\n${timestamp}\n${nonce}\n`;
  const mac = means.hmac('provider', head, body);
  const received = Buffer.from(signature, 'hex');
  if (received.length !== mac.length || !timingSafeEqual(mac, received)) throw invalidSignature();
  claimNonce(nonce, now);
  if (rate.second !== now) Object.assign(rate, { second: now, requests: 0 });
  if ((rate.requests += 1) > REQUESTS_PER_SECOND) throw new Refusal(429, 'RATE_LIMITED');
}

function invalidSignature(): Refusal {
  return new Refusal(401, 'invalid signature');
}

function claimNonce(nonce: string, now: number): void {
  if (now - nonces.startedAt > 2 * TOLERANCE_SECONDS) {
    Object.assign(nonces, { startedAt: now, previous: nonces.current, current: new Set() });
  }
  if (nonces.current.has(nonce) || nonces.previous.has(nonce)) throw invalidSignature();
  nonces.current.add(nonce);
}

// ---- the request ----------------------------------------------------------------------------------------------

interface Transaction {
  sessionToken: string;
  transactionId: string;
  kind: 'BET' | 'WIN';
  playerRef: string;
  gameId: string;
  currency: string;
  amountMinor: number;
  roundId: string;
}

const IDENTIFIER = /^(?!\.\.?$)[\x21-\x7e]{1,128}$/;

function parse(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString());
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      return value as Record<string, unknown>;
    }
  } catch {
    // Refused below.
  }
  throw new Refusal(400, 'INVALID_REQUEST');
}

function transactionOf(fields: Record<string, unknown>): Transaction {
  const { transactionId, kind, playerRef, gameId, currency, amountMinor, roundId } = fields;
  const identifiers = [transactionId, playerRef, gameId, roundId];
  if (
    !identifiers.every((value) => typeof value === 'string' && IDENTIFIER.test(value)) ||
    (kind !== 'BET' && kind !== 'WIN') ||
    typeof currency !== 'string' ||
    !/^[A-Z]{3}$/.test(currency) ||
    !Number.isSafeInteger(amountMinor) ||
    (amountMinor as number) < 0
  ) {
    throw new Refusal(400, 'INVALID_REQUEST');
  }
  return { ...(fields as unknown as Transaction), sessionToken: tokenOf(fields) };
}

function tokenOf({ sessionToken }: Record<string, unknown>): string {
  if (typeof sessionToken === 'string' && sessionToken !== '') return sessionToken;
  throw new Refusal(400, 'INVALID_REQUEST');
}

// ---- the session ----------------------------------------------------------------------------------------------

interface Session {
  session_id: string;
  operator_id: string;
  provider_id: string;
  player_ref: string;
  game_id: string;
  currency: string;
  mode: string;
  expires_at: Date;
  live: boolean;
}

const sessionBehind = (tokenHash: string) => `
  SELECT s.*, s.expires_at > now() AND s.revoked_at IS NULL AS live FROM sessions s WHERE s.token_hash = ${tokenHash}`;

const SESSION = { name: 'session', text: sessionBehind('$1') };

async function sessionOf(token: string): Promise<Session> {
  return requireUsable(await sessionBy(means.sha256(token)));
}

async function sessionBy(tokenHash: Buffer): Promise<Session | undefined> {
  return (await pool.query<Session>({ ...SESSION, values: [tokenHash] })).rows[0];
}

function requireUsable(session: Session | undefined): Session {
  if (!session?.live) throw new Refusal(401, 'SESSION_INVALID');
  if (session.provider_id !== PROVIDER_ID) throw new Refusal(403, 'SESSION_OF_ANOTHER_PROVIDER');
  return session;
}

// ---- the operator ---------------------------------------------------------------------------------------------

interface WalletReply {
  readonly transactionId?: string;
  readonly playerRef?: string;
  readonly currency?: string;
  readonly status?: string;
  readonly balance: number;
}

/**
 * @param isOwn whether the answer names the call
 * @returns undefined if the operator gave no usable answer
 */
async function callOperator(
  route: string,
  order: object,
  isOwn: (reply: WalletReply) => boolean,
): Promise<WalletReply | undefined> {
  const body = Buffer.from(JSON.stringify(order));
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = randomUUID();
  const path = OPERATOR_PATH + route;
  const headers = {
    'Content-Type': 'application/json',
    'X-Tenant-ID': OPERATOR_ID,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': means.hmac('operator', `POST\n${path}\n${timestamp}\n${nonce}\n`, body).toString('hex'),
    'X-Request-Id': randomUUID(),
  };
  const reply = await means.post(path, headers, body).catch((): Reply => ({ status: 0, body: {} }));
  const reported = reply.body as WalletReply;
  const usable = reply.status === 200 && isOwn(reported) && Number.isSafeInteger(reported.balance);
  return usable ? reported : undefined;
}

// ---- the routes -----------------------------------------------------------------------------------------------

const CLAIM_FROM = `
  INSERT INTO transactions (provider_id, transaction_id, platform_transaction_id, kind, state, operator_id, session_id,
                            mode, player_ref, game_id, currency, amount_minor, round_id, attempt, lease_until)
  SELECT $1, $2, $3, $4, 'PENDING', s.operator_id, s.session_id, s.mode, $5, $6, $7, $8, $10, 1,
         clock_timestamp() + interval '${LEASE_SECONDS} seconds'
    FROM session s
   WHERE s.live AND s.provider_id = $1 AND s.player_ref = $5 AND s.game_id = $6 AND s.currency = $7`;
const SESSION_SEEN = means.claimReturnsSession ? '(SELECT row_to_json(session) FROM session)' : 'NULL::json';
const LOOK = `SELECT ${SESSION_SEEN} AS session, EXISTS (SELECT FROM claim) AS claimed`;

const CLAIM_BET = {
  name: 'claim_bet',
  text: `WITH session AS MATERIALIZED (${sessionBehind('$9')}), claim AS (${CLAIM_FROM} ON CONFLICT DO NOTHING RETURNING 1) ${LOOK}`,
};

/** Locks the round's BETs, as a ROLLBACK of one would, so that the two exclude each other. */
const CLAIM_WIN = {
  name: 'claim_win',
  text: `
    WITH session AS MATERIALIZED (${sessionBehind('$9')}), bet AS MATERIALIZED (
      SELECT t.state FROM transactions t, session s
       WHERE t.provider_id = $1 AND t.round_id = $10 AND t.player_ref = $5 AND t.game_id = $6 AND t.kind = 'BET'
         AND t.operator_id = s.operator_id AND t.mode = s.mode AND t.state <> 'DECLINED'
         FOR NO KEY UPDATE OF t
    ), claim AS (
      ${CLAIM_FROM} AND (EXISTS (SELECT FROM bet WHERE state = 'APPROVED') OR NOT EXISTS (SELECT FROM bet))
      ON CONFLICT DO NOTHING RETURNING 1
    ) ${LOOK}`,
};

const STORED = {
  name: 'stored',
  text: `SELECT t.*, t.lease_until > clock_timestamp() AS alive FROM transactions t
          WHERE t.provider_id = $1 AND t.transaction_id = $2`,
};

const SETTLE = {
  name: 'settle',
  text: `UPDATE transactions SET state = $4, response_body = $5, lease_until = NULL, updated_at = clock_timestamp()
          WHERE provider_id = $1 AND transaction_id = $2 AND attempt = $3 AND state = 'PENDING' RETURNING 1`,
};

interface Answer {
  body: string;
  replayed?: boolean;
}

async function transaction(request: Transaction): Promise<Answer> {
  const { transactionId, kind, playerRef, gameId, currency, amountMinor, roundId } = request;
  const platformTransactionId = randomUUID();
  const tokenHash = means.sha256(request.sessionToken);
  const { rows } = await pool.query<{ session: Session | null; claimed: boolean }>({
    ...(kind === 'BET' ? CLAIM_BET : CLAIM_WIN),
    values: [
      PROVIDER_ID,
      transactionId,
      platformTransactionId,
      kind,
      playerRef,
      gameId,
      currency,
      amountMinor,
      tokenHash,
      roundId,
    ],
  });
  if (!rows[0]?.claimed) return answerUnclaimed(request, rows[0]?.session ?? (await sessionBy(tokenHash)));
  const order = {
    transactionId,
    providerId: PROVIDER_ID,
    kind,
    playerRef,
    gameId,
    currency,
    amountMinor,
    roundId,
  };
  const reported = await callOperator(
    '/transaction',
    order,
    (reply) => reply.transactionId === transactionId,
  );
  const status =
    reported?.status === 'APPROVED' || reported?.status === 'DECLINED' ? reported.status : undefined;
  const body = JSON.stringify({
    transactionId,
    platformTransactionId,
    status,
    balance: reported?.balance,
    currency,
  });
  const values = [PROVIDER_ID, transactionId, 1, status ?? 'TIMED_OUT', status ? body : null];
  const settled = await pool.query({ ...SETTLE, values });
  if (settled.rowCount !== 1) throw new Refusal(409, 'TRANSACTION_IN_FLIGHT');
  if (!status) throw new Refusal(500, 'OPERATOR_UNAVAILABLE');
  return { body };
}

/** The answer if nothing was claimed: from the transaction stored under the id, else from the session or the round. */
async function answerUnclaimed(request: Transaction, session: Session | undefined): Promise<Answer> {
  const { rows } = await pool.query({ ...STORED, values: [PROVIDER_ID, request.transactionId] });
  const stored = rows[0] as Record<string, unknown> | undefined;
  if (stored) {
    const same =
      stored['kind'] === request.kind &&
      stored['amount_minor'] === request.amountMinor &&
      stored['currency'] === request.currency &&
      stored['player_ref'] === request.playerRef &&
      stored['game_id'] === request.gameId &&
      stored['round_id'] === request.roundId &&
      stored['operator_id'] === session?.operator_id &&
      stored['mode'] === session?.mode;
    if (!same) throw new Refusal(400, 'TRANSACTION_ID_REUSED');
    if (typeof stored['response_body'] === 'string') return { body: stored['response_body'], replayed: true };
    throw new Refusal(409, 'TRANSACTION_IN_FLIGHT');
  }
  const { player_ref, game_id, currency } = requireUsable(session);
  if (player_ref !== request.playerRef || game_id !== request.gameId || currency !== request.currency) {
    throw new Refusal(400, 'SESSION_MISMATCH');
  }
  throw new Refusal(409, 'TRANSACTION_IN_FLIGHT');
}

async function balance(token: string): Promise<Answer> {
  const { player_ref: playerRef, currency } = await sessionOf(token);
  const isOwn = (reply: WalletReply) => reply.playerRef === playerRef && reply.currency === currency;
  const reported = await callOperator('/balance', { playerRef, currency }, isOwn);
  if (!reported) throw new Refusal(500, 'OPERATOR_UNAVAILABLE');
  return { body: JSON.stringify({ balance: reported.balance }) };
}

async function verify(token: string): Promise<Answer> {
  const session = await sessionOf(token);
  return {
    body: JSON.stringify({
      sessionId: session.session_id,
      playerRef: session.player_ref,
      gameId: session.game_id,
      currency: session.currency,
      operatorId: session.operator_id,
      mode: session.mode,
      expiresAt: session.expires_at.toISOString(),
    }),
  };
}

function answerOf(url: string, body: Buffer): Promise<Answer> {
  if (url === '/v1/wallet/transaction') return transaction(transactionOf(parse(body)));
  if (url === '/v1/wallet/balance') return balance(tokenOf(parse(body)));
  return verify(tokenOf(parse(body)));
}

const ROUTES = ['/v1/wallet/transaction', '/v1/wallet/balance', '/v1/wallet/session/verify'];

async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const { method, url = '' } = incoming;
    if (method !== 'POST' || !ROUTES.includes(url)) throw new Refusal(404, 'NOT_FOUND');
    const body = await bodyOf(incoming);
    authenticate(incoming, body);
    const answer = await answerOf(url, body);
    response.writeHead(200, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(answer.body),
      ...(answer.replayed && { 'Idempotency-Replayed': 'true' }),
    });
    response.end(answer.body);
  } catch (error) {
    const { status, code } = error instanceof Refusal ? error : new Refusal(500, 'INTERNAL');
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(code);
  }
}

function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > BODY_LIMIT_BYTES) reject(new Refusal(413, 'PAYLOAD_TOO_LARGE'));
      else chunks.push(chunk);
    });
    incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    incoming.on('error', reject);
  });
}

await pool.query(FLOOR_SCHEMA);
const server = createServer((incoming, response) => void serve(incoming, response));
server.keepAliveTimeout = 75_000;
server.listen(Number(process.env['PORT']), '127.0.0.1', () => console.log('listening'));
