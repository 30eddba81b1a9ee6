import { answer, api } from '../../api/client.ts';
import { Problem } from '../../api/problem.ts';

/** Calls under way at once; each one is two callbacks to the provider. */
const AT_ONCE = 4;
/** A batch has at most 1,000 grants. */
const PAGE = 500;

interface Voided {
  readonly done: number;
  /** The refusals, each in the service's words. */
  readonly refused: readonly string[];
}

/**
 * Voids every FAILED grant of a batch whose outcome is unknown. The API voids one grant at a time; voiding again is
 * harmless, so that a broken-off run can be repeated.
 * @param onProgress called with the number of grants that have been tried
 */
export async function voidUnknown(batchId: string, onProgress: (count: number) => void): Promise<Voided> {
  const waiting = await unknownGrants(batchId);
  let tried = 0;
  let done = 0;
  const refused: string[] = [];
  const work = async () => {
    for (let requestRef = waiting.pop(); requestRef !== undefined; requestRef = waiting.pop()) {
      try {
        const params = { path: { requestRef } };
        await answer(api.POST('/v1/admin/free-spins/{requestRef}/void', { params }));
        done += 1;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        refused.push(error.message);
      }
      tried += 1;
      onProgress(tried);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { done, refused };
}

async function unknownGrants(batchId: string): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { batchId, state: 'FAILED' as const, limit: PAGE, ...(cursor !== undefined && { cursor }) };
    const page = await answer(api.GET('/v1/admin/free-spins', { params: { query } }));
    for (const { requestRef, failure } of page.items) if (failure?.outcomeUnknown) found.push(requestRef);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return found;
}
