import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { describe, expect, test } from 'vitest';
import { AdminGuard } from '../../src/admin/admin.guard.js';
import { Administrators } from '../../src/admin/administrators.service.js';
import { RequiresRole } from '../../src/admin/requires-role.js';
import { holds, type Role, ROLES } from '../../src/admin/role.js';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import { CALLER } from '../../src/http/caller.js';

const KEY = 'k'.repeat(32);
const configuration: Configuration = readConfiguration({ SANDBOX: 'true', ADMIN_API_KEY: KEY });

class Routes {
  @RequiresRole('admin')
  administrators(): void {
    // declared only
  }

  open(): void {
    // declared only
  }
}

/** Asks the guard of one role's administrator, or of the root key's. */
async function ask(route: keyof Routes, authorization?: string, role?: Role) {
  const administrators = new Administrators(configuration);
  if (role) administrators.behind = () => Promise.resolve({ name: 'somebody', role });
  const request: { headers: object; administrator?: object } = { headers: { authorization } };
  const context = {
    getHandler: () => Routes.prototype[route],
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  const passed = await new AdminGuard(new Reflector(), administrators).canActivate(context);
  return { passed, administrator: request.administrator };
}

describe('a role', () => {
  test.each([
    ['admin', ['admin', 'promotions', 'support']],
    ['promotions', ['promotions', 'support']],
    ['support', ['support']],
  ] as const)('%s holds %j', (role, held) => {
    expect(ROLES.filter((required) => holds(role, required))).toEqual(held);
  });
});

describe("an administrator's route", () => {
  test.each([`Bearer ${KEY}`, `bearer ${KEY}`, `Bearer  ${KEY}`])(
    'lets the root key pass: %s',
    async (header) => {
      expect(await ask('administrators', header)).toEqual({
        passed: true,
        administrator: { name: 'root', role: 'admin' },
      });
    },
  );

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    KEY,
    `Basic ${KEY}`,
    `Bearer ${KEY}k`,
    `Bearer ${KEY} ${KEY}`,
    'Bearer x',
  ])('refuses %j', async (header) => {
    await expect(ask('administrators', header)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test.each(['promotions', 'support'] as const)('is forbidden to %s', async (role) => {
    await expect(ask('administrators', 'Bearer x', role)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  test('carries no signature, while a route that declares nothing is still signed', () => {
    expect(new Reflector().get(CALLER, Routes.prototype.administrators)).toBe('unsigned');
    expect(new Reflector().get(CALLER, Routes.prototype.open)).toBeUndefined();
  });
});

test('a route of somebody else is not judged', async () => {
  expect(await ask('open')).toEqual({ passed: true, administrator: undefined });
});
