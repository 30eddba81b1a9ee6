import { setTimeout as sleep } from 'node:timers/promises';
import type { TransactionRequest } from '../../src/wallet/rules/facts.js';
import { Seeded } from '../seeded.js';
import { gameOf, OPERATORS, PROVIDERS } from '../world.js';
import type { Client } from './client.js';
import type { PlayerSession } from './history.js';
import type { Providers } from './provider.js';

const PLAYERS = 200;
const CURRENCY = 'EUR';
/** Interval at which paused rounds check whether the pause is over, in milliseconds. */
const PAUSE_CHECK_MS = 50;

/** Launches the sessions in which the rounds are played. */
export async function launchPlayers(client: Client): Promise<PlayerSession[]> {
  const sessions: PlayerSession[] = [];
  for (let number = 0; number < PLAYERS; number += 1) {
    const operatorId = OPERATORS[number % OPERATORS.length]!;
    const providerId = PROVIDERS[Math.floor(number / 2) % PROVIDERS.length]!;
    const player = { playerRef: `player-${number}`, gameId: gameOf(providerId), currency: CURRENCY };
    const reply = await client.atNext((instance) =>
      client.send(client.sign(operatorId, '/v1/operator/sessions', player), instance),
    );
    if (reply.status !== 201) throw new Error(`no session: ${reply.status} ${reply.text}`);
    const { sessionId, sessionToken } = JSON.parse(reply.text) as { sessionId: string; sessionToken: string };
    sessions.push({ providerId, operatorId, sessionId, sessionToken, ...player });
  }
  return sessions;
}

/** Plays concurrent rounds until it is stopped. */
export class Rounds {
  played = 0;
  private stopped = false;
  private paused = false;
  private underWay = 0;

  constructor(
    private readonly providers: Providers,
    private readonly sessions: readonly PlayerSession[],
    private readonly seed: number,
  ) {}

  async play(sideBySide: number): Promise<void> {
    const one = async () => {
      while (!this.stopped) {
        if (this.paused) {
          await sleep(PAUSE_CHECK_MS);
          continue;
        }
        this.underWay += 1;
        await this.round(this.played++).finally(() => (this.underWay -= 1));
      }
    };
    await Promise.all(Array.from({ length: sideBySide }, one));
  }

  stop(): void {
    this.stopped = true;
  }

  /** Begins no round until `goOn`, and waits until those under way have ended, but no longer than this. */
  async pause(patienceMs: number): Promise<void> {
    this.paused = true;
    const late = performance.now() + patienceMs;
    while (this.underWay > 0 && performance.now() < late) await sleep(PAUSE_CHECK_MS);
  }

  goOn(): void {
    this.paused = false;
  }

  /** One round of a player, in one of the shapes that providers send; the seed determines which. */
  private async round(number: number): Promise<void> {
    const random = new Seeded(this.seed, number + 1);
    const session = this.sessions[number % this.sessions.length]!;
    const { playerRef, gameId } = session;
    const roundId = `round-${number}`;
    const request = (
      kind: TransactionRequest['kind'],
      name: string,
      fields: Partial<TransactionRequest>,
    ) => ({
      transactionId: `${name}-${number}`,
      kind,
      playerRef,
      gameId,
      currency: CURRENCY,
      roundId,
      ...fields,
    });
    const bet = request('BET', 'bet', { amountMinor: 1 + random.below(50) });
    const second = request('BET', 'second-bet', { amountMinor: 1 + random.below(50) });
    const win = request('WIN', 'win', { amountMinor: random.below(100), roundClosed: true });
    const undoOf = ({ transactionId }: { transactionId: string }, name: string) =>
      request('ROLLBACK', name, { originalTransactionId: transactionId });
    const submit = (one: TransactionRequest) => this.providers.submit(session, one, random);

    switch (random.below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        if ((await submit(bet)) !== 'DECLINED') await submit(win);
        return;
      case 4:
        if ((await submit(bet)) === 'APPROVED') return;
        await submit(undoOf(bet, 'undo'));
        return;
      case 5:
        await Promise.all([submit(bet), submit(undoOf(bet, 'undo'))]);
        return;
      case 6:
        await submit(bet);
        await Promise.all([submit(win), submit(undoOf(bet, 'undo')), submit(undoOf(bet, 'undo-again'))]);
        return;
      case 7:
        await submit(win);
        if ((await submit(bet)) === 'unknown') await submit(undoOf(bet, 'undo'));
        return;
      case 8:
        await submit(undoOf(bet, 'undo'));
        await sleep(random.between(0, 200));
        await submit(bet);
        return;
      default:
        await Promise.all([submit(bet), submit(second)]);
        await Promise.all([submit(win), submit(undoOf(second, 'undo-second'))]);
    }
  }
}
