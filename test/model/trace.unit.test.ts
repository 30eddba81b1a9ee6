import { expect, test } from 'vitest';
import { traceIn } from '../../model/trace.js';

test('a trace has the sentences of the model, and the violated invariant', () => {
  const output = [
    'using statement merging',
    '      @ instance 1 receives BET from the provider and decides BOOK',
    '  @ the resolver of instance 2 finds that WIN is due and decides RETRY',
    '      @! Two calls are under way.',
    'spin: trail ends after 12 steps',
  ].join('\n');
  expect(traceIn(output)).toEqual({
    steps: [
      'instance 1 receives BET from the provider and decides to let the wallet book it',
      'the resolver of instance 2 finds that WIN is due and decides to try it again',
    ],
    violated: 'Two calls are under way.',
  });
});

test('a cycle violates no invariant, and its beginning is marked', () => {
  const output = '@ instance 1 crashes\n  <<<<<START OF CYCLE>>>>>\n@ instance 1 crashes\n';
  const { steps, violated } = traceIn(output);
  expect(steps).toEqual([
    'instance 1 crashes',
    '(The steps from here on repeat for ever.)',
    'instance 1 crashes',
  ]);
  expect(violated).toBeUndefined();
});
