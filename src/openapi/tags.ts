import type { OpenAPIObject } from '@nestjs/swagger';
import type { Operation } from './operations.js';

/** The tags in the order in which pages show them. Each operation has one of them. */
export const TAGS = Object.entries({
  Sessions: 'Launch, verify, find and revoke the sessions in which players play.',
  Transactions: 'BET, WIN and ROLLBACK, the balance, and the history of each transaction.',
  Rounds: "The sums of a round's transactions, and open rounds.",
  Adjustments: "Corrections of a player's balance by support.",
  'Free spins': 'Grants to one player or to many, their remaining spins and their winnings.',
  Attention: 'Items that wait for a person: undecided transactions, failed grants, findings.',
  Reconciliation: "Compares an operator's statement with the platform's transactions.",
  Search: 'Finds everything with a given id.',
  Callbacks: 'Each call to a provider, with its request and answer.',
  Providers: 'The game providers that call Croupier, and their secrets.',
  Operators: 'The operators whose wallets Croupier calls, and their secrets.',
  Games: 'The games, and the provider of each.',
  'Limits and approvals': 'Limits on grants and adjustments, and approvals of those that exceed a limit.',
  Pauses: 'What is paused: its BETs and launches are refused.',
  'Live view': 'What happens now at all instances, as an overview and as a stream of events.',
  'Health scores': 'How well operators and providers answer.',
  Keys: "Administrators' keys and their roles.",
  'Audit log': 'Who did what, from where and when.',
  Monitoring: 'Health checks and metrics, for monitoring.',
}).map(([name, description]) => ({ name, description }));

export function withTags(document: OpenAPIObject): OpenAPIObject {
  return { ...document, tags: tagsOf({ ...document.paths, ...document.webhooks }) };
}

/** Lists the tags of operations only: a page would show an empty section for a tag that only webhooks have. */
export function withTagsOfOperations(document: OpenAPIObject): OpenAPIObject {
  return { ...document, tags: tagsOf(document.paths) };
}

function tagsOf(items: Readonly<Record<string, object>>) {
  const operations = Object.values(items).flatMap((item) => Object.values(item) as Operation[]);
  const used = new Set(operations.flatMap(({ tags }) => tags ?? []));
  return TAGS.filter(({ name }) => used.has(name));
}
