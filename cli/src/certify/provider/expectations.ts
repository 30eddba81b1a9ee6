import { isExternalRef } from '@croupier/provider-sdk';
import { Prerequisite, Unmet } from '../outcome.js';
import { describeReply, type Reply } from '../../reply.js';
import { expectOk } from '../target.js';
import type { Batch, FirstCalls, GrantBody, ProviderCaller } from './caller.js';

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

/**
 * Expects a 4xx for a call that is correctly signed but cannot be carried out. A 401 would say that its signature is wrong.
 * @param which names the call if the case makes several
 */
export function expectRefusal(reply: Reply, which = ''): void {
  if (reply.status >= 400 && reply.status <= 499 && reply.status !== 401) return;
  throw new Unmet(`a status from 400 to 499 other than 401 ${which}`.trimEnd(), describeReply(reply));
}

/** The first batch of the run, which the cases at its end repeat: granted now unless an earlier case has done so. */
export function firstBatch(caller: ProviderCaller): Promise<FirstCalls['batch']> {
  return caller.first('batch', async () => {
    const body = grantBody(caller);
    const used = caller.calls.freshNonce();
    const reply = await caller.call('grant', body, { nonce: used.nonce });
    return { ...body, used, externalRef: externalRefIn(reply) };
  });
}

/** The first batch of the run that was cancelled. */
export function firstCancelledBatch(caller: ProviderCaller): Promise<FirstCalls['cancelledBatch']> {
  return caller.first('cancelledBatch', async () => {
    const batch = await grantBatch(caller);
    expectOk(await caller.call('cancel', referenceTo(batch)));
    return batch;
  });
}

/** The body of the first revocation of the run. */
export function firstRevocation(caller: ProviderCaller): Promise<FirstCalls['revocation']> {
  return caller.first('revocation', async () => {
    const body = revocationBody(caller);
    expectOk(await caller.call('revoke', body));
    return body;
  });
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
  const isCount = Number.isSafeInteger(remainingSpins) && Number(remainingSpins) >= 0;
  if (isCount && typeof completed === 'boolean') return { remainingSpins: Number(remainingSpins), completed };
  throw new Unmet(
    'JSON with remainingSpins, an integer of at least 0, and completed, a boolean',
    describeReply(reply),
  );
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
