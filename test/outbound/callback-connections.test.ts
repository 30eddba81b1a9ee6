import { expect, test } from 'vitest';
import { Tool } from '../free-spins/tool.js';
import { useWorld } from '../world/world.js';

const world = useWorld();

test('a callback has a connection of its own, so that its answer cannot be that to another', async () => {
  const { provider } = world;
  const tool = new Tool(world);
  // On a connection that carried two callbacks, the second would be answered with the answer to the first.
  provider.otherwise(() => ({ do: 'book-then', then: { do: 'reply-twice' } }));
  const grant = async (spins: number) => {
    const { requestRef, externalRef } = await tool.granted({ spins });
    expect(externalRef).toBe(`batch-of-${requestRef}`);
    const { json } = await tool.act(requestRef, 'status');
    expect(json).toMatchObject({ requestRef, remainingSpins: spins });
  };
  for (const spins of [1, 2, 3]) await grant(spins);
  await Promise.all([4, 5, 6].map(grant));
  expect(provider.received).toHaveLength(12);
  expect(provider.connections).toBe(12);
});
