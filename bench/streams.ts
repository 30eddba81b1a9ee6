import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';

/** Number of streams beside the BETs. Contract, section 9, "Live view". */
const STREAMS = 200;

/** Readers of the service's live view, which discard what they read. */
export class Streams {
  private constructor(private readonly requests: readonly ClientRequest[]) {}

  /** @throws Error if a stream is refused */
  static async open(port: number, adminKey: string): Promise<Streams> {
    const requests = Array.from({ length: STREAMS }, () =>
      request({
        port,
        path: '/v1/admin/stream',
        headers: { Authorization: `Bearer ${adminKey}` },
        agent: false,
      }).end(),
    );
    // All at once: a response that arrives before somebody waits for it would be missed.
    const answers = await Promise.all(requests.map((each) => once(each, 'response')));
    for (const [response] of answers as [IncomingMessage][]) {
      if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
      response.on('error', () => undefined).resume();
    }
    return new Streams(requests);
  }

  close(): void {
    for (const each of this.requests) each.destroy();
  }
}
