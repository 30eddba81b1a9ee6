import type { Request, Response } from 'express';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StreamedBody } from '../../../src/server/streamed-body.js';

/** A body whose client and whose answer's headers the test plays. */
function bodyOf(limitBytes: number, silenceMs?: number, waitingMs?: number) {
  const client = new PassThrough({ highWaterMark: 8 });
  const headers = new Map<string, string>();
  const response = {
    setHeader: (name: string, value: string) => headers.set(name, value),
    removeHeader: (name: string) => headers.delete(name),
  };
  const request = Object.assign(client, { socket: {} }) as unknown as Request;
  const body = new StreamedBody(request, response as unknown as Response, limitBytes, silenceMs, waitingMs);
  return { client, body, headers };
}

async function read(body: StreamedBody): Promise<string> {
  let text = '';
  for await (const chunk of body) text += chunk.toString();
  return text;
}

test('is read to its end, after which the connection may carry another request', async () => {
  const { client, body, headers } = bodyOf(6);
  expect(headers.get('Connection')).toBe('close');
  client.write('abc');
  client.end('def');
  expect(await read(body)).toBe('abcdef');
  expect(headers.has('Connection')).toBe(false);
});

test('is refused as soon as it is too large, and the answer closes the connection', async () => {
  const { client, body, headers } = bodyOf(5);
  client.write('abc');
  client.write('def');
  await expect(read(body)).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  await body.discard();
  expect(headers.get('Connection')).toBe('close');
});

test('waits for its reader', async () => {
  const { client, body } = bodyOf(100);
  const written: string[] = [];
  for (const part of ['12345678', '12345678', '12345678']) client.write(part, () => written.push(part));
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  expect(written.length).toBeLessThan(3);
  await chunks.return(undefined);
});

test('of which the reader has read a part is dropped, and then the connection may carry another request', async () => {
  const { client, body, headers } = bodyOf(100);
  client.write('first');
  for await (const chunk of body) {
    expect(chunk.toString()).toBe('first');
    break;
  }
  client.end('second');
  await body.discard();
  expect(headers.has('Connection')).toBe(false);
});

test('that is broken off cannot be read', async () => {
  const { client, body } = bodyOf(100);
  client.write('half');
  const reading = read(body);
  client.destroy(new Error('aborted'));
  await expect(reading).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: 'the request body could not be read',
  });
});

test('whose client sends nothing is given up', async () => {
  const { client, body } = bodyOf(100, 5);
  await expect(read(body)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  expect(client.destroyed).toBe(true);
});

test('whose client sends too slowly is refused', async () => {
  const { client, body } = bodyOf(100, 1000, 20);
  const sending = setInterval(() => client.write('a'), 5);
  await expect(read(body)).rejects.toMatchObject({ message: 'the request body arrives too slowly' });
  clearInterval(sending);
});
