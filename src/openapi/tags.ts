import type { OpenAPIObject } from '@nestjs/swagger';
import type { Operation } from './operations.js';

/** The tags in the order in which pages show them. Each operation has one of them. */
export const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Sessions', description: 'Launch, verify, find and revoke the sessions in which players play.' },
  {
    name: 'Transactions',
    description: 'BET, WIN and ROLLBACK, the balance, and the history of each transaction.',
  },
  { name: 'Rounds', description: "The sums of a round's transactions, and open rounds." },
  { name: 'Adjustments', description: "Corrections of a player's balance by support." },
  {
    name: 'Free spins',
    description: 'Grants to one player or to many, their remaining spins and their winnings.',
  },
  {
    name: 'Attention',
    description: 'Items that wait for a person: undecided transactions, failed grants, findings.',
  },
  { name: 'Search', description: 'Finds everything with a given id.' },
  { name: 'Callbacks', description: 'Each call to a provider, with its request and answer.' },
  { name: 'Providers', description: 'The game providers that call Croupier, and their secrets.' },
  { name: 'Operators', description: 'The operators whose wallets Croupier calls, and their secrets.' },
  { name: 'Games', description: 'The games, and the provider of each.' },
  {
    name: 'Limits and approvals',
    description: 'Limits on grants and adjustments, and approvals of those that exceed a limit.',
  },
  { name: 'Health scores', description: 'How well operators and providers answer.' },
  { name: 'Keys', description: "Administrators' keys and their roles." },
  { name: 'Audit log', description: 'Who did what, from where and when.' },
  { name: 'Monitoring', description: 'Health checks and metrics, for monitoring.' },
];

/** Adds the list of the tags that operations or webhooks of the document have. */
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
