/* global fetch, AbortController, Buffer, DOMException, setTimeout, clearTimeout */
// A client of the platform without the SDK, for certify-client. Its argument, if it has one, names what it gets wrong.
import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

const { CROUPIER_BASE_URL, CROUPIER_TENANT, CROUPIER_SECRET, CROUPIER_TIMEOUT_MS } = process.env;
const { CROUPIER_BET, CROUPIER_WIN, CROUPIER_ROLLBACK } = process.env;
const [, script, FAULT] = process.argv;
const PATH = '/v1/wallet/transaction';
const REFUSALS = [400, 401, 403, 404, 413, 415, 429, 503];
const kind = CROUPIER_BET ? 'BET' : CROUPIER_WIN ? 'WIN' : 'ROLLBACK';
const given = JSON.parse(CROUPIER_BET ?? CROUPIER_WIN ?? CROUPIER_ROLLBACK);
/** Faults in the fields that are sent. */
const FIELDS = {
  'sends major units': { amountMinor: given.amountMinor / 100 },
  'sends the amount as text': { amountMinor: String(given.amountMinor) },
  'forgets the round': { roundId: undefined },
  'sends another currency': { currency: 'USD' },
  'sends the player in lower case': { playerRef: given.playerRef.toUpperCase() },
};
/** Faults in the request itself. */
const path = FAULT === 'adds a query' ? `${PATH}?attempt=1` : FAULT === 'adds a slash' ? `${PATH}/` : PATH;
const method = FAULT === 'sends a PUT' ? 'PUT' : 'POST';
const transaction = {
  ...given,
  ...FIELDS[FAULT],
  kind: FAULT === 'sends every kind as a BET' ? 'BET' : kind,
  ...(FAULT === 'forgets what it rolls back' && { originalTransactionId: undefined }),
};
const retries = FAULT !== 'never retries' && !(FAULT === 'retries only BETs' && kind !== 'BET');
const firstNonce = randomUUID();
/** How late a process that outlives this client sends the request, in milliseconds: after the run has ended. */
const LATE_MS = 2_000;
let mayBeBooked = false;

if (FAULT === 'is late') await delay(LATE_MS);

for (
  let attempt = 1;
  attempt <= (FAULT === 'hammers' ? 300 : FAULT === 'retries once' ? 2 : retries ? 3 : 1) ||
  FAULT === 'retries for ever';
  attempt += 1
) {
  const verdict = await send(attempt);
  if (verdict) {
    if (FAULT === 'leaves a late process at its first run' && given.transactionId.endsWith('-1')) {
      spawn(process.execPath, [script, 'is late'], { detached: true, stdio: 'ignore' }).unref();
    }
    console.log(FAULT === 'says nothing' ? '' : verdict);
    process.exit();
  }
}
const givesUp =
  FAULT === 'gives up as not booked' || (FAULT === 'takes a ROLLBACK for granted' && kind === 'ROLLBACK');
