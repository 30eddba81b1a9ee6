/* global fetch, AbortSignal */
// A client of the platform without the SDK, for certify-client. FAULT names what it gets wrong.
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const { CROUPIER_BASE_URL, CROUPIER_TENANT, CROUPIER_SECRET, CROUPIER_TIMEOUT_MS, FAULT } = process.env;
const { CROUPIER_BET, CROUPIER_WIN, CROUPIER_ROLLBACK } = process.env;
const PATH = '/v1/wallet/transaction';
const REFUSALS = [400, 401, 403, 404, 413, 415, 429, 503];
const kind = CROUPIER_BET ? 'BET' : CROUPIER_WIN ? 'WIN' : 'ROLLBACK';
const transaction = {
  ...JSON.parse(CROUPIER_BET ?? CROUPIER_WIN ?? CROUPIER_ROLLBACK),
  kind: FAULT === 'sends every kind as a BET' ? 'BET' : kind,
  ...(FAULT === 'forgets what it rolls back' && { originalTransactionId: undefined }),
};
const retries = FAULT !== 'never retries' && !(FAULT === 'retries only BETs' && kind !== 'BET');
const firstNonce = randomUUID();
let mayBeBooked = false;

for (let attempt = 1; attempt <= (retries ? 3 : 1) || FAULT === 'retries for ever'; attempt += 1) {
  const verdict = await send(attempt);
  if (verdict) {
    console.log(FAULT === 'says nothing' ? '' : verdict);
    process.exit();
  }
}
const givesUp =
  FAULT === 'gives up as not booked' || (FAULT === 'takes a ROLLBACK for granted' && kind === 'ROLLBACK');
console.log(givesUp ? 'not-booked' : 'unknown');

/** The verdict, or undefined if the request is to be sent again. */
async function send(attempt) {
  const id =
    FAULT === 'sends a new id' ? `${transaction.transactionId}-${attempt}` : transaction.transactionId;
  const fields = {
    ...transaction,
    transactionId: id,
    ...(FAULT === 'sends new bytes' && { attempt }),
  };
  const body = FAULT === 'sends no JSON' ? 'kind=BET' : JSON.stringify(fields);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = FAULT === 'sends the same nonce' ? firstNonce : randomUUID();
  const key = FAULT === 'signs with another secret' ? 'x' : CROUPIER_SECRET;
  const canonical = ['POST', PATH, timestamp, nonce, body].join('\n');
  const headers = {
    'Content-Type': 'application/json',
    'X-Tenant-ID': CROUPIER_TENANT,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': createHmac('sha256', key).update(canonical).digest('hex'),
  };
  let response;
  let text;
  try {
    response = await fetch(CROUPIER_BASE_URL + PATH, {
      method: 'POST',
      headers,
      body,
      redirect: FAULT === 'follows redirects' ? 'follow' : 'manual',
      signal: AbortSignal.timeout(Number(CROUPIER_TIMEOUT_MS)),
    });
    text = await response.text();
  } catch {
    mayBeBooked = true;
    return undefined;
  }
  const json = parsed(text);
  if (response.status === 200 && FAULT === 'believes any 200') return 'approved';
  const isOurs = json.transactionId === id || FAULT === 'believes any decision';
  if (response.status === 200 && isOurs) {
    if (json.status === 'DECLINED' && FAULT === 'retries a decline') return undefined;
    return json.status === 'APPROVED' ? 'approved' : 'declined';
  }
  const isPlatform = response.headers.has('x-error-code') || text === 'invalid signature';
  const next = response.headers.get('x-next-action');
  if (next === 'wait-then-retry') {
    if (FAULT !== 'ignores Retry-After') await delay(Number(response.headers.get('retry-after') ?? 0) * 1000);
    return undefined;
  }
  const isRefusal =
    REFUSALS.includes(response.status) && (isPlatform || FAULT === 'judges only by the status');
  if (isRefusal && response.headers.get('x-error-code') !== 'TRANSACTION_ID_REUSED') {
    if (FAULT === 'retries refusals') return undefined;
    return mayBeBooked && FAULT !== 'judges only by the last attempt' ? 'unknown' : 'not-booked';
  }
  mayBeBooked = true;
  if (next === 'fix-request' || next === 'contact-platform')
    return FAULT === 'voids on any refusal' ? 'not-booked' : 'unknown';
  return undefined;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
