import type { Case } from '../outcome.js';
import { signatureCases, wrongSecret } from '../signature-cases.js';
import { SIGNATURE_RULES } from '../signature-rules.js';
import { expectRefused, type Target } from '../target.js';
import { transportCases } from '../transport-cases.js';
import { WALLET_ROUTES, type WalletCaller } from './caller.js';
import { BALANCE_ECHO_CASES, ECHO_CASES } from './cases/answers/echo-cases.js';
import { REASON_CASES } from './cases/answers/reason-cases.js';
import { REFERENCE_CASES } from './cases/answers/reference-cases.js';
import { CURRENCY_CASES, UNKNOWN_PLAYER_CASES } from './cases/bookings/account-cases.js';
import { ADJUSTMENT_CASES } from './cases/bookings/adjustment-cases.js';
import { AMOUNT_CASES } from './cases/bookings/amount-cases.js';
import { BALANCE_CASES, FRESH_BALANCE_CASES } from './cases/bookings/balance-cases.js';
import { BET_CASES } from './cases/bookings/bet-cases.js';
import { ROLLBACK_CASES } from './cases/bookings/rollback-cases.js';
import { TOMBSTONE_CASES } from './cases/bookings/tombstone-cases.js';
import { PRIZE_CASES, WIN_CASES } from './cases/bookings/win-cases.js';
import { CONCURRENCY_CASES } from './cases/load/concurrency-cases.js';
import { CONNECTION_CASES, IDLE_CASES } from './cases/load/connection-cases.js';
import { LATENCY_CASES } from './cases/load/latency-cases.js';
import { WALLET_TRANSPORT_CASES } from './cases/load/transport-cases.js';
import { IDEMPOTENCY_CASES } from './cases/repetitions/idempotency-cases.js';
import { IDENTIFIER_CASES } from './cases/repetitions/identifier-cases.js';
import { KNOWN_ID_CASES } from './cases/repetitions/known-id-cases.js';
import { FIRST_CASES, LATER_CASES } from './cases/repetitions/later-cases.js';
import { RESTART_CASES } from './cases/repetitions/restart-cases.js';
import type { WalletCase } from './cases/wallet-case.js';
import { expectApproved, expectMovement, fund } from './expectations.js';

/** The contract does not say with which status a wallet refuses a wrong signature, so any 4xx is accepted. */
const TARGET: Target<WalletCaller> = {
  calls: (caller) => caller.calls,
  probe: { route: WALLET_ROUTES.transaction, body: (caller) => caller.bet() },
  identifiers: '--player, --currency, --game-id and --provider-id',
  other: { route: WALLET_ROUTES.balance, body: (caller) => caller.balanceBody() },
  tampered: (body) => ({ ...body, amountMinor: Number(body['amountMinor']) + 1 }),
  refusal: { least: 400, most: 499 },
  isSentAgain: true,
};

const SIGNATURE_CASES: WalletCase[] = [
  {
    id: 'balance-secret-wrong',
    title: 'refuses a balance call that was signed with another secret',
    rule: SIGNATURE_RULES.refused,
    run: async (caller) => expectRefused(TARGET, await caller.askBalance({}, wrongSecret(caller.calls))),
  },
  {
    id: 'refused-call-books-nothing',
    title: 'does not book a call that it refuses, and does not use up its transactionId',
    rule: SIGNATURE_RULES.refused,
    run: async (caller) => {
      const bet = caller.bet();
      await expectMovement(caller, 0, () => caller.send(bet, wrongSecret(caller.calls)));
      await expectMovement(caller, -caller.stakeMinor, async () => expectApproved(await caller.decide(bet)));
    },
  },
];

/**
 * The shared cases about HTTP. Whether calls are answered in parallel is measured with balance calls, because a wallet books
 * the transactions of one player one after the other.
 */
const TRANSPORT_CASES = transportCases(TARGET).map((each) =>
  each.id === 'calls-in-parallel'
    ? { ...each, run: caseOf(transportCases({ ...TARGET, probe: TARGET.other }), each.id).run }
    : each,
);

/** Every case for an operator's wallet. Contract, sections 1 and 4. */
export const WALLET_CASES: readonly Case<WalletCaller>[] = [
  ...grouped('idempotency', FIRST_CASES),
  ...signatureCases(TARGET),
  ...grouped('signature', SIGNATURE_CASES),
  ...grouped('balance', [...BALANCE_CASES, ...BALANCE_ECHO_CASES]),
  ...grouped('echo', ECHO_CASES),
  ...grouped('bet', BET_CASES),
  ...grouped('win', [...WIN_CASES, ...PRIZE_CASES]),
  ...grouped('rollback', [...ROLLBACK_CASES, ...TOMBSTONE_CASES]),
  ...grouped('adjustment', ADJUSTMENT_CASES),
  ...grouped('amount', [...AMOUNT_CASES, ...FRESH_BALANCE_CASES]),
  ...grouped('account', [...UNKNOWN_PLAYER_CASES, ...CURRENCY_CASES]),
  ...grouped('idempotency', [...IDEMPOTENCY_CASES, ...KNOWN_ID_CASES]),
  ...grouped('identifier', IDENTIFIER_CASES),
  ...grouped('reason', REASON_CASES),
  ...grouped('reference', REFERENCE_CASES),
  ...grouped('concurrency', CONCURRENCY_CASES),
  ...grouped('transport', [...TRANSPORT_CASES, ...WALLET_TRANSPORT_CASES]),
  ...grouped('latency', LATENCY_CASES),
  ...grouped('connection', IDLE_CASES),
  ...grouped('later', LATER_CASES),
  ...grouped('restart', RESTART_CASES),
  ...grouped('connection', CONNECTION_CASES),
];

/** Adds the group to the cases, and tops up the player before each case, except in the group `balance`. */
function grouped(group: string, cases: readonly (WalletCase | Case<WalletCaller>)[]): Case<WalletCaller>[] {
  return cases.map(({ run, ...about }) => ({
    ...about,
    group,
    run: async (caller, measured, noted) => {
      if (group !== 'balance') await fund(caller);
      await run(caller, measured, noted);
    },
  }));
}

function caseOf(cases: readonly Case<WalletCaller>[], id: string): Case<WalletCaller> {
  const found = cases.find((each) => each.id === id);
  if (!found) throw new Error(`there is no case ${id}`);
  return found;
}
