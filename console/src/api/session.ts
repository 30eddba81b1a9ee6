import { computed, signal } from '@preact/signals';
import { holds } from '../../../src/admin/role.ts';
import { signIn as words } from '../strings.ts';
import { Problem } from './problem.ts';
import type { Schema } from './schemas.ts';

/** Idle time after which the key is forgotten, in milliseconds. */
const IDLE_MS = 15 * 60_000;
/** Longest time for which an action under way counts as use, in milliseconds. */
const LONGEST_ACTION_MS = 60 * 60_000;
/** Interval of the checks for idleness, in milliseconds; also the precision of the stored time of the last use. */
const CHECK_MS = 5_000;

const KEPT = 'croupier-console';

interface Kept {
  readonly key: string;
  readonly usedAtMs: number;
}

export type Me = Schema<'MeResponse'>;
export type Role = Schema<'Role'>;

/** Who is signed in; undefined before the sign-in. */
export const me = signal<Me | undefined>(undefined);
/** Why the session ended, for the sign-in page. */
export const ended = signal<string | undefined>(undefined);
/** The roles of who is signed in. The service lists them only if there are several. */
export const rolesOf = ({ role, roles = [role] }: Me): readonly Role[] => roles;
/**
 * Whether a role of who is signed in is, or includes, the required one. The service decides; this only chooses what is
 * shown.
 */
export const may = (required: Role) => me.value !== undefined && holds(rolesOf(me.value), required);
/** Whether somebody is signed in. */
export const signedIn = computed(() => me.value !== undefined);

let key: string | undefined;
let usedAtMs = 0;
let isKept = false;
/** The actions of the session that are under way. */
const actions = new Set<{ readonly begunAtMs: number }>();

export const currentKey = (): string | undefined => key;

/** Begins the session of a key that the service has accepted. */
export function beginSession(accepted: string, holder: Me, keep: boolean): void {
  key = accepted;
  isKept = keep;
  usedAtMs = Date.now();
  store();
  ended.value = undefined;
  me.value = holder;
}

/** Forgets the key, here and in the tab's storage. */
export function endSession(reason?: string): void {
  key = undefined;
  isKept = false;
  actions.clear();
  sessionStorage.removeItem(KEPT);
  ended.value = reason;
  me.value = undefined;
}

/**
 * The outcome of a call of the current session. A 401 ends the session. After the end, the outcome never arrives: neither
 * the next person in this tab nor their key has anything to do with it.
 */
export async function inSession<T>(call: Promise<T>): Promise<T> {
  const session = me.peek();
  try {
    return await call;
  } catch (error) {
    if (error instanceof Problem && error.status === 401 && me.peek() === session) refuseKey(error.message);
    throw error;
  } finally {
    if (me.peek() !== session) await new Promise<never>(() => undefined);
  }
}

/** The service no longer accepts the key of the session. */
export function refuseKey(sentence: string): void {
  if (me.value !== undefined) endSession(words.refused(sentence));
}

/** The key that was kept for this tab; undefined if there is none, or if it was idle for too long. */
export function keptKey(): string | undefined {
  const kept = readKept();
  if (kept && Date.now() - kept.usedAtMs < IDLE_MS) return kept.key;
  sessionStorage.removeItem(KEPT);
  return undefined;
}

function readKept(): Kept | undefined {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null') as Kept | null;
    return kept !== null && typeof kept.key === 'string' && Number.isFinite(kept.usedAtMs) ? kept : undefined;
  } catch {
    return undefined;
  }
}

function store(): void {
  if (isKept && key !== undefined)
    sessionStorage.setItem(KEPT, JSON.stringify({ key, usedAtMs } satisfies Kept));
}

/**
 * Begins an action that counts as use of the session: the person may only watch it.
 * @returns a function that ends it
 */
export function beginAction(): () => void {
  const begun = { begunAtMs: Date.now() };
  actions.add(begun);
  return () => void actions.delete(begun);
}

/**
 * Ends the session after `IDLE_MS` without a key press, a pointer's movement or an action under way. Called once, at
 * start.
 */
export function watchIdleness(): void {
  const used = () => {
    const nowMs = Date.now();
    // Events may be processed before the timer of a tab that has slept.
    if (nowMs - usedAtMs >= IDLE_MS) return check();
    if (nowMs - usedAtMs < CHECK_MS) return;
    usedAtMs = nowMs;
    store();
  };
  const check = () => {
    const nowMs = Date.now();
    if ([...actions].some(({ begunAtMs }) => nowMs - begunAtMs < LONGEST_ACTION_MS)) {
      usedAtMs = nowMs;
      store();
    } else if (key !== undefined && nowMs - usedAtMs >= IDLE_MS) endSession(words.idle);
  };
  for (const event of ['keydown', 'pointerdown', 'pointermove', 'wheel', 'touchstart'])
    addEventListener(event, used, { capture: true, passive: true });
  document.addEventListener('visibilitychange', check);
  setInterval(check, CHECK_MS);
}
