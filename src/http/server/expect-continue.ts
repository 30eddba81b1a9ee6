import type { ServerResponse } from 'node:http';

/** Answers of requests whose clients wait for `100 Continue` before they send the body. */
const POSTPONED = new WeakSet<ServerResponse>();

/**
 * Leaves `100 Continue` to the reader of the body, so that a refused client sends no body. The refusal closes the
 * connection, since the client may send the body anyway. RFC 9110, section 10.1.1.
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
