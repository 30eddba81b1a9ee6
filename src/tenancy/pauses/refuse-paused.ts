import { CroupierError } from '../../errors/croupier-error.js';
import { addLogFields } from '../../observability/trace.js';
import { nounOf } from '../tenant.js';
import type { Pause, PausedKind } from './pause.entity.js';

/** The operator, provider and game that a BET or launch concerns. */
export interface BetParties {
  readonly operatorId: string;
  readonly providerId: string;
  readonly gameId: string;
}

/**
 * The pauses that refuse a BET (`refuse-paused` in wallet/rules/attempt.ts) or a launch, and their error. Of several
 * pauses, the first one refuses. Replays, WINs, ROLLBACKs and balance requests continue. An administrator sets a pause
 * at `/v1/admin/games/{gameId}/pause` and the like, with `PausesService`. Contract, section 9, "Health and pauses".
 */
const REFUSING = [
  { kind: 'GAME', id: 'gameId', code: 'GAME_NOT_CONFIGURED' },
  { kind: 'PROVIDER', id: 'providerId', code: 'GAME_NOT_CONFIGURED' },
  { kind: 'OPERATOR', id: 'operatorId', code: 'OPERATOR_NOT_CONFIGURED' },
] as const satisfies readonly { kind: PausedKind; id: keyof BetParties; code: string }[];

/** @param find returns the pause of a game, provider or operator, if it is in force */
export function pauseOfBets(
  parties: BetParties,
  find: (kind: PausedKind, id: string) => Pause | undefined,
): Pause | undefined {
  for (const { kind, id } of REFUSING) {
    const pause = find(kind, parties[id]);
    if (pause) return pause;
  }
  return undefined;
}

/** Creates the error for a BET or launch that a pause refuses, and adds the pause to the request's log lines. */
export function pausedError(
  { kind, id, reason, until }: Pick<Pause, 'kind' | 'id' | 'reason' | 'until'>,
  now: Date,
): CroupierError {
  const noun = nounOf(kind);
  addLogFields({ paused: `${noun}:${id}`, pauseReason: reason });
  const { code } = REFUSING.find((refusing) => refusing.kind === kind)!;
  const leftMs = until && until.getTime() - now.getTime();
  const headers = leftMs === null ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(leftMs / 1000))) };
  return new CroupierError(code, `the ${noun} is paused`, headers);
}
