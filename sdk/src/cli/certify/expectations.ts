import type { Caller, Deviation, Reply } from './caller.js';
import { Prerequisite, Unmet } from './outcome.js';

/** A batch that the provider granted. */
export interface Batch {
  externalRef: string;
  playerRef: string;
  gameId: string;
}

/** The body of a grant. */
export interface GrantBody {
  requestRef: string;
  playerRef: string;
  gameId: string;
  spins: number;
  betAmountMinor: number;
  currency: string;
}

const SPINS = 5;

/** A grant that was never sent before. */
export function grantBody(caller: Caller, fields: Partial<GrantBody> = {}): GrantBody {
  const { playerRef, gameId, betAmountMinor, currency } = caller.provider;
  const requestRef = caller.fresh('grant');
  return { requestRef, playerRef, gameId, spins: SPINS, betAmountMinor, currency, ...fields };
}

export function revocationBody(
  caller: Caller,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  const { playerRef, gameId } = caller.provider;
  const [revocationRef, sessionId] = [caller.fresh('revocation'), caller.fresh('session')];
  const revokedAt = new Date(caller.nowSeconds() * 1000).toISOString();
  return { revocationRef, sessionId, playerRef, gameId, reason: 'KICK', revokedAt, ...fields };
}

/** A batch to begin with. @throws Prerequisite when it is not to be had */
export async function granted(caller: Caller, fields: Partial<GrantBody> = {}): Promise<Batch & GrantBody> {
  const body = grantBody(caller, fields);
  try {
    return { ...body, externalRef: externalRefIn(await caller.call('grant', body)) };
  } catch (error) {
    throw error instanceof Unmet
      ? new Prerequisite(`a grant first: ${error.expected}`, error.received)
      : error;
  }
}

/** Names a batch as status and cancel do. */
export function named({ externalRef, playerRef, gameId }: Batch): Batch {
  return { externalRef, playerRef, gameId };
}

export function expectOk(reply: Reply, what = 'status 200'): void {
  if (reply.status !== 200) throw new Unmet(what, described(reply));
}

/** A call that must not be believed. */
export function expectRefused(reply: Reply): void {
  if (reply.status !== 401) throw new Unmet('status 401', described(reply));
}

/** A call that is believed and cannot be carried out: the caller's fault, and not the server's. */
export function expectDeclined(reply: Reply): void {
  if (reply.status < 400 || reply.status > 499) throw new Unmet('a status from 400 to 499', described(reply));
}

export function externalRefIn(reply: Reply): string {
  expectOk(reply);
  const externalRef = reply.json?.['externalRef'];
  if (typeof externalRef === 'string' && externalRef !== '') return externalRef;
  throw new Unmet('JSON with externalRef, a text that is not empty', described(reply));
}

/** What is left of a batch. */
export async function statusOf(
  caller: Caller,
  batch: Batch,
): Promise<{ remainingSpins: number; completed: boolean }> {
  const reply = await caller.call('status', named(batch));
  expectOk(reply);
  const { remainingSpins, completed } = reply.json ?? {};
  if (typeof remainingSpins === 'number' && typeof completed === 'boolean')
    return { remainingSpins, completed };
  throw new Unmet('JSON with remainingSpins, a number, and completed, a boolean', described(reply));
}

export async function expectRemaining(caller: Caller, batch: Batch, remainingSpins: number): Promise<void> {
  const status = await statusOf(caller, batch);
  if (status.remainingSpins !== remainingSpins) {
    throw new Unmet(`remainingSpins ${remainingSpins}`, JSON.stringify(status));
  }
}

export function expectSame(externalRefs: string[]): void {
  const different = [...new Set(externalRefs)];
  if (different.length !== 1) throw new Unmet('the same externalRef each time', different.join(', '));
}

export function expectDifferent(externalRefs: string[]): void {
  if (new Set(externalRefs).size === externalRefs.length) return;
  throw new Unmet(`${externalRefs.length} different externalRefs`, externalRefs.join(', '));
}

/** Makes a call that no provider may believe. */
export async function refusal(caller: Caller, deviation: Deviation): Promise<void> {
  expectRefused(await caller.call('grant', grantBody(caller), deviation));
}

/** Plays one spin to begin with. @throws Prerequisite when it cannot be played */
export async function played(caller: Caller, batch: Batch): Promise<void> {
  const reply = await caller.play(named(batch));
  if (reply.status !== 200) throw new Prerequisite('a spin played first: status 200', described(reply));
}

export function described({ status, text }: Reply): string {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return `status ${status}${shown === '' ? '' : ` ${shown}`}`;
}
