import { afterEach, expect, test, vi } from 'vitest';
import {
  beginAction,
  beginSession,
  endSession,
  may,
  type Me,
  me,
  type Role,
  signedIn,
  watchIdleness,
} from './session.ts';

const holder = (role: Role, roles?: Role[]): Me => ({
  actor: 'jwt:carol',
  name: 'carol',
  role,
  ...(roles && { roles }),
  environment: 'production',
  version: '1.0.0',
  instance: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
});

const MINUTE_MS = 60_000;

afterEach(() => {
  me.value = undefined;
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('nobody may do anything before the sign-in', () => {
  expect(may('auditor')).toBe(false);
});

test.each<{ who: Me; allowed: Role[] }>([
  { who: holder('operations'), allowed: ['operations', 'support', 'auditor'] },
  {
    who: holder('operations', ['operations', 'promotions']),
    allowed: ['operations', 'promotions', 'support', 'auditor'],
  },
  { who: holder('auditor'), allowed: ['auditor'] },
])('$who.role with the roles $who.roles may do what each of them may', ({ who, allowed }) => {
  beginSession('key', who, false);
  const all: Role[] = ['admin', 'operations', 'promotions', 'support', 'auditor'];
  expect(all.filter(may)).toEqual(allowed);
});

function watched(): void {
  vi.useFakeTimers();
  const listens = { addEventListener: () => undefined };
  vi.stubGlobal('addEventListener', listens.addEventListener);
  vi.stubGlobal('document', listens);
  vi.stubGlobal('sessionStorage', { removeItem: () => undefined });
  watchIdleness();
  beginSession('key', holder('admin'), false);
}

test('an action under way is no idle time; its end begins fifteen idle minutes', () => {
  watched();
  const end = beginAction();
  vi.advanceTimersByTime(30 * MINUTE_MS);
  end();
  vi.advanceTimersByTime(14 * MINUTE_MS);
  expect(signedIn.value).toBe(true);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(signedIn.value).toBe(false);
});

test('an action that does not end counts as use for an hour', () => {
  watched();
  beginAction();
  vi.advanceTimersByTime(74 * MINUTE_MS);
  expect(signedIn.value).toBe(true);
  vi.advanceTimersByTime(2 * MINUTE_MS);
  expect(signedIn.value).toBe(false);
});

test('an action of the session before is no use of this one', () => {
  watched();
  beginAction();
  endSession();
  beginSession('another key', holder('support'), false);
  vi.advanceTimersByTime(16 * MINUTE_MS);
  expect(signedIn.value).toBe(false);
});
