import { isExternalRef } from '@croupier/provider-sdk';
import { Prerequisite, Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';
import { expectOk } from '../target.js';
import type { ProviderCaller } from './caller.js';

/** Free spins for one player that the provider granted. The provider books them as one batch. */
interface Batch {
  externalRef: string;
  playerRef: string;
  gameId: string;
}

interface GrantBody {
  requestRef: string;
  playerRef: string;
  gameId: string;
  spins: number;
  betAmountMinor: number;
  currency: string;
}

const SPINS = 5;
const EXTERNAL_REF_WORDS =
  '1 to 256 characters without control characters, line separators, bidirectional controls and lone surrogates';

/** The body of a grant with a new requestRef. */
export function grantBody(caller: ProviderCaller, fields: Partial<GrantBody> = {}): GrantBody {
  const { playerRef, gameId, betAmountMinor, currency } = caller.provider;
  const requestRef = caller.calls.fresh('grant');
  return { requestRef, playerRef, gameId, spins: SPINS, betAmountMinor, currency, ...fields };
}

export function revocationBody(
  caller: ProviderCaller,
  fields: Record<string, unknown> = {},
): Record<string, unknown> {
  const { playerRef, gameId } = caller.provider;
  const [revocationRef, sessionId] = [caller.calls.fresh('revocation'), caller.calls.fresh('session')];
  const revokedAt = new Date(caller.calls.nowSeconds() * 1000).toISOString();
  return { revocationRef, sessionId, playerRef, gameId, reason: 'KICK', revokedAt, ...fields };
}

/**
 * Makes the provider grant a batch that the case builds on.
 * @throws Prerequisite if the provider does not grant it
 */
export async function grantBatch(
  caller: ProviderCaller,
  fields: Partial<GrantBody> = {},
): Promise<Batch & GrantBody> {
  const body = grantBody(caller, fields);
  try {
    return { ...body, externalRef: externalRefIn(await caller.call('grant', body)) };
  } catch (error) {
    throw error instanceof Unmet
      ? new Prerequisite(`a grant first: ${error.expected}`, error.received)
      : error;
  }
}

/** The body that names a batch, for status, cancel and play. */
export function referenceTo({ externalRef, playerRef, gameId }: Batch): Batch {
  return { externalRef, playerRef, gameId };
}

/** Expects a 4xx for a call that is correctly signed but cannot be carried out. */
export function expectRefusal(reply: Reply): void {
  if (reply.status < 400 || reply.status > 499)
    throw new Unmet('a status from 400 to 499', describeReply(reply));
}

export function externalRefIn(reply: Reply): string {
  expectOk(reply);
  const externalRef = reply.json?.['externalRef'];
  if (isExternalRef(externalRef)) return externalRef;
  throw new Unmet(`JSON with externalRef, a text of ${EXTERNAL_REF_WORDS}`, describeReply(reply));
}

/** @throws Unmet unless the provider answers with the status of the batch */
export async function statusOf(
  caller: ProviderCaller,
  batch: Batch,
): Promise<{ remainingSpins: number; completed: boolean }> {
  const reply = await caller.call('status', referenceTo(batch));
  expectOk(reply);
  const { remainingSpins, completed } = reply.json ?? {};
  if (typeof remainingSpins === 'number' && typeof completed === 'boolean')
    return { remainingSpins, completed };
  throw new Unmet('JSON with remainingSpins, a number, and completed, a boolean', describeReply(reply));
}

export async function expectRemaining(
  caller: ProviderCaller,
  batch: Batch,
  remainingSpins: number,
): Promise<void> {
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

/**
 * Plays a spin that the case builds on.
 * @throws Prerequisite if the provider does not play it
 */
export async function playSpin(caller: ProviderCaller, batch: Batch): Promise<void> {
  const reply = await caller.play(referenceTo(batch));
  if (reply.status !== 200) throw new Prerequisite('a spin played first: status 200', describeReply(reply));
}