console.log(givesUp || !mayBeBooked ? 'not-booked' : 'unknown');

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
  const seconds = FAULT === 'signs milliseconds' ? Date.now() : Math.floor(Date.now() / 1000);
  const timestamp = String(FAULT === 'has a wrong clock' ? seconds - 400 : seconds);
  const nonce =
    FAULT === 'sends the same nonce'
      ? firstNonce
      : FAULT === 'sends short nonces'
        ? `n-${attempt}`
        : randomUUID();
  const key = FAULT === 'signs with another secret' ? 'x' : CROUPIER_SECRET;
  const signedBody = FAULT === 'signs an empty body' ? '' : body;
  const canonical = [
    method,
    FAULT === 'signs the address' ? CROUPIER_BASE_URL + path : path,
    timestamp,
    nonce,
    signedBody,
  ];
  if (FAULT === 'signs a newline at the end') canonical.push('');
  const hex = createHmac('sha256', key).update(canonical.join('\n')).digest('hex');
  const headers = {
    'Content-Type': FAULT === 'sends text/plain' ? 'text/plain' : 'application/json',
    'X-Tenant-ID': FAULT === 'names another tenant' ? 'another' : CROUPIER_TENANT,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': FAULT === 'sends upper-case hex' ? hex.toUpperCase() : hex,
  };
  const aborted = new AbortController();
  const timer = setTimeout(
    () => aborted.abort(new DOMException('no answer in time', 'TimeoutError')),
    Number(CROUPIER_TIMEOUT_MS),
  );
  let response;
  let text;
  try {
    response = await fetch(CROUPIER_BASE_URL + path, {
      method,
      headers,
      body,
      redirect: FAULT === 'follows redirects' ? 'follow' : 'manual',
      signal: aborted.signal,
    });
    if (FAULT === 'bounds only the wait for headers') clearTimeout(timer);
    text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if (FAULT === 'bounds each wait for data') timer.refresh();
    }
  } catch (error) {
    mayBeBooked = FAULT !== 'takes no answer for no booking';
    if (FAULT === 'crashes without an answer') throw error;
    if (FAULT === 'voids after a time-out' && error.name === 'TimeoutError') return 'not-booked';
    if (FAULT === 'voids after a broken connection' && error.name !== 'TimeoutError') return 'not-booked';
    if (FAULT === 'approves half an answer' && text === undefined && response) return 'approved';
    return undefined;
  } finally {
    clearTimeout(timer);
  }
  if (FAULT === 'takes any 2xx for approved' && response.ok && response.status !== 200) return 'approved';
  if (FAULT === 'takes an empty 200 for approved' && text === '') return 'approved';
  if (FAULT === 'crashes at a page' && text.startsWith('<')) JSON.parse(text);
  if (FAULT === 'declines after an error' && response.status === 500) return 'declined';
  if (FAULT === 'voids after a 409' && response.status === 409) return 'not-booked';
  if (FAULT === 'approves after a 409' && response.status === 409) return 'approved';
  if (FAULT === 'voids after a 429' && response.status === 429) return 'not-booked';
  if (FAULT === 'doubts a 429' && response.status === 429) mayBeBooked = true;
  if (FAULT === 'looks for invalid signature in a page' && text.includes('invalid signature'))
    return 'not-booked';
  const json = parsed(text);
  if (response.status === 200 && FAULT === 'believes any 200') return 'approved';
  const isOurs =
    json.transactionId === id ||
    FAULT === 'believes any decision' ||
    (FAULT === 'believes an unnamed decision' && json.transactionId === undefined);
  const isDecision =
    json.status === 'APPROVED' || json.status === 'DECLINED' || FAULT === 'declines what is not approved';
  const hasBalance =
    Number.isSafeInteger(json.balance) ||
    FAULT === 'needs no balance' ||
    (FAULT === 'reads a balance of any type' && json.balance !== undefined);
  if (response.status === 200 && isOurs && isDecision && hasBalance) {
    if (json.status === 'DECLINED' && FAULT === 'retries a decline') return undefined;
    if (json.status === 'DECLINED' && FAULT === 'doubts a decline after an error' && mayBeBooked)
      return 'unknown';
    if (FAULT === 'approves a decline') return 'approved';
    return json.status === 'APPROVED' ? 'approved' : 'declined';
  }
  const isPlatform = response.headers.has('x-error-code') || text === 'invalid signature';
  const next = response.headers.get('x-next-action');
  const code = response.headers.get('x-error-code');
  if (FAULT === 'trusts only the codes that it knows' && code === 'CERTIFY_UNKNOWN') return 'unknown';
  if (next === 'retry-same-request' && FAULT !== 'ignores Retry-After of a 500')
    await delay(Number(response.headers.get('retry-after') ?? 0) * 1000);
  if (next === 'wait-then-retry') {
    const least = FAULT === 'repeats a 409 at once' ? 0 : 1;
    const seconds = FAULT === 'always waits a second' ? 1 : (response.headers.get('retry-after') ?? least);
    if (FAULT !== 'ignores Retry-After') await delay(Number(seconds) * 1000);
    if (response.status === 409) mayBeBooked = true;
    return undefined;
  }
  const isRefusal =
    REFUSALS.includes(response.status) && (isPlatform || FAULT === 'judges only by the status');
  if (isRefusal && code !== 'TRANSACTION_ID_REUSED') {
    if (FAULT === 'retries refusals') return undefined;
    return mayBeBooked && FAULT !== 'judges only by the last attempt' ? 'unknown' : 'not-booked';
  }
  mayBeBooked = FAULT !== 'forgets an error' && (isPlatform || FAULT !== 'forgets the error of a proxy');
  if (FAULT === 'retries contact-platform' && next === 'contact-platform') return undefined;
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
