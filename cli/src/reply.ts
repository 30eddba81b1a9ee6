import type { ClientRequest, IncomingMessage } from 'node:http';

export interface Reply {
  status: number;
  contentType: string;
  /** The `Date` header as Unix time in milliseconds; undefined without one. */
  dateMs: number | undefined;
  /** How long the server keeps an idle connection, as its `Keep-Alive` header says, in milliseconds; undefined without it. */
  announcedIdleMs: number | undefined;
  text: string;
  /** Undefined if the body is not a JSON object. */
  json: Record<string, unknown> | undefined;
}

/** Limit of an answer's body, as on the platform, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * Reads the whole answer to a call, whatever its status.
 * @throws Error if it does not arrive within `timeoutMs`, or is larger than `MAX_ANSWER_BYTES`
 */
export function replyTo(call: ClientRequest, timeoutMs: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    call.on('response', (answer) => {
      response = answer;
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_ANSWER_BYTES)
          call.destroy(new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`));
        chunks.push(chunk);
      });
      answer.on('end', () => resolve(replyOf(answer, Buffer.concat(chunks))));
      answer.on('error', reject);
    });
    const timer = setTimeout(() => call.destroy(new Error(`not within ${timeoutMs} ms`)), timeoutMs);
    call.on('error', reject);
    call.on('close', () => {
      clearTimeout(timer);
      // A call may also end without an error, such as after a switch of protocols.
      if (!response) reject(new Error('the connection was closed without an answer'));
    });
  });
}

/** A reply for a report: its status and the first 200 characters of its body. */
export function describeReply({ status, text }: Reply): string {
  const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
  return `status ${status}${shown === '' ? '' : ` ${shown}`}`;
}

/** @param header `Content-Encoding`: absent, empty and `identity` all mean that the body is not encoded */
export function encodingOf(header: string | undefined): string {
  return header?.trim().toLowerCase() || 'identity';
}

/** Reads a body as the platform does: without a byte order mark, and not at all if it is encoded. */
function replyOf({ statusCode = 0, headers }: IncomingMessage, body: Buffer): Reply {
  const encoding = encodingOf(headers['content-encoding']);
  const text =
    encoding === 'identity' ? new TextDecoder().decode(body) : `with the Content-Encoding ${encoding}`;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const dateMs = Date.parse(headers.date ?? '');
  const idleSeconds = /timeout=(\d+)/.exec(String(headers['keep-alive']))?.[1];
  return {
    status: statusCode,
    contentType: headers['content-type'] ?? '',
    dateMs: Number.isNaN(dateMs) ? undefined : dateMs,
    announcedIdleMs: idleSeconds === undefined ? undefined : 1000 * Number(idleSeconds),
    text,
    json: isObject ? (json as Record<string, unknown>) : undefined,
  };
}
