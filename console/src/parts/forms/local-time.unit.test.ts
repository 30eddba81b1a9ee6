import { expect, test } from 'vitest';
import { instantOf, LATEST, localOf } from './local-time.ts';

test.each(['2026-01-31T07:00:00', LATEST])(
  '%s is an instant, which a field shows as it was typed',
  (text) => {
    const instant = instantOf(text);
    expect(instant).toBe(new Date(text).toISOString());
    expect(localOf(instant ?? '')).toBe(text);
  },
);

test.each(['', 'tomorrow', '2026-13-31T07:00', '202611-01-31T07:00', '275760-12-31T07:00'])(
  '"%s" is no instant that the API takes',
  (text) => {
    expect(instantOf(text)).toBeUndefined();
  },
);

test.each(['', 'yesterday', '+010000-01-31T06:00:00Z', '+275760-09-13T00:00:00Z'])(
  'a field shows nothing for the instant "%s" of an address',
  (instant) => {
    expect(localOf(instant)).toBe('');
  },
);
