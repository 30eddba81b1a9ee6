import { type ArgumentsHost, Logger } from '@nestjs/common';
import type { ServerResponse } from 'node:http';
import { expect, test, vi } from 'vitest';
import { isCutOff } from '../../../src/api/cut-off.js';
import { ErrorFilter } from '../../../src/server/error.filter.js';

test('an error after the answer has begun is logged, and the answer is cut off', () => {
  const log = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
  const destroy = vi.fn();
  const response = { headersSent: true, destroy } as unknown as ServerResponse;
  const host = { switchToHttp: () => ({ getResponse: () => response }) } as ArgumentsHost;
  const failure = new Error('late');
  new ErrorFilter().catch(failure, host);
  expect(log.mock.calls).toEqual([[failure]]);
  expect(destroy).toHaveBeenCalledOnce();
  expect(isCutOff(response)).toBe(true);
});
