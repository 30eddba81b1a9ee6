import { expect, test } from 'vitest';
import { optionsOf } from '../src/certify/certification.js';
import { type Run, verdict } from '../src/certify/reports/run.js';

const DEFINITIONS = {
  url: { type: 'string' },
  list: { type: 'boolean', default: false },
  currency: { type: 'string', default: 'EUR' },
  'timeout-ms': { type: 'string', default: '5000' },
  'slow-ms': { type: 'string', default: '500' },
  'patience-seconds': { type: 'string', default: '5' },
  calls: { type: 'string', default: '500' },
};
const DEFAULTS = {
  currency: 'EUR',
  'timeout-ms': '5000',
  'slow-ms': '500',
  'patience-seconds': '5',
  calls: '500',
};

test.each<[string, Record<string, string>, string[]]>([
  ['the defaults', {}, []],
  ['a longer time-out', { 'timeout-ms': '60000' }, ['timeout-ms']],
  ['shorter pauses', { 'slow-ms': '0', 'patience-seconds': '0' }, ['slow-ms', 'patience-seconds']],
  ['fewer calls', { calls: '1' }, ['calls']],
  [
    'a shorter time-out, longer pauses and more calls',
    { 'timeout-ms': '1000', 'slow-ms': '900', calls: '501' },
    [],
  ],
  ['another currency', { currency: 'USD' }, []],
])('a certificate has the options, and names those that test less: %s', (_, changed, weakenedOptions) => {
  const values = { ...DEFAULTS, url: 'http://127.0.0.1', list: false, ...changed };
  expect(optionsOf(DEFINITIONS, values)).toEqual({ options: { ...DEFAULTS, ...changed }, weakenedOptions });
});

const RUN: Run = {
  certification: 'certify',
  subject: 'Provider server',
  version: '1.0.0',
  tenantId: 'spinwell',
  address: { name: 'webhookBaseUrl', url: 'http://127.0.0.1' },
  startedAt: '2026-01-01T00:00:00.000Z',
  complete: true,
  results: [{ id: 'a', title: 'a', group: 'a', rule: 'A.', outcome: { kind: 'passed' }, durationMs: 1 }],
};

test('the verdict names the options that test less than their defaults', () => {
  const options = { ...DEFAULTS, 'timeout-ms': '60000', calls: '1' };
  expect(verdict({ ...RUN, options, weakenedOptions: ['timeout-ms', 'calls'] })).toBe(
    'The integration is certified. Options that test less than their defaults: --timeout-ms 60000, --calls 1.',
  );
  expect(verdict({ ...RUN, options, weakenedOptions: [] })).toBe('The integration is certified.');
});
