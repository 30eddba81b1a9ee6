import { expect, test, vi } from 'vitest';
import { Changes } from '../../src/live/changes.js';

test('a reading that fails loses nothing: the next one has its events', async () => {
  const events = [{ eventNo: 8, item: { id: 'item' } }];
  const changedItems = vi.fn((after: number, seen: readonly number[]) =>
    Promise.resolve(events.filter(({ eventNo }) => eventNo > after && !seen.includes(eventNo))),
  );
  const attention = { latestEvent: vi.fn().mockResolvedValue(7), changedItems };
  const states = vi.fn().mockResolvedValue([]);
  const items = vi.fn().mockResolvedValue([{ approvalId: 'approval' }]);
  const running = vi.fn().mockResolvedValue([]);
  const changes = new Changes(attention as never, { states, items } as never, { running } as never);

  running.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  expect(changes.begun).toBe(false);
  changedItems.mockResolvedValueOnce([]);
  expect(await changes.read()).toEqual([]);

  states.mockResolvedValue([{ approvalId: 'approval', state: 'WAITING' }]);
  running.mockResolvedValue([{ batch: { batchId: 'batch' }, running: false }]);
  items.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  running.mockRejectedValueOnce(new Error('away'));
  await expect(changes.read()).rejects.toThrow('away');
  running.mockResolvedValueOnce([{ batch: { batchId: 'batch' }, running: true }]);
  expect(await changes.read()).toEqual([
    { event: 'attention', data: { id: 'item' } },
    { event: 'approval', data: { approvalId: 'approval' } },
    { event: 'batch', data: { batchId: 'batch' } },
  ]);
});
