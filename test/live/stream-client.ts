import { type IncomingMessage, request } from 'node:http';
import { expect, vi } from 'vitest';
import { ADMIN_KEY, bearer, type World } from '../world/world.js';
import { PATIENCE } from '../world/patience.js';

export interface ReceivedEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** A client of the stream that records its events. */
export class StreamClient {
  readonly events: ReceivedEvent[] = [];
  comments = 0;
  private text = '';
  ended = false;

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8');
    response.on('close', () => (this.ended = true));
    response.on('error', () => undefined);
  }

  static async open(
    { url }: Pick<World, 'url'>,
    { key = ADMIN_KEY, reads = true }: { key?: string; reads?: boolean } = {},
  ): Promise<StreamClient> {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      request(`${url}/v1/admin/stream`, { headers: bearer(key), agent: false })
        .on('response', resolve)
        .on('error', reject)
        .end(),
    );
    const client = new StreamClient(response);
    if (reads) response.on('data', (text: string) => client.receive(text));
    return client;
  }

  of(event: ReceivedEvent['event']): Record<string, unknown>[] {
    return this.events.filter((each) => each.event === event).map(({ data }) => data);
  }

  /** Waits for an event whose data has these fields. */
  async receives(event: ReceivedEvent['event'], fields: Record<string, unknown> = {}): Promise<void> {
    await vi.waitFor(() => expect(this.of(event)).toContainEqual(expect.objectContaining(fields)), PATIENCE);
  }

  async end(): Promise<void> {
    await vi.waitUntil(() => this.ended, { timeout: 40_000, interval: 50 });
  }

  close(): void {
    this.response.destroy();
  }

  private receive(text: string): void {
    this.text += text;
    const blocks = this.text.split('\n\n');
    this.text = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) this.comments += 1;
      const match = /^event: (\w+)\ndata: (.*)$/.exec(block);
      if (match)
        this.events.push({ event: match[1]!, data: JSON.parse(match[2]!) as Record<string, unknown> });
    }
  }
}
