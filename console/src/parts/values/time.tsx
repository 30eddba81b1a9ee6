import { signal } from '@preact/signals';
import { LOCALE, time as words } from '../../strings.ts';

const LOCAL = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });

/** An instant in the reader's zone, such as `31 Jan 2026, 07:00:00`. */
export const timeText = (instant: string) => LOCAL.format(new Date(instant));

/** An instant in UTC with its milliseconds, such as `2026-01-31 06:00:00.000 UTC`. */
export function utcText(instant: string): string {
  return `${new Date(instant).toISOString().replace('T', ' ').replace('Z', '')} ${words.utc}`;
}

/** An instant in the reader's zone, with UTC in its title; nothing if there is none. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  return at == null ? null : (
    <time dateTime={at} title={utcText(at)}>
      {timeText(at)}
    </time>
  );
}

let ticking: ReturnType<typeof setInterval> | undefined;
/** The current time in milliseconds, refreshed every second while something shows it. */
const nowMs = signal(Date.now(), {
  watched() {
    nowMs.value = Date.now();
    ticking = setInterval(() => (nowMs.value = Date.now()), 1_000);
  },
  unwatched() {
    clearInterval(ticking);
  },
});

/** Whether the time has come, kept up to date; false without an instant. */
export const hasPassed = (instant: string | undefined) =>
  instant !== undefined && new Date(instant).getTime() <= nowMs.value;

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** A duration in its two largest units, such as `2 h 5 min`. */
export function durationText(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, length] of UNITS) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(' ') || '0 s';
}

/** How long ago an instant was, kept up to date. */
export function Ago({ at }: { readonly at: string }) {
  const seconds = (nowMs.value - new Date(at).getTime()) / 1_000;
  return (
    <time dateTime={at} title={utcText(at)}>
      {words.ago(durationText(seconds))}
    </time>
  );
}

/** How much time is left, such as `2 h 5 min left`. */
export const leftText = (seconds: number) => (seconds > 0 ? words.left(durationText(seconds)) : words.passed);

/** How much time is left until an instant, kept up to date. */
export function Left({ until }: { readonly until: string }) {
  const seconds = (new Date(until).getTime() - nowMs.value) / 1_000;
  return (
    <time dateTime={until} title={utcText(until)}>
      {leftText(seconds)}
    </time>
  );
}

/** An instant, and how long ago it was. */
export const TimeAndAgo = ({ at }: { readonly at: string }) => (
  <>
    <Time at={at} /> (<Ago at={at} />)
  </>
);

/** An instant, and how much time is left until it. */
export const TimeAndLeft = ({ until }: { readonly until: string }) => (
  <>
    <Time at={until} /> (<Left until={until} />)
  </>
);
