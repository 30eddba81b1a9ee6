import { expect, test } from 'vitest';
import { readConfiguration } from '../../src/config/configuration.js';
import { ServiceLogger } from '../../src/observability/logging.js';

test.each([
  ['info', ['Audit', 'AuditHead', 'Tenancy']],
  ['warn', ['Audit', 'AuditHead']],
  ['fatal', ['Audit', 'AuditHead']],
  ['silent', []],
])('with LOG_LEVEL=%s, the contexts %j write their info lines', (LOG_LEVEL, expected) => {
  const written: unknown[] = [];
  const write = (line: string) => void written.push((JSON.parse(line) as { context: unknown }).context);
  const logger = new ServiceLogger(readConfiguration({ SANDBOX: 'true', LOG_LEVEL }), { stream: { write } });
  for (const context of ['Audit', 'AuditHead', 'Tenancy']) logger.log({ msg: 'a line' }, context);
  expect(written).toEqual(expected);
});
