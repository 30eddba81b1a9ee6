/**
 * A provider that books a round with generated code only. generated.long.test.ts generates the two modules beside this
 * file, compiles the three and runs them. The project itself compiles nothing of this folder.
 */
import { createHmac, randomUUID } from 'node:crypto';
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from './client.js';
import {
  zBalanceResponse,
  zCreateProviderRequest,
  zTransactionRequest,
  zTransactionResponse,
  zVerifySessionResponse,
} from './zod.gen.js';

type BetRequest = components['schemas']['BetRequest'];
type TransactionRequest = components['schemas']['TransactionRequest'];
type TransactionResponse = components['schemas']['TransactionResponse'];

export interface Provider {
  readonly url: string;
  readonly tenantId: string;
  readonly secret: string;
  readonly unixSeconds: () => number;
}

/** The signature is a security scheme, so that no call has it as a parameter. */
const signing = ({ tenantId, secret, unixSeconds }: Provider): Middleware => ({
  async onRequest({ request }) {
    const { pathname, search } = new URL(request.url);
    const timestamp = String(Math.floor(unixSeconds()));
    const nonce = randomUUID();
    const signed = [request.method, pathname + search, timestamp, nonce, await request.clone().text()].join(
      '\n',
    );
    request.headers.set('X-Tenant-ID', tenantId);
    request.headers.set('X-Timestamp', timestamp);
    request.headers.set('X-Nonce', nonce);
    request.headers.set('X-Signature', createHmac('sha256', secret).update(signed).digest('hex'));
    return request;
  },
});

/** Verifies a session and books a BET and the WIN of its round. */
export async function playRound(provider: Provider, sessionToken: string) {
  const client = createClient<paths>({ baseUrl: provider.url });
  client.use(signing(provider));

  const verified = await client.POST('/v1/wallet/session/verify', { body: { sessionToken } });
  if (!verified.data) throw new Error(JSON.stringify(verified.error));
  zVerifySessionResponse.parse(verified.data);
  const { playerRef, gameId, currency } = verified.data;

  const round = { sessionToken, playerRef, gameId, currency, roundId: `round-${randomUUID()}` };
  const submit = async (body: TransactionRequest): Promise<TransactionResponse> => {
    zTransactionRequest.parse(body);
    const answer = await client.POST('/v1/wallet/transaction', { body });
    if (!answer.data) throw new Error(JSON.stringify(answer.error));
    zTransactionResponse.parse(answer.data);
    return answer.data;
  };
  const bet = await submit({ ...round, kind: 'BET', transactionId: randomUUID(), amountMinor: 250 });
  const win = await submit({
    ...round,
    kind: 'WIN',
    transactionId: randomUUID(),
    amountMinor: 3_000_000_000,
    roundClosed: true,
  });

  const balance = await client.POST('/v1/wallet/balance', { body: { sessionToken } });
  if (!balance.data) throw new Error(JSON.stringify(balance.error));
  zBalanceResponse.parse(balance.data);
  return { verified: verified.data, bet, win, balance: balance.data };
}

const BET: BetRequest = {
  kind: 'BET',
  sessionToken: 'token',
  transactionId: 'bet-1001',
  playerRef: 'player-42',
  gameId: 'sandbox-slots',
  currency: 'EUR',
  amountMinor: 250,
  roundId: 'round-7',
};

/** Does not compile without its errors: the types know the fields of each kind. */
export const MISTAKES: readonly TransactionRequest[] = [
  // @ts-expect-error -- an amount is a number
  { ...BET, amountMinor: 'lots' },
  // @ts-expect-error -- a BET has an amount
  { ...BET, amountMinor: undefined },
  // @ts-expect-error -- a BET's amount is never null
  { ...BET, amountMinor: null },
  // @ts-expect-error -- a ROLLBACK names the transaction that it reverses
  { ...BET, kind: 'ROLLBACK' },
  // @ts-expect-error -- an ADJUSTMENT is not for providers
  { ...BET, kind: 'ADJUSTMENT' },
];

const PROVIDER = { id: 'acme', name: 'Acme Games', webhookBaseUrl: 'https://rgs.acme.example' };

/** What the generated validators say of values that they must accept, and of others. */
export const verdicts = () => ({
  accepted: [
    BET,
    { ...BET, amountMinor: 2 ** 53 - 1 },
    { ...BET, kind: 'ROLLBACK', originalTransactionId: 'bet-1' },
  ]
    .map((body) => zTransactionRequest.safeParse(body).success)
    .concat(
      [PROVIDER, { ...PROVIDER, name: 'Zoë & Söhne 😀' }].map(
        (body) => zCreateProviderRequest.safeParse(body).success,
      ),
    ),
  refused: [...MISTAKES, { ...BET, amountMinor: -1 }, { ...BET, roundId: 'a b' }, { ...BET, currency: 'eur' }]
    .map((body) => zTransactionRequest.safeParse(body).success)
    .concat(zCreateProviderRequest.safeParse({ ...PROVIDER, name: 'a\nb' }).success),
});
