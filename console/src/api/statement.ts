import { Problem } from './problem.ts';
import type { Schema } from './schemas.ts';
import { currentKey, inSession } from './session.ts';

/**
 * Sends an operator's statement and returns the reconciliation. `fetch` does not report how much was sent.
 * @param onSent receives the share of the file that was sent, from 0 to 1
 * @throws Problem with the service's own sentence
 */
export function reconcile(
  query: Readonly<Record<string, string>>,
  statement: Blob,
  onSent: (share: number) => void,
): Promise<Schema<'ReconciliationResponse'>> {
  const call = new XMLHttpRequest();
  call.open('POST', `/v1/admin/reconciliations?${new URLSearchParams(query)}`);
  call.setRequestHeader('authorization', `Bearer ${currentKey() ?? ''}`);
  call.setRequestHeader('content-type', 'text/csv');
  call.upload.onprogress = ({ loaded, total }) => onSent(loaded / Math.max(total, 1));
  const answered = new Promise<Schema<'ReconciliationResponse'>>((resolve, reject) => {
    call.onerror = () => reject(Problem.unreachable());
    call.onload = () => {
      const body = parsed(call.responseText);
      if (call.status === 201 && body === undefined) return reject(Problem.unreachable());
      if (call.status === 201) return resolve(body as Schema<'ReconciliationResponse'>);
      const headers = new Headers(
        ['x-error-code', 'x-next-action', 'x-request-id'].flatMap((name) => {
          const value = call.getResponseHeader(name);
          return value === null ? [] : [[name, value] as [string, string]];
        }),
      );
      reject(Problem.of({ status: call.status, headers }, body));
    };
    call.send(statement);
  });
  return inSession(answered);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
