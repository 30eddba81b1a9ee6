import type { AnyComponent } from 'preact';
import { lazy } from 'preact-iso';
import type { Role } from './api/session.ts';
import { readSettings } from './api/sign-in.ts';
import { PageFailed } from './parts/frame/page-failed.tsx';
import type { NavigationLink } from './parts/frame/shell.tsx';
import { addressOf } from './parts/links/addresses.ts';
import { Loaded } from './parts/reading/loaded.tsx';
import { useResource } from './parts/reading/resource.ts';
import * as words from './strings.ts';

/**
 * A page: its address with `:parameters`, and its module, which is loaded when the page is first opened and whose default
 * export is the page's component.
 */
export interface PageRoute {
  readonly path: string;
  readonly component: AnyComponent;
  /** Its link in the navigation, in the order of this list; a page without one is reached from other pages. */
  readonly link?: NavigationLink;
}

type Load = () => Promise<{ readonly default: AnyComponent }>;

interface LinkOptions {
  readonly title: string;
  /** The role that its reads need; `auditor` by default. */
  readonly role?: Role;
  readonly sandboxOnly?: boolean;
}

/** @param link for a page of the navigation; without it, other pages lead to it, as to that of one transaction */
function page(path: string, load: Load, link?: LinkOptions): PageRoute {
  const component = loaded(load);
  if (!link) return { path, component };
  const { title, role = 'auditor', sandboxOnly = false } = link;
  return { path, component, link: { title, address: path, role, sandboxOnly } };
}

/** `lazy` remembers a failed attempt, so another component takes the page's place then, and tries again. */
function loaded(load: Load): AnyComponent {
  return lazy(() => load().catch(() => ({ default: loadedAgain(load) })));
}

/**
 * A page whose module could not be loaded. It is tried again until the service answers. If it answers, but does not have
 * the module, it was upgraded: the page then offers to load the console again.
 */
function loadedAgain(load: Load): AnyComponent {
  const read = async () => {
    try {
      return (await load()).default;
    } catch {
      await readSettings();
      return PageFailed;
    }
  };
  return function LoadedAgain(props) {
    const module = useResource('module', read);
    const Page = module.data.value;
    return Page ? <Page {...props} /> : <Loaded of={module}>{() => null}</Loaded>;
  };
}

/** Every page. The links of the navigation have the order of this list. */
export const ROUTES: readonly PageRoute[] = [
  page(addressOf.overview, () => import('./pages/overview/overview.tsx'), words.overview),

  // What waits for a person.
  page('/console/attention', () => import('./pages/attention/attention.tsx'), words.attention),
  page('/console/attention/:id', () => import('./pages/attention/item.tsx')),

  // Transactions, rounds, players and their sessions.
  page('/console/transactions', () => import('./pages/transactions/transactions.tsx'), words.transactions),
  page(
    '/console/transactions/:providerId/:transactionId',
    () => import('./pages/transactions/transaction.tsx'),
  ),
  page('/console/rounds', () => import('./pages/rounds/rounds.tsx'), words.rounds),
  page('/console/rounds/:providerId/:roundId', () => import('./pages/rounds/round.tsx')),
  page('/console/players', () => import('./pages/players/players.tsx'), words.players),
  page('/console/players/:playerRef', () => import('./pages/players/player.tsx')),
  page('/console/sessions/:sessionId', () => import('./pages/sessions/session.tsx')),
  page('/console/callbacks/:callbackId', () => import('./pages/callbacks/callback.tsx')),

  // Free spins.
  page('/console/free-spins', () => import('./pages/free-spins/grants.tsx'), words.freeSpins),
  page('/console/free-spins/batches', () => import('./pages/free-spins/batches.tsx')),
  page('/console/free-spins/batches/:batchId', () => import('./pages/free-spins/batch.tsx')),
  page('/console/free-spins/:requestRef', () => import('./pages/free-spins/grant.tsx')),

  // Approvals.
  page('/console/approvals', () => import('./pages/approvals/approvals.tsx'), words.approvals),
  page('/console/approvals/:id', () => import('./pages/approvals/approval.tsx')),

  // Operators, providers and games.
  page('/console/operators', () => import('./pages/tenants/operators.tsx'), words.operators),
  page('/console/operators/:id', () => import('./pages/tenants/operators.tsx')),
  page('/console/providers', () => import('./pages/tenants/providers.tsx'), words.providers),
  page('/console/providers/:id', () => import('./pages/tenants/providers.tsx')),
  page('/console/games', () => import('./pages/games/games.tsx'), words.games),
  page('/console/games/:id', () => import('./pages/games/game.tsx')),

  // Limits.
  page('/console/limits', () => import('./pages/limits/limits.tsx'), words.limits),

  // Finance and oversight.
  page(
    '/console/reconciliation',
    () => import('./pages/reconciliation/reconciliations.tsx'),
    words.reconciliation,
  ),
  page('/console/reconciliation/:id', () => import('./pages/reconciliation/reconciliation.tsx')),
  page('/console/audit', () => import('./pages/audit/audit.tsx'), words.audit),

  // Only in the sandbox.
  page('/console/sandbox', () => import('./pages/sandbox/sandbox.tsx'), {
    ...words.sandbox,
    sandboxOnly: true,
  }),
];
