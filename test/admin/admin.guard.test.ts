import { type ExecutionContext, Logger } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { AdminGuard } from '../../src/admin/admin.guard.js';
import { AdminRoute } from '../../src/admin/admin-route.js';
import { AdminTokens } from '../../src/admin/admin-tokens.service.js';
import { Administrators } from '../../src/admin/administrators.service.js';
import type { KeyStore } from '../../src/admin/key.store.js';
import { holds, type Role, ROLES } from '../../src/admin/role.js';
import { WrongKeyLimit } from '../../src/admin/wrong-key-limit.js';
import type { Refusals } from '../../src/audit/refusals.js';
import { type Configuration, readConfiguration } from '../../src/config/configuration.js';
import { CALLER } from '../../src/api/caller.js';
import { IssuerKeys } from '../../src/outbound/issuer-keys.js';
import { Clock } from '../../src/runtime/clock.js';

const KEY = 'k'.repeat(32);
const own: Configuration = readConfiguration({ SANDBOX: 'true', ADMIN_API_KEY: KEY });

beforeAll(() => {
  Logger.overrideLogger(false);
});

class Routes {
  @AdminRoute('listAdministrators', { role: 'admin', summary: 'List the administrators' })
  administrators(): void {
    // declared only
  }

  open(): void {
    // declared only
  }
}

interface Asked {
  readonly role?: Role;
  readonly host?: string;
  readonly configuration?: Configuration;
}

/** Calls the guard as an administrator with one role, or with the root key. */
async function ask(
  route: keyof Routes,
  authorization?: string,
  { role, host = 'croupier.example', configuration = own }: Asked = {},
) {
  const clock = new Clock();
  const keys = { liveByHash: () => Promise.resolve(undefined) } as unknown as KeyStore;
  const tokens = new AdminTokens(configuration, new IssuerKeys(configuration, clock), clock);
  const administrators = new Administrators(configuration, keys, tokens);
  if (role) administrators.identify = () => Promise.resolve({ id: 'key:1', name: 'somebody', roles: [role] });
  const refusals = { admit: () => undefined, record: () => Promise.resolve() } as unknown as Refusals;
  const request: {
    method: string;
    route: object;
    headers: object;
    actor?: object;
    ip: string;
    originalUrl: string;
  } = {
    method: 'GET',
    route: { path: '/v1/admin/providers' },
    headers: { authorization, host },
    ip: '192.0.2.1',
    originalUrl: '/v1/admin/providers',
  };
  const context = {
    getHandler: () => Routes.prototype[route],
    getClass: () => Routes,
    switchToHttp: () => ({ getRequest: () => request }),
  } as unknown as ExecutionContext;
  const guard = new AdminGuard(new Reflector(), administrators, new WrongKeyLimit(clock), refusals);
  return { passed: await guard.canActivate(context), actor: request.actor };
}

describe('a role', () => {
  test.each([
    ['admin', ['admin', 'operations', 'promotions', 'support', 'auditor']],
    ['operations', ['operations', 'support', 'auditor']],
    ['promotions', ['promotions', 'support', 'auditor']],
    ['support', ['support', 'auditor']],
    ['auditor', ['auditor']],
  ] as const)('%s includes %j', (role, included) => {
    expect(ROLES.filter((required) => holds([role], required))).toEqual(included);
  });
});

describe("an administrator's route", () => {
  test.each([`Bearer ${KEY}`, `bearer ${KEY}`, `Bearer  ${KEY}`])(
    'lets the root key pass: %s',
    async (header) => {
      expect(await ask('administrators', header)).toEqual({
        passed: true,
        actor: { actor: 'root', name: 'root', role: 'admin', roles: ['admin'], address: '192.0.2.1' },
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

  test.each(['operations', 'promotions', 'support', 'auditor'] as const)(
    'is forbidden to %s',
    async (role) => {
      await expect(ask('administrators', 'Bearer x', { role })).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: 'this needs the role admin',
      });
    },
  );

  describe("with the sandbox's own key", () => {
    const configuration = readConfiguration({ SANDBOX: 'true' });
    const askAt = (host: string) =>
      ask('administrators', `Bearer ${configuration.adminApiKey}`, { host, configuration });

    test.each(['localhost:3000', 'LOCALHOST', '127.0.0.1:3000', '127.0.0.2', '[::1]:3000', '[::1]'])(
      'is open at %s',
      async (host) => {
        expect(await askAt(host)).toMatchObject({ passed: true });
      },
    );

    test.each([
      'evil.example:3000',
      'localhost.evil.example',
      '127.0.0.1.evil.example:3000',
      '192.0.2.1:3000',
      'evil.example:3000:127.0.0.1',
      '',
    ])('is forbidden at another host, as of a page whose name resolves to this machine: %j', async (host) => {
      await expect(askAt(host)).rejects.toMatchObject({
        code: 'FORBIDDEN',
        message: "the sandbox's own key is accepted only at localhost or a loopback address",
      });
    });
  });

  test('needs no signature, while a route without a declaration does', () => {
    expect(new Reflector().get(CALLER, Routes.prototype.administrators)).toBe('unsigned');
    expect(new Reflector().get(CALLER, Routes.prototype.open)).toBeUndefined();
  });
});

test('the guard ignores routes of other audiences', async () => {
  expect(await ask('open')).toEqual({ passed: true, actor: undefined });
});
