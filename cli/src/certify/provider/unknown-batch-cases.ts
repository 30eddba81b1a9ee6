import { expectRefusal, expectRemaining, grantBatch, referenceTo } from './expectations.js';
import type { ProviderCase } from './provider-case.js';
import { RULES } from './rules.js';

type BatchCallback = 'status' | 'cancel';

/** Callbacks that name a batch also name its player and game: all three must match. */
export function ofAnotherPlayerOrGame(callback: BatchCallback, does: string): ProviderCase[] {
  const fields = { playerRef: 'player', gameId: 'game' } as const;
  return (['playerRef', 'gameId'] as const).map((field) => ({
    id: `${callback}-another-${fields[field]}`,
    title: `${does} under another ${field}`,
    rule: RULES.unknownBatch,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      const reply = await caller.call(callback, {
        ...referenceTo(batch),
        [field]: caller.calls.fresh(fields[field]),
      });
      expectRefusal(reply);
      await expectRemaining(caller, batch, batch.spins);
    },
  }));
}

/** References that only a lax look-up takes for the one of a batch. */
export function ofSimilarReference(callback: BatchCallback, does: string): ProviderCase {
  return {
    id: `${callback}-similar-reference`,
    title: `${does} under a reference that is only similar, hostile or of another type`,
    rule: RULES.unknownBatch,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      for (const externalRef of similarTo(batch.externalRef)) {
        const reply = await caller.call(callback, { ...referenceTo(batch), externalRef });
        expectRefusal(reply, `for the externalRef ${JSON.stringify(externalRef)}`);
      }
      await expectRemaining(caller, batch, batch.spins);
    },
  };
}

/** A call without each of its fields, and with no JSON. */
export function incomplete(callback: BatchCallback): ProviderCase {
  return {
    id: `${callback}-incomplete`,
    title: `refuses a ${callback} that lacks a field, or whose body is not a JSON object`,
    rule: RULES.invalid,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      for (const field of ['externalRef', 'playerRef', 'gameId']) {
        const reply = await caller.call(callback, { ...referenceTo(batch), [field]: undefined });
        expectRefusal(reply, `without ${field}`);
      }
      for (const body of ['{"externalRef":', '[]', ''])
        expectRefusal(await caller.call(callback, body), `for the body ${JSON.stringify(body)}`);
      await expectRemaining(caller, batch, batch.spins);
    },
  };
}

function similarTo(externalRef: string): unknown[] {
  const texts = [
    externalRef.toUpperCase(),
    externalRef.toLowerCase(),
    `${externalRef} `,
    ` ${externalRef}`,
    `${externalRef}x`,
    '',
    '%',
    '*',
    "' OR '1'='1",
    '__proto__',
    'constructor',
    'x'.repeat(1000),
  ];
  return [...texts.filter((each) => each !== externalRef), { $ne: '' }, null, 0];
}
