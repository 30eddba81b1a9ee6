import type { ServerResponse } from 'node:http';

/** Responses whose clients wait for `100 Continue` before they send the body. */
const POSTPONED = new WeakSet<ServerResponse>();

/**
 * Postpones `100 Continue` until the body is read, so that a refused client sends no body. A refusal closes the
 * connection, because the client may send the body anyway. RFC 9110, section 10.1.1.
 */
export function postponeContinue(response: ServerResponse): void {
  POSTPONED.add(response);
  response.setHeader('Connection', 'close');
}

/** Sends `100 Continue` if the client waits for it. */
export function continueToBody(response: ServerResponse): void {
  if (!POSTPONED.delete(response)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}

/** Whether the client still waits for `100 Continue`, and has probably sent nothing of the body. */
export function awaitsContinue(response: ServerResponse): boolean {
  return POSTPONED.has(response);
}
