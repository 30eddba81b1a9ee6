import { Injectable } from '@nestjs/common';
import { isIdentifier } from '../../api/validation/identifier.js';
import type { TransactionKey } from '../../wallet/transaction.js';
import type { TransactionDetail } from './transaction.admin.response.js';
import { TransactionSearchStore, type WholeRow } from './transaction-search.store.js';
import { detailOf } from './transaction-story.js';

/** Reads everything that is known about one transaction. Contract, sections 7 and 9. */
@Injectable()
export class TransactionDetails {
  constructor(private readonly transactions: TransactionSearchStore) {}

  /** The details of a transaction; undefined if no transaction has this key. */
  async find({ providerId, transactionId }: TransactionKey): Promise<TransactionDetail | undefined> {
    const known = isIdentifier(providerId) && isIdentifier(transactionId);
    const row = known ? await this.transactions.find(providerId, transactionId) : undefined;
    if (!row) return undefined;
    const rollbacks = await this.transactions.rollbacksOf(row);
    const [whole, ...others] = await this.withOperatorBodies(row, rollbacks);
    return detailOf(whole, others);
  }

  /**
   * Adds the stored bodies of the operator's answers to the attempts of a transaction and its ROLLBACKs. All of these
   * transactions have the same provider.
   */
  private async withOperatorBodies(
    row: WholeRow,
    rollbacks: readonly WholeRow[],
  ): Promise<[WholeRow, ...WholeRow[]]> {
    const rows: [WholeRow, ...WholeRow[]] = [row, ...rollbacks];
    const since = new Date(Math.min(...rows.map(({ createdAt }) => createdAt.getTime())));
    const ids = rows.map(({ transactionId }) => transactionId);
    const answers = await this.transactions.operatorAnswers(row.providerId, ids, since);
    const bodyOf = ({ transactionId }: WholeRow, attempt: number) =>
      answers.find((answer) => answer.transactionId === transactionId && answer.attempt === attempt)?.body;
    const withBodies = (each: WholeRow): WholeRow => ({
      ...each,
      attempts: each.attempts.map((attempt) => {
        const operatorBody = bodyOf(each, attempt.attempt);
        return operatorBody === undefined ? attempt : { ...attempt, operatorBody };
      }),
    });
    return [withBodies(row), ...rollbacks.map(withBodies)];
  }
}
