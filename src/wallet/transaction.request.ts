import { IsNotIn, Matches, ValidateBy } from 'class-validator';
import {
  BooleanField,
  ChoiceField,
  CurrencyField,
  field,
  IdentifierField,
  IntegerField,
  OwnIdentifierField,
} from '../api/validation/fields.js';
import { FREE_SPINS_REF_SCHEMA, FREE_SPINS_REF_WORDS } from '../api/validation/free-spins-ref.js';
import { DIFFERS_WHERE } from '../api/validation/schema-extensions.js';
import { EXAMPLE_TOKEN } from '../openapi/examples.js';
import { TokenField } from '../session/session.request.js';
import type { Kind, WinKind } from './rules/facts.js';
import { FREE_SPINS_REF } from './rules/free-spins-ref.js';
import { WIN_KINDS } from './rules/win-kind.js';

const KINDS = ['BET', 'WIN', 'ROLLBACK'] as const satisfies readonly Kind[];

const FreeSpinsRefField = () =>
  field(
    FREE_SPINS_REF_SCHEMA,
    {
      presence: 'nullable',
      example: 'batch-77',
      description: `For a WIN of free spins: the externalRef of their grant, ${FREE_SPINS_REF_WORDS}`,
    },
    Matches(FREE_SPINS_REF, { message: `$property must be ${FREE_SPINS_REF_WORDS}` }),
  );

/** The schemas of a BET and a ROLLBACK do not have the field. */
const ofAWin = { [DIFFERS_WHERE]: { BET: false, ROLLBACK: false } } as const;

/** A condition on a field that depends on the rest of the request. The decorator that is last in the code is checked first. */
const Fits = (fits: (request: TransactionRequest) => boolean, words: string) =>
  ValidateBy({
    name: 'fits',
    validator: {
      validate: (_, args) => fits(args!.object as TransactionRequest),
      defaultMessage: () => `$property ${words}`,
    },
  });
const FitsWin = () => Fits(({ kind }) => kind === 'WIN', 'is for a WIN only');
const FitsFreeSpins = () =>
  Fits(
    ({ winKind, freeSpinsRef }) => winKind !== (freeSpinsRef === undefined ? 'FREE_SPINS' : 'GAME'),
    'FREE_SPINS needs a freeSpinsRef, and GAME has none',
  );

/** A provider's transaction request. Contract, section 3, "Transaction request". */
export class TransactionRequest {
  @TokenField()
  sessionToken: string;

  @OwnIdentifierField({
    example: 'bet-1001',
    description: "The provider's id of the transaction; never use it for another one",
  })
  transactionId: string;

  @ChoiceField(KINDS, { description: 'What moves the money' })
  @IsNotIn(['ADJUSTMENT'], { context: { code: 'KIND_NOT_ACCEPTED' } })
  kind: Kind;

  @IdentifierField({ example: 'player-42' })
  playerRef: string;

  @IdentifierField({ example: 'sandbox-slots' })
  gameId: string;

  @CurrencyField()
  currency: string;

  @IntegerField({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    presence: { requiredWhere: 'kind', is: ['BET', 'WIN'] },
    example: 250,
    description: "Minor units. Only a ROLLBACK may leave it out; if sent, it must equal the original's.",
  })
  amountMinor?: number;

  @IdentifierField({ example: 'round-7' })
  roundId: string;

  @BooleanField({ presence: 'nullable', description: 'Recorded and forwarded, never a reason to refuse' })
  roundClosed?: boolean;

  @IdentifierField({
    presence: { requiredWhere: 'kind', is: ['ROLLBACK'] },
    example: 'bet-1001',
    description: 'Required for a ROLLBACK',
  })
  originalTransactionId?: string;

  @FreeSpinsRefField()
  freeSpinsRef?: string;

  @ChoiceField(WIN_KINDS, {
    presence: 'nullable',
    example: 'JACKPOT',
    description:
      'Why a WIN is paid, for a WIN only: by default `FREE_SPINS` with a freeSpinsRef, else `GAME`. `FREE_SPINS` needs a ' +
      'freeSpinsRef, and `GAME` has none. A `JACKPOT`, `PROMOTION` or `TOURNAMENT` needs no BET',
    ...ofAWin,
  })
  @FitsFreeSpins()
  @FitsWin()
  winKind?: WinKind;

  @IdentifierField({
    presence: 'nullable',
    example: 'summer-race-3',
    description: 'Your identifier of the promotion in which a WIN was won, for a WIN only',
    ...ofAWin,
  })
  @FitsWin()
  promotionRef?: string;
}

const ROUND = {
  sessionToken: EXAMPLE_TOKEN,
  playerRef: 'player-42',
  gameId: 'sandbox-slots',
  currency: 'EUR',
};

export const TRANSACTION_REQUESTS = {
  BET: {
    value: { ...ROUND, transactionId: 'bet-1001', kind: 'BET', amountMinor: 250, roundId: 'round-7' },
  },
  WIN: {
    value: {
      ...ROUND,
      transactionId: 'win-1001',
      kind: 'WIN',
      amountMinor: 500,
      roundId: 'round-7',
      roundClosed: true,
    },
  },
  JACKPOT: {
    value: {
      ...ROUND,
      transactionId: 'jackpot-1001',
      kind: 'WIN',
      amountMinor: 250000,
      roundId: 'round-7',
      winKind: 'JACKPOT',
      promotionRef: 'mega-jackpot',
    },
  },
  ROLLBACK: {
    value: {
      ...ROUND,
      transactionId: 'undo-1001',
      kind: 'ROLLBACK',
      originalTransactionId: 'bet-1001',
      roundId: 'round-7',
    },
  },
};
