/** The language and the number formats of everything below. */
export const LOCALE = 'en-GB';

/* Each part and each page has a section. A sentence with values is a function of them. */

export const problems = {
  unreachable: 'The service does not answer. It may be restarting, or the network may be down.',
  notOurs: (status: number) => `The answer has the status ${status} and does not come from the service.`,
  retrying: 'The console tries again by itself.',
  request: (id: string) => `Request ${id}`,
  tryAgain: 'Try again',
  next: {
    'fix-request': 'The same request would be refused again: change what is asked for.',
    'retry-same-request': 'Try again: the same request is carried out at most once.',
    'wait-then-retry': 'Wait a moment, then try again.',
    'contact-platform': 'Ask the operations team.',
  } as Readonly<Record<string, string>>,
  pageFailed: 'This page cannot be shown. The service may have been upgraded since the console was opened.',
  reload: 'Reload the console',
};

export const signIn = {
  title: 'Sign in',
  lead: 'Croupier console',
  key: 'Admin key',
  keep: 'Stay signed in for this tab',
  keepHint:
    'Without it, the key is forgotten when the page is reloaded. It is always forgotten after 15 idle minutes.',
  submit: 'Sign in',
  missing: 'Enter an admin key.',
  idle: 'You were signed out, because nothing happened for 15 minutes.',
  refused: (sentence: string) => `You were signed out: ${sentence}.`,
  signedOut: 'You are signed out.',
};

export const shell = {
  product: 'Croupier',
  navigation: 'Pages',
  menu: 'Menu',
  skip: 'Skip to the content',
  signOut: 'Sign out',
  signedInAs: (name: string, role: string) => `${name} (${role})`,
  environment: { sandbox: 'Sandbox', production: 'Production' },
  version: (version: string) => `version ${version}`,
  connection: {
    connecting: 'Connecting …',
    live: 'Live',
    interrupted: 'Not live: connecting again …',
  },
  notFound: 'There is no such page',
  notFoundHint: 'The address may be cut off. The pages are in the navigation.',
  loading: 'Loading …',
  back: 'Back',
};

export const search = {
  label: 'Search any id',
  hint: 'The key / focuses this field.',
  none: (id: string) => `Nothing has the id ${id}. An id is searched for as a whole.`,
  several: (count: number) => `${count} hits`,
  close: 'Close the hits',
  type: {
    transaction: 'Transaction',
    round: 'Round',
    session: 'Session',
    player: 'Player',
    grant: 'Free spins',
    batch: 'Batch',
    approval: 'Approval',
    request: 'Request',
  } as Readonly<Record<string, string>>,
};

export const table = {
  empty: 'Nothing matches.',
  loading: 'Loading …',
  first: 'First page',
  next: 'Next page',
  csv: 'Download CSV',
  csvOf: (rows: number) => `Download CSV (${rows} rows)`,
  csvBusy: 'Downloading …',
  csvHint: 'All rows that the filter selects.',
};

export const filters = {
  legend: 'Filter',
  apply: 'Apply',
  clear: 'Clear',
  any: 'any',
  yes: 'yes',
  no: 'no',
};

export const action = {
  cancel: 'Cancel',
  dismiss: 'Dismiss',
  reason: 'Reason',
  needsRole: (role: string) => `Needs the role ${role}`,
  busy: 'Working …',
  done: (label: string) => `${label}: done.`,
  waitsForApproval: (label: string) =>
    `${label}: nothing has happened yet: this waits for the approval of a second person.`,
  openApproval: 'Open the approval',
};

export const json = {
  show: (name: string) => `Show ${name}`,
  empty: 'empty',
};

export const money = {
  minorUnits: (amount: string, currency: string) => `${amount} minor units of ${currency}`,
};

export const time = {
  utc: 'UTC',
  ago: (age: string) => `${age} ago`,
  left: (age: string) => `${age} left`,
};

export const overview = {
  title: 'Overview',
  readAt: 'As of',
  waiting: 'Waiting for a person',
  kind: 'Kind',
  count: 'Number',
  attentionOf: (kind: string) => `Attention: ${kind}`,
  approvals: 'Approvals',
  parked: 'Parked transactions',
  amounts: 'Amounts of the last hour',
  noAmounts: 'No approved BET or WIN in the last hour.',
  currency: 'Currency',
  bets: 'BETs',
  wins: 'WINs',
  pauses: 'Pauses',
  noPauses: 'Nothing is paused.',
  paused: 'Paused',
  kindOf: { GAME: 'Game', OPERATOR: 'Operator', PROVIDER: 'Provider' },
  reason: 'Reason',
  since: 'Since',
  left: 'Ends',
  untilResumed: 'when it is resumed',
  operators: 'Operators',
  providers: 'Providers',
  name: 'Name',
  state: 'State',
  stateOf: (state: string) => state,
  successRate: 'Success, 5 min',
  percent: (share: number) => `${(share * 100).toLocaleString(LOCALE, { maximumFractionDigits: 2 })} %`,
  p95: 'p95, 5 min',
  perMinute: 'Calls per min',
  undecided: 'Undecided',
  oldest: 'Oldest undecided',
  pause: 'Pause',
  instances: 'Instances',
  instance: 'Instance',
  version: 'Version',
  started: 'Started',
  ready: 'ready',
  notReady: 'not ready',
};

export const attention = {
  title: 'Attention',
};

export const transactions = {
  title: 'Transactions',
};

export const rounds = {
  title: 'Rounds',
};

export const players = {
  title: 'Players',
};

export const sessions = {
  title: 'Session',
};

export const freeSpins = {
  title: 'Free spins',
};

export const approvals = {
  title: 'Approvals',
};

export const operators = {
  title: 'Operators',
};

export const providers = {
  title: 'Providers',
};

export const games = {
  title: 'Games',
};

export const limits = {
  title: 'Limits',
};

export const reconciliation = {
  title: 'Reconciliation',
};

export const audit = {
  title: 'Audit',
};

export const sandbox = {
  title: 'Sandbox',
};
