import { describe, expect, test } from 'vitest';
import { nodeWarning, SUPPORTED_LINES } from '../../src/runtime/node-version.js';

const NOW = new Date('2026-11-25T12:00:00Z');

describe('the version of Node in production', () => {
  test('the supported lines are 22, 24 and 26', () => {
    expect(SUPPORTED_LINES.map(({ major }) => major)).toEqual([22, 24, 26]);
  });

  test.each(['22.23.2', '22.24.0', '24.18.1', '24.21.0', '26.5.1', '26.10.0', '26.11.0-nightly20261101abc'])(
    '%s needs no warning',
    (version) => {
      expect(nodeWarning(version, NOW)).toBeUndefined();
    },
  );

  test.each([
    ['20.20.2', 'Node 20 (20.20.2)'],
    ['18.20.8', 'Node 18 (18.20.8)'],
    ['23.11.1', 'Node 23 (23.11.1)'],
    ['25.9.0', 'Node 25 (25.9.0)'],
    ['27.0.0', 'Node 27 (27.0.0)'],
  ])('%s is of a line without security fixes, which is named', (version, named) => {
    expect(nodeWarning(version, NOW)).toBe(
      `${named} is not a line that gets security fixes: run this service on Node 24`,
    );
  });

  test.each([
    ['22.23.1', '22.23.2'],
    ['22.9.99', '22.23.2'],
    ['24.17.0', '24.18.1'],
    ['24.18.0', '24.18.1'],
    ['26.5.0', '26.5.1'],
  ])('%s lacks the fixes of %s', (version, patched) => {
    const major = version.slice(0, 2);
    expect(nodeWarning(version, NOW)).toBe(
      `Node ${major} (${version}) lacks known security fixes: update it to ${patched} or a newer ${major}`,
    );
  });

  test('a line is supported until its last day', () => {
    expect(nodeWarning('22.99.0', new Date('2027-04-30T12:00:00Z'))).toBeUndefined();
    expect(nodeWarning('22.99.0', new Date('2027-05-01T00:00:00Z'))).toContain(
      'Node 22 (22.99.0) is not a line',
    );
  });
});
