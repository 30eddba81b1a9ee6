import { effect, signal } from '@preact/signals';
import { createParser } from 'eventsource-parser';
import type { Schema } from './schemas.ts';
import { currentKey, refuseKey, signedIn } from './session.ts';

/** What the stream reports, by the name of the event. */
export interface StreamEvents {
  readonly overview: Schema<'OverviewResponse'>;
  readonly attention: Schema<'AttentionItem'>;
  readonly approval: Schema<'ApprovalItem'>;
  readonly batch: Schema<'BatchItem'>;
}
export type StreamEventName = keyof StreamEvents;

/** First and longest wait before the next attempt, in milliseconds. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
/**
 * Without an overview for this time, a connection is lost, in milliseconds. The service sends one every 5 s, but only
 * comments while it cannot read its database.
 */
const SILENCE_MS = 20_000;

/** The newest overview; it stays while the stream is interrupted. */
export const overview = signal<StreamEvents['overview'] | undefined>(undefined);
export const connection = signal<'connecting' | 'live' | 'interrupted'>('connecting');
/** Counts the connections, before `connection` is live: what was read before may be stale after a new one. */
export const connections = signal(0);

type Listener = (data: never) => void;
const listeners = new Map<StreamEventName, Set<Listener>>();

/** Calls the listener for each such event. @returns a function that ends this */
export function onStream<Name extends StreamEventName>(
  name: Name,
  listener: (data: StreamEvents[Name]) => void,
): () => void {
  const ofName = listeners.get(name) ?? new Set<Listener>();
  listeners.set(name, ofName.add(listener));
  return () => void ofName.delete(listener);
}

/**
 * Follows the stream whenever somebody is signed in. Called once, at start.
 * @returns a function that stops following
 */
export function followStream(): () => void {
  return effect(() => {
    if (!signedIn.value) return;
    const ending = new AbortController();
    void follow(ending.signal);
    return () => {
      ending.abort();
      overview.value = undefined;
      connection.value = 'connecting';
    };
  });
}

async function follow(signal: AbortSignal): Promise<void> {
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    const opened = await read(signal);
    waitMs = opened ? FIRST_WAIT_MS : Math.min(2 * waitMs, LONGEST_WAIT_MS);
    // Spread, so that all desks do not come back at the same moment after a restart.
    await pause(waitMs * (0.5 + Math.random() / 2), signal);
  }
}

/** Reads one connection to its end. @returns whether it was opened */
async function read(outer: AbortSignal): Promise<boolean> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  const signal = AbortSignal.any([outer, silence.signal]);
  let opened = false;
  try {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${currentKey() ?? ''}` };
    const response = await fetch('/v1/admin/stream', { headers, signal, cache: 'no-store' });
    if (response.status === 401) {
      const { error } = (await response.json()) as { error: string };
      refuseKey(error);
    }
    if (!response.ok || !response.body) return false;
    opened = true;
    connections.value += 1;
    connection.value = 'live';
    const parser = createParser({
      onEvent: ({ event, data }) => {
        if (event === 'overview') {
          clearTimeout(timer);
          timer = setTimeout(() => silence.abort(), SILENCE_MS);
        }
        dispatch(event, data);
      },
    });
    for await (const text of chunks(response.body)) parser.feed(text);
  } catch {
    return opened;
  } finally {
    clearTimeout(timer);
    if (!outer.aborted) connection.value = 'interrupted';
  }
  return opened;
}

async function* chunks(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}

function dispatch(name: string | undefined, data: string): void {
  const parsed = JSON.parse(data) as never;
  if (name === 'overview') overview.value = parsed;
  for (const listener of listeners.get(name as StreamEventName) ?? []) listener(parsed);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
