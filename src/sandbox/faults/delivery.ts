import { type ServerResponse, STATUS_CODES } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChosenFault } from './fault-rules.js';

/** The status and the JSON text of an answer. */
export interface AnswerText {
  readonly status: number;
  readonly text: string;
}

/** Sends a JSON answer in the way that the fault requires. Stops if the caller has disconnected. */
export async function deliver(
  response: ServerResponse,
  answer: AnswerText,
  fault: ChosenFault | undefined,
): Promise<void> {
  const { status, text } = answer;
  switch (fault?.name) {
    case 'book-and-stay-silent':
      return;
    case 'book-and-answer-500':
      return sendText(response, 500, '{"error":"the sandbox was asked to fail"}');
    case 'unreadable-body':
      return sendText(response, status, text.slice(0, Math.ceil(text.length / 2)));
    case 'redirect':
      return sendText(response, 307, '', { Location: '/elsewhere' });
    case 'cut-connection': {
      const raw = rawAnswer(answer);
      return void response.socket?.write(raw.slice(0, -1), () => response.socket?.destroy());
    }
    case 'answer-twice':
      return void response.socket?.end(rawAnswer(answer).repeat(2));
    case 'answer-slowly':
      return sendSlowly(response, status, text, fault.ms);
    default:
      return sendAnswer(response, answer);
  }
}

export function sendAnswer(response: ServerResponse, { status, text }: AnswerText): void {
  sendText(response, status, text);
}

function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string> = {},
): void {
  const length = Buffer.byteLength(text);
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': length, ...headers });
  response.end(text);
}

async function sendSlowly(response: ServerResponse, status: number, text: string, ms: number): Promise<void> {
  const bytes = Buffer.from(text);
  response.writeHead(status, { 'Content-Type': JSON_TYPE, 'Content-Length': bytes.length });
  for (const byte of bytes.subarray(0, -1)) {
    if (response.destroyed) return;
    response.write(Buffer.of(byte));
    await delay(ms / bytes.length, undefined, { ref: false });
  }
  // The caller may reuse the connection as soon as it has the last byte. Therefore one call sends this byte and ends
  // the response.
  response.end(bytes.subarray(-1));
}

/** An answer as it stands on the connection. */
export function rawAnswer({ status, text }: AnswerText): string {
  const length = Buffer.byteLength(text);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${length}`;
  return `${head}\r\n\r\n${text}`;
}

const JSON_TYPE = 'application/json; charset=utf-8';
