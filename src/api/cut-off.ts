import type { ServerResponse } from 'node:http';

const CUT_OFF = new WeakSet<ServerResponse>();

/**
 * Closes the connection of an answer that the service cannot complete. If the answer were ended, it would look complete.
 * The outcome of the request is then CUT_OFF.
 */
export function cutOff(response: ServerResponse): void {
  CUT_OFF.add(response);
  response.destroy();
}

export function isCutOff(response: ServerResponse): boolean {
  return CUT_OFF.has(response);
}
