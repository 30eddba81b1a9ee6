import { type ReadonlySignal, useComputed, useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Problem } from '../../api/problem.ts';
import {
  connection,
  connections,
  onStream,
  type StreamEventName,
  type StreamEvents,
} from '../../api/stream.ts';
import { dialogs, outdated, unsaved } from '../forms/unsaved.ts';
import { problemOf } from './problem.tsx';

/** Waits between attempts of a read that fails for the moment, in milliseconds: the last one repeats. */
const WAITS_MS = [1_000, 2_000, 5_000, 10_000];
/**
 * The wait after an attempt that failed for the moment, in milliseconds.
 * @param failures the number of failed attempts before it
 */
export const waitMsAfter = (failures: number) => WAITS_MS[Math.min(failures, WAITS_MS.length - 1)];
/** Events that arrive together cause one read, in milliseconds. */
const GATHER_MS = 300;

export interface Resource<T> {
  /** The last answer; it stays while the next one is read. Undefined before the first, and if the record is gone. */
  readonly data: ReadonlySignal<T | undefined>;
  /** The last failure; undefined after a success. */
  readonly problem: ReadonlySignal<Problem | undefined>;
  readonly loading: ReadonlySignal<boolean>;
  /** Whether there will be another attempt without a click. */
  readonly retries: ReadonlySignal<boolean>;
  /**
   * Reads again, as after an action: the answer is shown even while there is unsaved input. If a dialog is open, it is
   * read again once that is closed.
   */
  readonly reload: () => void;
}

interface Options {
  /**
   * Reads again when the stream reports such an event. While there is unsaved input or an open dialog, the answer is not
   * shown; once the input is sent or discarded, or the dialog closed, the resource is read again.
   */
  readonly on?: Partial<{ [Name in StreamEventName]: (data: StreamEvents[Name]) => boolean }>;
}

/** For records that are cheap to read, and of which the stream has no events: read again with each overview. */
export const WITH_OVERVIEW: Options = { on: { overview: () => true } };

/**
 * Reads from the API, and again whenever `key` changes, when the stream is opened, and upon its events. An
 * event during a read causes another one after it. Reads that are no longer wanted are aborted; a service that restarts
 * is asked again until it answers.
 * @param key everything that the read depends on, such as the address; other data disappears when it changes
 * @param read for example `(signal) => answer(api.GET('/v1/admin/me', { signal }))`
 */
export function useResource<T>(
  key: string,
  read: (signal: AbortSignal) => Promise<T>,
  { on = {} }: Options = {},
): Resource<T> {
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal<Problem | undefined>(undefined);
  const loading = useSignal(true);
  const turn = useSignal(0);
  const latest = useRef({ read, on });
  latest.current = { read, on };
  const reload = useRef(() => (turn.value += 1)).current;

  // Before the browser paints, so that no data of another address is shown under the new one.
  useLayoutEffect(() => {
    data.value = undefined;
    problem.value = undefined;
    const ending = new AbortController();
    let reading: AbortController | undefined;
    /** Counts what may have made the data stale. */
    let changes = 0;
    /** Whether `reload` was called since the last answer that is shown. */
    let asked = false;
    /** Whether the last answer was dropped. */
    let waits = false;
    /**
     * Whether an answer may not be shown now. Another branch of the page could unmount a form with what was typed, or turn
     * a dialog to pause into one to resume.
     */
    const mustWait = () =>
      data.peek() !== undefined && (dialogs.peek() > 0 || (unsaved.peek() > 0 && !asked));
    /** Shows what was read, unless it must wait. */
    const show = (read: T | undefined) => {
      waits = mustWait();
      if (!waits) {
        data.value = read;
        asked = false;
      } else if (!asked) outdated.value = true;
    };
    let retry: ReturnType<typeof setTimeout> | undefined;
    let gathering: ReturnType<typeof setTimeout> | undefined;
    const attempt = async (failures: number) => {
      clearTimeout(retry);
      clearTimeout(gathering);
      gathering = undefined;
      waits = false;
      reading?.abort();
      const known = changes;
      const own = (reading = new AbortController());
      loading.value = true;
      const signal = AbortSignal.any([ending.signal, own.signal]);
      try {
        const answer = await latest.current.read(signal);
        if (signal.aborted) return;
        show(answer);
        problem.value = undefined;
      } catch (error) {
        if (signal.aborted) return;
        const { passes, status } = (problem.value = problemOf(error));
        if (passes) retry = setTimeout(() => void attempt(failures + 1), waitMsAfter(failures));
        // A record that is gone must not stay on the page with its actions.
        else if (status === 404) show(undefined);
        else asked = false;
      }
      loading.value = false;
      reading = undefined;
      if (changes !== known) soon();
    };
    // A read that is under way ends first: under frequent events, a slow one would otherwise never end.
    const soon = () => {
      changes += 1;
      if (reading) return;
      gathering ??= setTimeout(() => void attempt(0), GATHER_MS);
    };
    const stopWaiting = [dialogs, unsaved].map((count) =>
      count.subscribe(() => {
        if (waits && !mustWait()) soon();
      }),
    );
    const stops = Object.keys(latest.current.on).map((name) =>
      onStream(name as StreamEventName, (event) => {
        const concerns = latest.current.on[name as StreamEventName] as
          ((data: unknown) => boolean) | undefined;
        if (concerns?.(event)) soon();
      }),
    );
    let seen = connections.peek();
    const stopConnections = connections.subscribe((count) => {
      if (count === seen) return;
      seen = count;
      // A read under way may wait for the connection that was lost.
      if (connection.peek() === 'interrupted') {
        reading?.abort();
        reading = undefined;
      }
      soon();
    });
    let begun = false;
    const stopTurns = turn.subscribe(() => {
      asked = begun;
      if (begun) void attempt(0);
      begun = true;
    });
    void attempt(0);
    return () => {
      ending.abort();
      clearTimeout(retry);
      clearTimeout(gathering);
      for (const stop of [...stops, ...stopWaiting, stopConnections, stopTurns]) stop();
    };
  }, [key]);

  const retries = useComputed(() => problem.value?.passes ?? false);
  return { data, problem, loading, retries, reload };
}
