import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isoText } from '../../src/runtime/instant.js';

const instant = fc.date({ min: new Date('-010000-01-01T00:00:00Z'), noInvalidDate: true });

test('an instant is told as toISOString tells it, whatever was told before', () => {
  fc.assert(
    fc.property(fc.array(instant), fc.nat(2_000), (instants, stepMs) => {
      for (const each of instants) {
        const neighbour = new Date(each.getTime() - stepMs);
        expect([isoText(each), isoText(neighbour)]).toEqual([each.toISOString(), neighbour.toISOString()]);
      }
    }),
  );
});
