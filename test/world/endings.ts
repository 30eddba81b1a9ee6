import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body?: string | Buffer | object;
}

/** The ending of a call that is not answered correctly. */
export type Ending =
  | ({ do: 'answer' } & Reply)
  | { do: 'redirect'; to: string; status?: number }
  /** 200 that names its call as section 4 of the contract demands, with these further fields as JSON text. */
  | { do: 'answer-call'; fields: string; headers?: Record<string, string> }
  /** 200 and JSON by its header, but not by its content. */
  | { do: 'garbage' }
  /** The connection is closed without a byte. */
  | { do: 'drop' }
  /** Nothing, for ever. */
  | { do: 'hang' };

/** The ending of a call that was carried out. */
export type LateEnding =
  | Ending
  | { do: 'reply' }
  /** The true answer, preceded by other values of the same keys: the last value of a key counts. */
  | { do: 'duplicate-keys' }
  /** Half of the true answer, then the connection is closed. */
  | { do: 'truncate' }
  /** The true answer, byte by byte. */
  | { do: 'drip'; everyMs: number }
  /** The true answer, and later a copy of it on the same connection, by default as soon as its next call has arrived. */
  | { do: 'reply-twice'; afterMs?: number }
  /** The answers of this call and of the next one that is answered change places. */
  | { do: 'swap' };

/** The part of a call that its answer repeats. */
interface Call {
  readonly json: Readonly<Record<string, unknown>>;
}

/** Ends the calls to one counterpart. */
export class Endings {
  /** By connection: the copy of an answer that is sent when the next call has arrived. */
  private readonly copies = new WeakMap<Socket, Buffer>();
  /** The call whose answer goes to the next one that is answered. */
  private swapping: { readonly response: ServerResponse; readonly reply: Reply } | undefined;

  /** To be called for each call that has arrived completely. */
  arrived(socket: Socket): void {
    const copy = this.copies.get(socket);
    this.copies.delete(socket);
    if (copy) socket.write(copy);
  }

  /** @param reply the true answer, which an ending may spoil */
  end(response: ServerResponse, call: Call, ending: LateEnding, reply: Reply): void {
    switch (ending.do) {
      case 'reply':
        return this.send(response, reply);
      case 'reply-twice':
        return this.sendTwice(response, reply, ending.afterMs);
      case 'swap':
        return this.swapping ? this.send(response, reply) : this.swap(response, reply);
      default:
        return spoil(response, call, ending, reply);
    }
  }

  private send(response: ServerResponse, reply: Reply): void {
    const { swapping } = this;
    this.swapping = undefined;
    if (swapping) send(swapping.response, reply);
    send(response, swapping?.reply ?? reply);
  }

  private sendTwice(response: ServerResponse, reply: Reply, afterMs: number | undefined): void {
    const { socket } = response;
    const kept = { ...reply, headers: { Connection: 'keep-alive', ...reply.headers } };
    send(response, kept);
    if (!socket) return;
    const copy = bytesOf(kept);
    if (afterMs === undefined) this.copies.set(socket, copy);
    else setTimeout(() => socket.writable && socket.write(copy), afterMs);
  }

  private swap(response: ServerResponse, reply: Reply): void {
    this.swapping = { response, reply };
    response.once('close', () => {
      if (this.swapping?.response === response) this.swapping = undefined;
    });
  }
}

type Spoiled = Exclude<LateEnding, { do: 'reply' | 'reply-twice' | 'swap' }>;

function spoil(response: ServerResponse, call: Call, ending: Spoiled, reply: Reply): void {
  switch (ending.do) {
    case 'answer':
      return send(response, ending);
    case 'answer-call': {
      const named = JSON.stringify(namesOf(call)).slice(0, -1);
      const headers = { ...JSON_TYPE, ...ending.headers };
      return send(response, { status: 200, headers, body: `${named},${ending.fields}}` });
    }
    case 'redirect':
      return send(response, { status: ending.status ?? 307, headers: { Location: ending.to } });
    case 'garbage':
      return send(response, { status: 200, headers: JSON_TYPE, body: '<html>{"status":' });
    case 'drop':
      response.socket?.destroy();
      return;
    case 'hang':
      return;
    case 'duplicate-keys': {
      const truth = JSON.stringify(reply.body).slice(1);
      return send(response, {
        ...reply,
        headers: JSON_TYPE,
        body: `{"status":"APPROVED","balance":1,${truth}`,
      });
    }
    case 'truncate': {
      const body = begin(response, reply);
      response.write(body.subarray(0, body.length / 2), () => response.socket?.destroySoon());
      return;
    }
    case 'drip': {
      const body = begin(response, reply);
      let sent = 0;
      const timer = setInterval(() => {
        response.write(body.subarray(sent, (sent += 1)));
        if (sent < body.length) return;
        clearInterval(timer);
        response.end();
      }, ending.everyMs);
      response.once('close', () => clearInterval(timer));
    }
  }
}

/** The fields by which a wallet's answer names its call. */
function namesOf({ json: { transactionId, playerRef, currency } }: Call): object {
  return transactionId === undefined ? { playerRef, currency } : { transactionId };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

function send(response: ServerResponse, reply: Reply): void {
  response.end(begin(response, reply));
}

/** Writes the head and returns the body's bytes. */
function begin(response: ServerResponse, reply: Reply): Buffer {
  const { headers, content } = messageOf(reply);
  response.writeHead(reply.status, headers);
  return content;
}

/** An answer as it is sent on a connection. */
function bytesOf(reply: Reply): Buffer {
  const { headers, content } = messageOf(reply);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`, ...lines, '', ''].join(
    '\r\n',
  );
  return Buffer.concat([Buffer.from(head), content]);
}

function messageOf({ headers, body = '' }: Reply): { headers: Record<string, string>; content: Buffer } {
  const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
  const content = Buffer.from(isBytes ? body : JSON.stringify(body));
  const type = isBytes ? {} : JSON_TYPE;
  return { headers: { ...type, 'Content-Length': String(content.length), ...headers }, content };
}
