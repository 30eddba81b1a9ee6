import { MetadataScanner } from '@nestjs/core';
import { describe, expect, test } from 'vitest';
import { REQUIRED_ROLE } from '../../src/admin/admin-route.js';
import { FreeSpinsAdminController } from '../../src/free-spins/free-spins.admin.controller.js';
import { WinningsAdminController } from '../../src/free-spins/winnings/winnings.admin.controller.js';
import { CALLER } from '../../src/api/caller.js';
import { SessionAdminController } from '../../src/session/session.controller.js';

/**
 * Contract, section 7: `promotions` grants and cancels free spins; `support` asks for a status and ends a session;
 * `auditor` reads.
 */
const ROLES = [
  [FreeSpinsAdminController, 'grant', 'promotions'],
  [FreeSpinsAdminController, 'grantBatch', 'promotions'],
  [FreeSpinsAdminController, 'preview', 'promotions'],
  [FreeSpinsAdminController, 'previewBatch', 'promotions'],
  [FreeSpinsAdminController, 'cancel', 'promotions'],
  [FreeSpinsAdminController, 'resend', 'promotions'],
  [FreeSpinsAdminController, 'cancelBatch', 'promotions'],
  [FreeSpinsAdminController, 'resendBatch', 'promotions'],
  [FreeSpinsAdminController, 'void', 'promotions'],
  [FreeSpinsAdminController, 'listBatches', 'auditor'],
  [FreeSpinsAdminController, 'list', 'auditor'],
  [FreeSpinsAdminController, 'find', 'auditor'],
  [FreeSpinsAdminController, 'findBatch', 'auditor'],
  [FreeSpinsAdminController, 'pullStatus', 'support'],
  [FreeSpinsAdminController, 'pullBatchStatus', 'support'],
  [FreeSpinsAdminController, 'batchFailures', 'auditor'],
  [WinningsAdminController, 'flagged', 'auditor'],
  [SessionAdminController, 'revoke', 'support'],
  [SessionAdminController, 'notify', 'support'],
  [SessionAdminController, 'list', 'auditor'],
] as const;

describe('the role that a route requires', () => {
  test.each(ROLES)('of %o %s is %s', (controller, name, role) => {
    const handler = (controller.prototype as unknown as Record<string, object>)[name] ?? {};
    expect([Reflect.getMetadata(REQUIRED_ROLE, handler), Reflect.getMetadata(CALLER, handler)]).toEqual([
      role,
      'unsigned',
    ]);
  });

  test('every route requires a role', () => {
    for (const controller of new Set(ROLES.map(([type]) => type))) {
      const named = ROLES.filter(([type]) => type === controller).map(([, name]) => name as string);
      const routes = new MetadataScanner().getAllMethodNames(controller.prototype);
      expect(routes.sort()).toEqual(named.sort());
    }
  });
});
