import { afterEach, expect, test } from 'vitest';
import { beginSession, may, type Me, me, type Role } from './session.ts';

const holder = (role: Role, roles?: Role[]): Me => ({
  actor: 'jwt:carol',
  name: 'carol',
  role,
  ...(roles && { roles }),
  environment: 'production',
  version: '1.0.0',
  instance: '0b7c3c1e-52a1-4c0b-9d38-6a0f3f6f2d11',
});

afterEach(() => (me.value = undefined));

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
