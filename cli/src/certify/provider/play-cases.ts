import { Unmet } from '../outcome.js';
import { describeReply } from '../../reply.js';
import { expectRemaining, grantBatch, playSpin, referenceTo } from './expectations.js';
import { AT_ONCE, atOnce, type ProviderCase, withoutPlay } from './provider-case.js';
import { RULES } from './rules.js';

export const PLAY_CASES: ProviderCase[] = [
  {
    id: 'play-after-last-spin',
    title: 'plays no spin after the last one',
    rule: RULES.play,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller, { spins: 1 });
      await playSpin(caller, batch);
      const reply = await caller.play(referenceTo(batch));
      if (reply.status === 200) throw new Unmet('any status but 200 for a second spin', describeReply(reply));
      await expectRemaining(caller, batch, 0);
    },
  },
  {
    id: 'plays-at-once',
    title: `plays no more spins than it granted if ${AT_ONCE} are played at once`,
    rule: RULES.play,
    skipped: withoutPlay,
    run: async (caller) => {
      const batch = await grantBatch(caller);
      const replies = await atOnce(() => caller.play(referenceTo(batch)));
      const played = replies.filter(({ status }) => status === 200).length;
      if (played !== batch.spins) throw new Unmet(`${batch.spins} spins played`, String(played));
      await expectRemaining(caller, batch, 0);
    },
  },
];
