import type { Case } from '../outcome.js';
import { signatureCases, wrongSecret } from '../signature-cases.js';
import { expectRefused, type Target } from '../target.js';
import { transportCases } from '../transport-cases.js';
import { WALLET_ROUTES, type WalletCaller } from './caller.js';
import { CONCURRENCY_CASES } from './concurrency-cases.js';
import { CONNECTION_CASES } from './connection-cases.js';
import { BALANCE_ECHO_CASES, ECHO_CASES } from './echo-cases.js';
import { expectApproved, fund, expectMovement } from './expectations.js';
import { IDEMPOTENCY_CASES } from './idempotency-cases.js';
import { LATENCY_CASES } from './latency-cases.js';
import { REFERENCE_CASES } from './reference-cases.js';
import { ROLLBACK_CASES } from './rollback-cases.js';
import { ADJUSTMENT_CASES, BALANCE_CASES, BET_CASES, WIN_CASES } from './transaction-cases.js';
import type { WalletCase } from './wallet-case.js';

/** The contract does not say with which status a wallet refuses a wrong signature, so any 4xx is accepted. */
const TARGET: Target<WalletCaller> = {
  calls: (caller) => caller.calls,
  probe: { route: WALLET_ROUTES.transaction, body: (caller) => caller.bet() },
  other: { route: WALLET_ROUTES.balance, body: (caller) => caller.balanceBody() },
  tampered: (body) => ({ ...body, amountMinor: Number(body['amountMinor']) + 1 }),
  refusal: { least: 400, most: 499 },
};

const SIGNATURE_CASES: WalletCase[] = [
  {
    id: 'balance-secret-wrong',
    title: 'refuses a balance call that was signed with another secret',
    run: async (caller) => expectRefused(TARGET, await caller.askBalance({}, wrongSecret(caller.calls))),
  },
  {
    id: 'refused-call-books-nothing',
    title: 'does not book a call that it refuses, and does not use up its transactionId',
    run: async (caller) => {
      const bet = caller.bet();
      await expectMovement(caller, 0, () => caller.send(bet, wrongSecret(caller.calls)));
      await expectMovement(caller, -caller.stakeMinor, async () => expectApproved(await caller.decide(bet)));
    },
  },
];

/** Every case for an operator's wallet. Contract, sections 1 and 4. */
export const WALLET_CASES: readonly Case<WalletCaller>[] = [
  ...signatureCases(TARGET),
  ...grouped('signature', SIGNATURE_CASES),
  ...grouped('balance', [...BALANCE_CASES, ...BALANCE_ECHO_CASES]),
  ...grouped('echo', ECHO_CASES),
  ...grouped('bet', BET_CASES),
  ...grouped('win', WIN_CASES),
  ...grouped('rollback', ROLLBACK_CASES),
  ...grouped('adjustment', ADJUSTMENT_CASES),
  ...grouped('idempotency', IDEMPOTENCY_CASES),
  ...grouped('reference', REFERENCE_CASES),
  ...grouped('concurrency', CONCURRENCY_CASES),
  ...grouped('transport', transportCases(TARGET)),
  ...grouped('latency', LATENCY_CASES),
  ...grouped('connection', CONNECTION_CASES),
];

/** Adds the group to the cases, and tops up the player before each case, except in the group `balance`. */
function grouped(group: string, cases: readonly WalletCase[]): Case<WalletCaller>[] {
  return cases.map(({ run, ...about }) => ({
    ...about,
    group,
    run: async (caller, measured) => {
      if (group !== 'balance') await fund(caller);
      await run(caller, measured);
    },
  }));
}
