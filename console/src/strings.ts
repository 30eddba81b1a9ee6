/** The language and the number formats of everything below. */
export const LOCALE = 'en-GB';

const number = (value: number) => value.toLocaleString(LOCALE);

/**
 * A number with what is counted, such as `1 hit` and `1,250 hits`.
 * @param many what follows any other number than 1; by default `one` with an s
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** A limit as its page calls it, from the name of its field in the API. */
export const limitName = (field: string) =>
  (limits.nameOf as Readonly<Record<string, string>>)[field] ?? field;

/* Each part and each page has a section. A sentence with values is a function of them. */

export const problems = {
  unreachable: 'The service does not answer. It may be restarting, or the network may be down.',
  notOurs: (status: number) => `The answer has the status ${status} and does not come from the service.`,
  retrying: 'The console tries again by itself.',
  request: (id: string) => `Request ${id}`,
  tryAgain: 'Try again',
  next: {
    'fix-request': 'The same request would be refused again: change what is asked for.',
    'retry-same-request': 'Try again. After an action, check first whether it was carried out.',
    'wait-then-retry': 'Wait a moment, then try again.',
    'contact-platform': 'Ask the operations team.',
  } as Readonly<Record<string, string>>,
  pageFailed: 'This page cannot be shown. The service was probably upgraded since the console was opened.',
  reload: 'Reload the console',
  partMissing:
    'A part of the console could not be loaded. Reload the page: the service may have been upgraded since it was opened.',
};

export const signIn = {
  title: 'Sign in',
  lead: 'Croupier console',
  key: 'Admin key',
  keep: 'Stay signed in for this tab',
  keepHint:
    'Without it, the key is forgotten when the page is reloaded. It is always forgotten after 15 idle minutes.',
  submit: 'Sign in',
  atIssuer: (host: string) => `Continue with ${host}`,
  issuerAway: 'The OpenID provider does not answer, or does not allow this page to call it.',
  issuerRefused: (reason: string) => `The OpenID provider did not sign you in: ${reason}`,
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
  signedInAs: (name: string, roles: string) => `${name} (${roles})`,
  environment: { sandbox: 'Sandbox', production: 'Production' },
  version: (version: string) => `version ${version}`,
  connection: {
    connecting: 'Connecting …',
    live: 'Live',
    interrupted: 'Not live: connecting again …',
  },
  outdated: 'Not updated while you edit',
  loseInput: 'Leave this page? What you entered was not sent, and will be lost.',
  notFound: 'There is no such page',
  notFoundHint: 'The address may be cut off. The pages are in the navigation.',
  loading: 'Loading …',
};

/** Headings of pages whose record does not exist. */
export const missing = {
  transaction: 'There is no such transaction',
  round: 'There is no such round',
  session: 'There is no such session',
  callback: 'There is no such callback',
  grant: 'There is no such grant',
  batch: 'There is no such batch',
  approval: 'There is no such approval',
  item: 'There is no such attention item',
  operator: 'There is no such operator',
  provider: 'There is no such provider',
  game: 'There is no such game',
  reconciliation: 'There is no such reconciliation',
  hint: 'The address may be cut off. Look in',
};

export const search = {
  label: 'Search any id',
  hint: 'The key / focuses this field.',
  none: (id: string) => `Nothing has the id ${id}. An id is searched for as a whole.`,
  several: (count: number) => counted(count, 'hit'),
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
    callback: 'Callback',
  } as Readonly<Record<string, string>>,
};

export const table = {
  empty: 'Nothing matches.',
  loading: 'Loading …',
  first: 'First page',
  next: 'Next page',
  csv: 'Download CSV',
  csvOf: (rows: number) => `Download CSV (${counted(rows, 'row')})`,
  csvCancel: (bytes: number) => `Cancel (${(bytes / 1e6).toFixed(1)} MB so far)`,
  csvHint: 'All rows that the filter selects.',
  refresh: 'Refresh',
  emptySoFar: 'Nothing matches so far.',
  partial: 'Only some of the records have been examined. The next page continues.',
  selectAll: 'Select all rows of this page',
};

export const views = {
  legend: 'Views',
};

export const filters = {
  legend: 'Filter',
  apply: 'Apply',
  clear: 'Clear',
  more: 'More filters',
  any: 'any',
  yes: 'yes',
  no: 'no',
};

export const action = {
  back: 'Back',
  dismiss: 'Dismiss',
  reason: 'Reason',
  needsRole: (role: string) => `Needs the role ${role}`,
  busy: 'Working …',
  slow: 'The service has not answered yet, and may still carry this out. If you go back, a notice will say how it ended.',
  underWay: 'The service has not answered yet.',
  outcomeUnknown: 'This may have been carried out: look before you repeat it.',
  done: (label: string) => `${label}: done.`,
  notDone: (label: string, problem: string) => `${label}: ${problem}`,
  waitsForApproval: (label: string) =>
    `${label}: nothing has happened yet: this waits for the approval of a second person.`,
  openApproval: 'Open the approval',
};

export const amount = {
  needsCurrency: 'Enter the currency of the amounts.',
  invalidCurrency: 'Enter a currency of three letters, such as EUR.',
  invalid: (currency: string) =>
    currency === '' ? 'Enter the currency first.' : `Enter an amount of ${currency}, with a decimal point.`,
};

export const adjustment = {
  label: 'Adjust the balance',
  incomplete: 'Enter the amount and the currency: the sentence then says what will happen.',
  credits: (amount: string, player: string, operator: string) =>
    `The operator ${operator} credits ${amount} to the player ${player}.`,
  debits: (amount: string, player: string, operator: string) =>
    `The operator ${operator} debits ${amount} from the player ${player}.`,
  approval: 'Above a limit, nothing happens until a second person approves it.',
  direction: 'Direction',
  credit: 'Credit the player',
  debit: 'Debit the player',
  amount: 'Amount',
  currency: 'Currency',
  adjustmentId: 'Adjustment id',
  adjustmentIdHint: 'An id is booked only once. After a failure, send the same id again.',
  unfinished: (id: string) =>
    `The outcome of the adjustment ${id} of this player is not known. Send it again, unchanged: it is booked only once.`,
  credited: (amount: string, balance: string) =>
    `The operator credited ${amount}. The balance is now ${balance}.`,
  debited: (amount: string, balance: string) =>
    `The operator debited ${amount}. The balance is now ${balance}.`,
  declined: (amount: string, reason: string) =>
    `The operator declined the adjustment of ${amount} (${reason}): no money moved.`,
};

export const json = {
  show: (name: string) => `Show ${name}`,
  empty: 'empty',
};

export const money = {
  minorUnits: (amount: string, currency: string) =>
    `${amount} minor ${amount === '1' ? 'unit' : 'units'} of ${currency}`,
  ofItsBet: "the BET's amount",
};

export const time = {
  utc: 'UTC',
  ago: (age: string) => `${age} ago`,
  left: (age: string) => `${age} left`,
  passed: 'passed',
  invalid: 'Enter a whole date and time, with a year of four digits.',
};

/** A share such as 0.9975 as `99.75 %`. */
function percent(share: number): string {
  return `${(share * 100).toLocaleString(LOCALE, { maximumFractionDigits: 2 })} %`;
}

export const overview = {
  title: 'Overview',
  readAt: 'As of',
  calm: 'Nothing is wrong now.',
  wasCalm: 'Nothing was wrong then. What is wrong now is not known: the console is not live.',
  alarms: (count: number) => counted(count, 'thing is wrong now', 'things are wrong now'),
  operator: 'Operator',
  provider: 'Provider',
  alarmOf: {
    ok: () => '',
    open: (kind: string, { name }: { name: string }) =>
      `${kind} ${name} answers too few calls: most of its BETs are refused until it recovers; WINs and ROLLBACKs are still sent.`,
    degraded: (kind: string, { name, successRate }: { name: string; successRate: number | null }) =>
      `${kind} ${name} answers badly: ${percent(successRate ?? 0)} of its calls succeeded in the last 5 minutes.`,
    paused: (kind: string, { name, pause }: { name: string; pause?: { reason: string } }) =>
      `${kind} ${name} is paused: ${pause?.reason ?? ''}`,
  },
  degradedSpoken: (kind: string, name: string) => `${kind} ${name} answers badly.`,
  oldAlarm: (kind: string, name: string, count: number, age: string) =>
    `${kind} ${name} has ${count} undecided, the oldest for ${age}.`,
  oldSpoken: (kind: string, name: string) =>
    `${kind} ${name} has transactions that are undecided for more than a minute.`,
  parkedAlarm: (count: number) =>
    counted(
      count,
      'transaction is parked: a person must decide it.',
      'transactions are parked: a person must decide them.',
    ),
  instanceAlarm: (id: string) => `Instance ${id} is not ready.`,
  perMinuteTitle: 'Transactions per minute, last hour',
  perMinuteSum: (last: number, sum: number) =>
    `${number(last)} in the last full minute, ${number(sum)} in the hour`,
  declined: 'Declined',
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
  stateOf: { ok: 'ok', degraded: 'degraded', open: 'open: most BETs refused', paused: 'paused' },
  successRate: 'Success, 5 min',
  percent,
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
  one: 'Attention item',
  none: 'Nothing waits for a person.',
  views: { all: 'All', open: 'Open', mine: 'Mine', snoozed: 'Snoozed', closed: 'Closed' },
  kindOf: {
    transaction: 'Transaction',
    round: 'Open rounds',
    grant: 'Free spins',
    winnings: 'Flagged winnings',
    revocation: 'Revocation',
    approval: 'Approval',
    reconciliation: 'Reconciliation',
  },
  stateOf: { OPEN: 'Open', SNOOZED: 'Snoozed', CLOSED: 'Closed' },
  what: 'What',
  kind: 'Kind',
  count: 'Number',
  age: 'Opened',
  operator: 'Operator',
  provider: 'Provider',
  assignee: 'Assignee',
  assigneeHint: 'Empty: the assignment is removed.',
  nobody: 'nobody',
  state: 'State',
  from: 'Opened from',
  to: 'Opened before',
  cause: 'Cause',
  grants: 'Grants',
  openGrants: (count: number) => (count === 1 ? 'Show the grant' : `Show the ${count} grants`),
  until: 'Until',
  selectOne: (summary: string) => `Select ${summary}`,
  select: 'Select items to assign, snooze or close them together.',
  tooMany: (most: number) => `At most ${counted(most, 'item')} at once`,
  assignSeveral: (count: number) => (count === 0 ? 'Assign' : `Assign ${counted(count, 'item')}`),
  snoozeSeveral: (count: number) => (count === 0 ? 'Snooze' : `Snooze ${counted(count, 'item')}`),
  closeSeveral: (count: number) => (count === 0 ? 'Close' : `Close ${counted(count, 'item')}`),
  several: (done: number, skipped: number) => `${done} done, ${skipped} skipped.`,
  skipped: 'Skipped',
  why: 'Why',
  assign: 'Assign',
  assignSentence: (count: number) =>
    `This person works on ${count === 1 ? 'the item' : `the ${count} items`}.`,
  assigned: (assignee: string) => `Assigned to ${assignee}.`,
  unassigned: 'The assignment is removed.',
  snooze: 'Snooze',
  snoozeSentence: (count: number) =>
    count === 1
      ? 'The item is hidden from the open ones until this time.'
      : `The ${count} items are hidden from the open ones until this time.`,
  snoozed: (until: string) => `Snoozed until ${until}.`,
  close: 'Close',
  closeSentence: (count: number) =>
    count === 1
      ? 'The item stays closed as long as its cause lasts. This moves no money and does not remove the cause.'
      : `The ${count} items stay closed as long as their causes last. This moves no money and does not remove the causes.`,
  closedNow: 'The item is closed.',
  addComment: 'Comment',
  commentSentence: 'Everybody who reads the item sees the comment. It cannot be removed.',
  commented: 'The comment is added.',
  isClosed: 'The item is closed.',
  opened: 'Opened',
  closed: 'Closed',
  closedBy: 'Closed by',
  reason: 'Reason',
  comment: 'Comment',
  comments: 'Comments',
  noComments: 'No comments.',
  history: 'History',
  at: 'When',
  by: 'Who',
  event: 'What',
  text: 'Details',
  eventOf: {
    opened: 'opened',
    assigned: 'assigned',
    unassigned: 'assignment removed',
    snoozed: 'snoozed',
    woken: 'open again',
    commented: 'commented',
    closed: 'closed',
  },
};

export const transactions = {
  title: 'Transactions',
  titleOf: (id: string) => `Transaction ${id}`,
  caption: 'Transactions, newest first',
  transaction: 'Transaction',
  createdAt: 'Created',
  kind: 'Kind',
  amount: 'Amount',
  state: 'State',
  toldBalance: 'Balance reported',
  player: 'Player',
  operator: 'Operator',
  provider: 'Provider',
  round: 'Round',
  session: 'Session',
  game: 'Game',
  from: 'From (local time)',
  to: 'Before (local time)',
  minAmount: 'Amount from',
  maxAmount: 'Amount to',
  exactAmount: 'Amount exactly',
  currency: 'Currency',
  winKind: 'Kind of WIN',
  waiting: 'Waits for a person',
  onlyParked: 'only parked ones',
  parked: 'parked',
  settledByHand: 'settled by hand',
  tombstone: 'tombstone',
  roundDetails: 'Round at the provider',

  advice: 'Advice',
  action: {
    none: 'Nothing to do.',
    wait: 'Wait a minute.',
    resolve: 'Resolve it.',
    'contact-operator': 'Ask the operator.',
    'contact-provider': 'Ask the provider.',
  },
  adjustmentReason: (providerId: string, transactionId: string) =>
    `transaction ${providerId}/${transactionId}: `,

  resolve: 'Resolve now',
  inFlight: 'An attempt is under way.',
  resolved: (state: string) => `The transaction is now ${state}.`,
  stillUndecided: (state: string, advice: string) =>
    `The transaction is still undecided (${state}). ${advice}`,
  resolvingReadsBalance: 'Reads the balance again and completes the answer. No money moves.',
  resolvingRollsBack: (amount: string) =>
    `Ends the BET with a ROLLBACK: if ${amount} was debited, the player gets it back.`,
  resolvingSendsAgain: (kind: string, amount: string) =>
    `Sends the ${kind} of ${amount} to the operator again as it is: the operator books it at most once.`,
  resolvingSendsRollback: (id: string, amount: string) =>
    `Sends the ROLLBACK ${id} again: if ${amount} was debited, the player gets it back.`,

  settle: 'Settle by hand',
  notParked: 'The resolver still tries: only a parked transaction can be settled.',
  settleTheRollback: (id: string) => `Its ROLLBACK ${id} decides it: settle the ROLLBACK.`,
  settlesAsApproved: (kind: string, amount: string) =>
    `Once a second person approves, the ${kind} of ${amount} counts as booked by the operator. Nothing is sent to its wallet.`,
  settlesAsDeclined: (kind: string, amount: string) =>
    `Once a second person approves, the ${kind} of ${amount} counts as not booked: no money moved. Nothing is sent to the operator's wallet.`,
  operatorSays: 'The operator says that',
  operatorBooked: 'it has booked the transaction (APPROVED)',
  operatorDidNotBook: 'it has not booked the transaction (DECLINED)',
  operatorReference: "The operator's reference",
  balanceIn: (currency: string) => `Balance in ${currency}`,
  balanceHint: 'As the operator reports it. Without it, the last known balance counts.',

  comparison: 'Three views of the outcome',
  what: 'Value',
  providerWasTold: 'Reported to provider',
  platformHolds: 'Platform holds',
  operatorAnswered: 'Operator answered',
  compared: {
    outcome: 'Outcome',
    balance: 'Balance',
    declineReason: 'Decline reason',
    operatorTransactionId: "Operator's id",
  },
  differs: 'differs',
  nothingTold: 'nothing yet',
  noProvider: 'not requested by a provider',
  notAsked: 'not asked to book it',

  timeline: 'Timeline',
  time: 'Time',
  providerSide: 'Provider and platform',
  operatorSide: 'Platform and operator',
  event: {
    requested: 'Requested',
    'operator-called': 'Operator called',
    'operator-answered': 'Operator answered',
    'operator-silent': 'No valid answer',
    'provider-told': 'Reported to provider',
    'settled-by-hand': 'Settled by hand',
    'lease-over': 'Lease over',
    parked: 'Parked',
    'rollback-requested': 'ROLLBACK requested',
    'rollback-settled': 'ROLLBACK settled',
    'rolled-back': 'Rolled back',
  },
  whatWasSent: 'what was sent',
  whatWasTold: 'as reported to the provider',
  whatWasAnswered: (status: number | undefined) =>
    status === undefined ? 'the answer' : `the answer (HTTP ${status})`,

  attempts: 'Attempts',
  attempt: 'Attempt',
  startedAt: 'Operator called',
  driver: 'Caused by',
  outcome: 'Outcome',
  notSent: (outcome: string) => `${outcome}, nothing was sent`,
  httpStatus: 'HTTP',
  duration: 'Took',
  milliseconds: (ms: number) => `${ms} ms`,
  told: 'Reported to provider',
  detail: 'Detail',
  requestId: 'Request',

  originalTransactionId: 'Reverses',
  rollbackId: 'Its ROLLBACK',
  freeSpinsRef: 'Free spins at the provider',
  promotionRef: 'Promotion',
  reason: 'Reason',
  updatedAt: 'Last changed',
  parkedAt: 'Parked',
  leaseUntil: 'Lease until',
  verdict: "The platform's own verdict",
  platformTransactionId: "Platform's id",
  callbacks: 'Callbacks',
  callbacksOfSession: 'Callbacks of the session',
  audit: 'Audit',
  auditOf: 'Entries about this transaction',
};

export const rounds = {
  title: 'Rounds',
  titleOf: (id: string) => `Round ${id}`,
  caption: 'Rounds with real money, newest first',
  round: 'Round',
  createdAt: 'Began',
  bet: 'BETs',
  win: 'WINs',
  net: 'Net',
  state: 'State',
  stateOf: { open: 'open', undecided: 'undecided', closed: 'closed' },
  transactions: 'Transactions',
  undecided: 'Undecided',
  player: 'Player',
  operator: 'Operator',
  provider: 'Provider',
  game: 'Game',
  details: 'Details',
  from: 'From (local time)',
  to: 'Before (local time)',
  olderThanMinutes: 'Older than (minutes)',
  onlyOpen: 'only open ones',
  mode: 'Mode',
  sums: 'Sums',
  whose: 'According to',
  told: 'as reported to the provider',
  byOperator: 'what the operator answered',
  unknown: 'undecided amounts',
  differs: 'differs',
  netHint: 'Net is WINs minus BETs: what the player won.',
  transactionsOf: 'Transactions, oldest first',
  truncated: 'The round has more than 1,000 transactions: only the oldest 1,000 are listed.',
  audit: 'Audit',
  auditOf: 'Entries about this round',
  choose: 'Several rounds may have this id. Choose one:',
};

export const players = {
  title: 'Players',
  titleOf: (playerRef: string) => `Player ${playerRef}`,
  find: 'Find a player',
  playerRef: "Player's reference",
  atOperator: 'At the operator',
  anyOperator: 'any that has it',
  open: 'Open the player',
  filterSessions: 'Filter the sessions',
  newestSessions: 'Sessions of all players, newest first',
  from: 'From (local time)',
  to: 'Before (local time)',
  player: 'Player',
  at: 'At the operator',
  unknown: 'No operator has a player with this reference.',
  chooseOperator: 'Several operators have a player with this reference. Choose one:',
  all: (page: string) => `All ${page.replace('-', ' ')} of the player`,
  sessions: 'Sessions',
  grants: 'Free spins',
  grant: 'Grant',
  createdAt: 'Created',
  state: 'State',
  spins: 'Spins',
  remaining: 'Left',
  game: 'Game',
  provider: 'Provider',
};

export const sessions = {
  title: 'Session',
  titleOf: (id: string) => `Session ${id}`,
  session: 'Session',
  createdAt: 'Launched',
  status: 'Status',
  player: 'Player',
  operator: 'Operator',
  provider: 'Provider',
  game: 'Game',
  currency: 'Currency',
  mode: 'Mode',
  expiresAt: 'Expires',
  revoked: 'Revoked',
  revokedAt: 'Revoked at',
  revokeReason: 'Reason of the revocation',
  reasonOf: {
    KICK: 'KICK: the player was logged out',
    SELF_EXCLUSION: 'SELF_EXCLUSION: the player excluded themselves',
    FRAUD_HOLD: 'FRAUD_HOLD: fraud is suspected',
    OTHER: 'OTHER',
  },
  maxBet: 'Highest stake',
  jurisdiction: 'Jurisdiction',
  realityCheck: 'Reality check every',
  seconds: (seconds: number) => `${seconds} s`,
  language: 'Language',
  country: 'Country',
  audit: 'Audit',
  auditOf: 'Entries about this session',

  revoke: 'Revoke the session',
  revokes: (player: string, operator: string) =>
    `Ends this session of the player ${player} at ${operator}: the provider is notified to stop the game, and further BETs are refused.`,
  lateSettlement: (providerId: string, accepted: string | undefined) =>
    accepted === undefined
      ? `WINs and ROLLBACKs of its rounds are refused: the late settlement of ${providerId} is 0.`
      : `WINs and ROLLBACKs of its rounds are accepted for ${accepted} after the session has ended.`,
  lateSettlementUnread: (providerId: string) =>
    `WINs and ROLLBACKs of its rounds are accepted only during the late settlement of ${providerId}.`,
  alreadyRevoked: 'It is revoked already.',
  notify: 'Send the revocation again',
  notifies: (providerId: string) =>
    `Tells ${providerId} once more that the session is revoked. The service refuses this if the provider has answered it.`,
  delivered: 'The session is revoked, and the provider knows it.',
  notificationPending: 'The session is revoked. The provider is being notified, or will be soon.',
  notDelivered: (error: string) =>
    `The session is revoked, but the provider does not know it: ${error}. Send the revocation again.`,

  rounds: 'Rounds of the transactions below',
  round: 'Round',
  bet: 'BETs',
  won: 'WINs',
  undecided: 'Undecided',
  transactionCount: 'Transactions',
  transactions: 'Transactions, newest first',
  callbacks: 'Callbacks to the provider',
  noCallbacks: 'The provider was not called about this session.',
};

export const callbacks = {
  one: 'Callback',
  sentAt: 'Sent',
  route: 'Route',
  answered: 'Answer',
  underWay: 'none yet, or its instance died',
  duration: 'Took',
  milliseconds: (ms: number) => `${ms} ms`,
  bodies: 'Bodies',
  sent: 'what was sent',
  answer: 'the answer',
  request: 'Request',
};

const eachOf = (players: number) => (players === 1 ? 'one player' : `each of ${counted(players, 'player')}`);

export const freeSpins = {
  title: 'Free spins',
  grants: 'Grants',
  allGrants: 'All',
  failedGrants: 'Failed grants',
  batches: 'Batches',
  newGrant: 'New grant',
  newBatch: 'New batch',
  stateOf: { PENDING: 'Pending', GRANTED: 'Granted', FAILED: 'Failed', CANCELLED: 'Cancelled' },
  grant: 'Grant',
  batch: 'Batch',
  batchRef: 'Batch reference',
  batchId: 'Batch id',
  requestRef: 'Request reference',
  refHint: 'The same reference is granted at most once.',
  sendUnchanged:
    'This may have been carried out. Send it again unchanged: the same reference is granted at most once.',
  state: 'State',
  operator: 'Operator',
  provider: 'Provider',
  game: 'Game',
  player: 'Player',
  spins: 'Spins',
  spinsEach: 'Spins for each player',
  stake: 'Stake',
  perSpin: 'Stake of a spin',
  stakePerSpin: 'Stake of a spin',
  stakeHint: "In major units, such as 0.20; 0 is the provider's default.",
  noAmount: (currency: string) => `This is not an amount in ${currency}.`,
  currency: 'Currency',
  expiresAt: 'Expires (optional, your local time)',
  expiresAtHint: 'Empty: they do not expire.',
  expires: 'Expires',
  from: 'Created from',
  to: 'Created before',
  problem: 'Problem',
  created: 'Created',
  updated: 'Changed',
  progress: 'Progress',
  remaining: 'Remaining spins',
  completed: 'Completed grants',
  checked: 'As the provider said',
  externalRef: "Provider's reference",
  duplicateOf: 'Duplicate of',
  winnings: 'Winnings',
  winningsOf: (count: number, total: string | undefined, flagged: number | undefined) =>
    `${counted(count, 'WIN')}${total === undefined ? '' : `: ${total}`}${flagged === undefined ? '' : `, ${flagged} flagged`}`,
  defaultStake: "the provider's default stake",
  unknownStake: 'a stake that the provider chooses',
  atMost: (amount: string) => `at most ${amount}`,
  unknownAmount: 'unknown',
  terms: (spins: number, stake: string, player: string, game: string) =>
    `${counted(spins, 'spin')} of ${stake} for ${player} in ${game}`,
  batchTerms: (spins: number, stake: string, players: number, game: string) =>
    `${counted(spins, 'spin')} of ${stake} for ${eachOf(players)} in ${game}`,
  countsOf: (counts: Readonly<Record<'total' | 'granted' | 'failed' | 'pending' | 'cancelled', number>>) =>
    `${number(counts.granted)} granted, ${number(counts.failed)} failed, ${number(counts.cancelled)} cancelled, ${number(counts.pending)} pending of ${number(counts.total)}`,
  unknown: (error: string) => `${error}. The provider may have granted the spins nevertheless.`,
  notCancelled: (error: string) => `The last cancel failed, and the spins are live: ${error}.`,
  duplicate: (other: string) => `The provider answered with the reference of the grant ${other}.`,
  status: 'Ask the provider',
  statusSentence: (what: string) =>
    `The provider is asked for the remaining spins: ${what}. Nothing changes.`,
  statusOf: (remaining: number, completed: boolean) =>
    `${counted(remaining, 'spin remains', 'spins remain')}${completed ? ', and the grant is completed' : ''}.`,
  notGranted: 'It was not granted.',
  cancel: 'Cancel the grant',
  cancelSentence: (what: string, money: string, other: string | undefined) =>
    `The provider cancels the remaining spins of this grant (${money}): ${what}. Spins that were played stay valid.${
      other === undefined
        ? ''
        : ` This ends the spins of the grant ${other}, too: both have the same reference at the provider.`
    }`,
  onlyGranted: 'Only a granted one',
  resend: 'Send again',
  resendSentence: (what: string, money: string) =>
    `The grant is sent to the provider once more, with the same reference (${money}): ${what}.`,
  onlyFailed: 'Only a failed one',
  void: 'Void',
  voidSentence: (what: string, money: string) =>
    `The grant is sent once more to learn its reference, and is cancelled (${money}): ${what}.`,
  onlyUnknown: 'Only if its outcome is unknown',
  callbacks: 'Calls to the provider',
  noCallbacks: 'The provider was not called.',
  failures: 'Why grants failed',
  why: 'Why',
  outcome: 'Outcome',
  maybeGranted: 'unknown: the provider may have granted them',
  refused: 'not granted',
  filterGrants: 'Filter these grants',
  cancelBatch: 'Cancel the batch',
  cancelBatchSentence: (pending: number, granted: number, money: string) =>
    `${counted(pending, 'pending grant is', 'pending grants are')} never sent, and ${counted(granted, 'granted one is', 'granted ones are')} cancelled at the provider: together ${money}. Spins that were played stay valid.`,
  cancelling: 'The batch is being cancelled.',
  nothingToCancel: 'Nothing is left to cancel.',
  resendBatch: 'Send failed grants again',
  resendBatchSentence: (count: number, includesUnknown: boolean, money: string) =>
    includesUnknown
      ? `${counted(count, 'failed grant is', 'failed grants are')} sent once more: ${money}.`
      : `${counted(count, 'failed grant whose outcome is known is', 'failed grants whose outcome is known are')} sent once more: ${money}.`,
  includeUnknown: (count: number) =>
    `Also ${counted(count, 'grant')} of unknown outcome: a provider that is not idempotent grants twice.`,
  resending: 'The failed grants are being sent again.',
  nothingResent: (failed: number) =>
    `No grant is being sent again: ${counted(failed, 'grant stays', 'grants stay')} failed.`,
  noneFailed: 'No grant has failed.',
  batchExpired: 'The spins have expired: none is sent any more.',
  voidBatch: 'Void unknown grants',
  voidBatchSentence: (count: number, money: string) =>
    `${counted(count, 'failed grant whose outcome is unknown is', 'failed grants whose outcome is unknown are')} sent once more to learn the reference, and cancelled: ${money}.`,
  voiding: (count: number, total: number) => `${count} of ${total}`,
  voidedBatch: (done: number, refused: readonly string[]) =>
    refused.length === 0
      ? `${counted(done, 'grant is', 'grants are')} void.`
      : `${counted(done, 'grant is', 'grants are')} void, ${counted(refused.length, 'is', 'are')} not: ${[...new Set(refused)].join('; ')}.`,
  noneUnknown: 'No outcome is unknown.',
  failuresUnread: 'The causes of the failures are not loaded.',
  statusBatch: 'Ask about all',
  statusBatchSentence: (granted: number) =>
    `The provider is asked for the remaining spins of ${counted(granted, 'granted grant')}. Nothing changes.`,
  asking: (granted: number) => `The provider is being asked about ${counted(granted, 'granted grant')}.`,
  noneGranted: 'No grant is granted.',
  players: 'Players, one on each line',
  file: 'Or a CSV file: the column playerRef, or else the first column',
  playersOf: (count: number) => counted(count, 'player'),
  wrongLine: (number: number) => `Line ${number}:`,
  fault: (fault: { readonly kind: string; readonly first?: number }) =>
    ({
      characters: 'only visible ASCII characters without spaces are allowed',
      length: 'longer than 128 characters',
      path: 'not allowed as an identifier',
      repeated: `the same as line ${fault.first ?? ''}`,
    })[fault.kind] ?? fault.kind,
  moreWrong: (count: number) => `${counted(count, 'more line is', 'more lines are')} wrong.`,
  leaveOut: 'Leave out the wrong lines',
  wrongLines: (count: number) =>
    counted(
      count,
      'line is wrong: correct it or leave it out.',
      'lines are wrong: correct them or leave them out.',
    ),
  tooMany: (count: number, most: number) => `${counted(count, 'player')}: a batch has at most ${most}.`,
  tooLarge: (bytes: number) => `The file is larger than ${bytes} bytes.`,
  notCsv: (error: string) => `The file is not CSV: ${error}`,
  incomplete: 'Fill in the form.',
  noPreview: 'There is no preview yet.',
  previewFailed: 'There is no preview: see above.',
  wrongSpins: (most: number) => `Enter a whole number from 1 to ${number(most)}.`,
  preview: 'Preview',
  previewLater: 'The stake appears when the form is complete.',
  previewOf: (players: number, spins: number) =>
    `${counted(players, 'player')} with ${counted(spins, 'spin')} each`,
  expiry: (at: string | undefined) =>
    at === undefined ? 'The spins do not expire.' : `The spins expire on ${at} (your local time).`,
  needsApproval: 'Needs the approval of a second person.',
  needsNoApproval: 'Needs no approval.',
  limit: (field: string, limit: string, used: string) =>
    `The limit "${limitName(field)}" is ${limit}; ${used} were used in 24 hours.`,
  noLimits: (currency: string) => `No limit applies in ${currency}.`,
  repeated: (ref: string, at?: string) =>
    `The reference ${ref} was used ${at === undefined ? 'before' : `on ${at}`}: nothing was sent now.`,
  sendGrant: 'Grant the spins',
  sendBatch: (players: number) => `Grant spins to ${counted(players, 'player')}`,
  sendingBatch: 'The batch was created; its grants are being sent.',
  /** @param what as `terms` or `batchTerms` say it */
  sendSentence: (what: string, stake: string, expiry: string, approval: boolean) =>
    `${what}: ${stake} in total. ${expiry} ${
      approval ? 'A second person must approve this first.' : 'The provider is called at once.'
    }`,
  backToList: 'Back to the list',
};

export const approvals = {
  title: 'Approvals',
  one: 'Approval',
  none: 'No approval matches.',
  all: 'All',
  stateOf: { WAITING: 'Waiting', APPROVED: 'Approved', REJECTED: 'Rejected', EXPIRED: 'Expired' },
  kindOf: {
    grant: 'Free spins',
    batch: 'Batch of free spins',
    adjustment: 'Adjustment',
    settlement: 'Settlement by hand',
    limit: 'Limits',
  },
  what: 'What',
  kind: 'Kind',
  amount: 'Amount',
  operator: 'Operator',
  from: 'Requested from',
  to: 'Requested before',
  state: 'State',
  requestedBy: 'Requested by',
  requested: 'Requested',
  decided: 'Decision',
  expires: 'Expires',
  reference: 'Reference',
  decidedBy: 'Decided by',
  decidedAt: 'Decided',
  reason: 'Reason',
  outcome: 'Outcome',
  openOutcome: {
    grant: 'Open the grant',
    batch: 'Open the batch',
    adjustment: 'Open the adjustment',
    settlement: 'Open the transaction',
    limit: 'Open the limits',
  },
  terms: 'the complete terms',
  result: 'the result',
  changes: 'Before and after',
  before: 'Before',
  after: 'After',
  noLimit: 'no limit',
  undecided: 'undecided',
  transaction: 'The transaction',
  balance: 'Balance in the answer',
  lastBalance: 'the last known balance, or 0',
  used: 'Used of the limits in the 24 hours before the request',
  exceeds: (field: string, limit: string) =>
    `It needs approval because of the limit "${limitName(field)}" of ${limit}.`,
  always: {
    grant: 'It needs the approval of a second person.',
    batch: 'It needs the approval of a second person.',
    adjustment: 'It needs the approval of a second person.',
    settlement: 'Settling a transaction by hand always needs the approval of a second person.',
    limit: 'Raising or removing a limit always needs the approval of a second person.',
  },
  approve: 'Approve',
  approveSentence: (summary: string, amount: string | undefined) =>
    `This is carried out at once${amount === undefined ? '' : ` (${amount})`}: ${summary}.`,
  own: 'You requested this: another person must approve it.',
  approved: 'Approved and carried out.',
  approvedBatch: 'Approved: the batch was created; its grants are being sent.',
  failed: (error: string) => `Approved, but it could not be carried out: ${error}.`,
  notConfirmed: (error: string) =>
    `Approved, but not confirmed: ${error}. It may still be carried out: see its page before you ask for it again.`,
  notConfirmedYet: 'Approved, but not confirmed yet: the provider has not answered.',
  declined: (reason: string) => `Approved, but the operator declined it (${reason}): no money moved.`,
  reject: 'Reject',
  rejectSentence: (summary: string) => `This will not be carried out: ${summary}.`,
  rejected: 'Rejected: nothing was carried out.',
  withdraw: 'Withdraw',
  withdrawSentence: (summary: string) => `You withdraw your request, and nothing is carried out: ${summary}.`,
  withdrawn: 'Withdrawn: nothing was carried out.',
};

export const operators = {
  title: 'Operators',
  one: (id: string) => `Operator ${id}`,
  create: 'Create an operator',
  willCreate: 'A new operator can launch sessions at once. Its secret is shown once.',
  change: 'Change the operator',
  walletBaseUrl: 'Wallet address',
  walletTimeout: 'Wallet time-out in ms',
  currencies: 'Currencies',
  currenciesHint: 'Separated by spaces. Empty: any.',
  anyCurrency: 'any',
};

export const providers = {
  title: 'Providers',
  one: (id: string) => `Provider ${id}`,
  create: 'Create a provider',
  willCreate: 'A new provider can verify sessions and book transactions at once. Its secret is shown once.',
  change: 'Change the provider',
  webhookBaseUrl: 'Callback address',
  lateSettlement: 'Late settlement in seconds',
  lateSettlementHint: 'How long after a session its rounds may still be settled.',
};

/** What operators and providers share. */
export const tenants = {
  id: 'Id',
  name: 'Name',
  status: 'Status',
  state: 'Health',
  p95: 'p95, 5 min',
  created: 'Created',
  updated: 'Changed',
  requestsPerSecond: 'Requests per second',
  installation: "the installation's default",
  emptyIsDefault: "Empty: the installation's default.",
  addressHint: 'An https address without a query.',
  notInteger: (text: string) => (/^\d{0,9}$/.test(text) ? undefined : 'Enter a whole number, or nothing.'),
  more: 'More',
  transactions: 'What it booked',
  limits: 'What needs approval',
  audit: 'What was done to it',
};

export const health = {
  title: 'Health',
  window: 'Last',
  minutes: (minutes: string) => counted(Number(minutes), 'minute'),
  calls: 'Calls',
  successRate: 'Success',
  percent,
  p95: 'p95',
  timeouts: 'Time-outs',
};

export const secrets = {
  id: 'Id',
  idHint: 'It cannot be changed later.',
  name: 'Name',
  rotate: 'Rotate the secret',
  willRotate: (kind: string, id: string) =>
    `The ${kind} ${id} gets a new secret, which is shown once. Until the overlap ends, its calls may be signed with either secret, and calls to it are signed with the current one.`,
  rotationUnknown:
    'It is not known whether the secret was rotated. Do not repeat it: a second rotation drops the secret that is in use. Agree on a time with the tenant, within the overlap, then rotate with an overlap of 0 and hand the new secret over.',
  rotationAtOnceUnknown:
    'It is not known whether the secret was rotated. The old one may be invalid already: rotate again with an overlap of 0, and hand the new secret over.',
  overlapSeconds: 'Overlap in seconds',
  overlapHint: 'Empty: 24 hours. 0 makes the current secret invalid at once.',
  once: (id: string) =>
    `The new secret of ${id}. It is shown until you dismiss it or sign out, and never again:`,
  copy: 'Copy',
  dismiss: 'Dismiss the secret',
  copied: 'Copied.',
  notCopied: 'The browser did not copy it: select the secret and copy it.',
  overlap: 'The previous secret is valid until',
};

export const pausing = {
  column: 'Pause',
  now: 'paused',
  pause: (kind: string) => `Pause the ${kind}`,
  resume: (kind: string) => `Resume the ${kind}`,
  willPause: (kind: string, id: string) =>
    `New sessions and BETs of the ${kind} ${id} will be refused. WINs and ROLLBACKs still go through, so that no open round loses money.`,
  willResume: (kind: string, id: string) => `Sessions and BETs of the ${kind} ${id} will be accepted again.`,
  until: 'Until',
  untilHint: 'Your local time. Empty: until it is resumed.',
  paused: 'Paused',
  since: 'since',
  by: 'by',
  endsAt: ' until',
  untilResumed: ' until it is resumed',
};

export const edit = {
  unchanged: 'Nothing is changed yet.',
  none: 'none',
  change: (term: string, before: string, after: string) => `${term}: ${before} → ${after}`,
  disables: {
    operator:
      'All calls of the operator are refused, and new sessions and BETs of its players. WINs and ROLLBACKs of open rounds are still accepted.',
    provider:
      'All calls of the provider are refused, also WINs and ROLLBACKs: its open rounds cannot be settled. To stop only new sessions and BETs, pause it.',
    game: 'New sessions, BETs and free spins of the game are refused. WINs and ROLLBACKs of open rounds are still accepted.',
  },
};

export const games = {
  title: 'Games',
  one: (id: string) => `Game ${id}`,
  create: 'Add a game',
  willCreate: 'Sessions of the game can be launched at once.',
  exists: (id: string) => `There is a game ${id} already. Open its page to change it.`,
  change: 'Change the game',
  changedMeanwhile:
    'Somebody else has changed the game meanwhile. Go back: the page then shows the game as it is. Check your changes, and send them again.',
  id: 'Id',
  name: 'Name',
  provider: 'Provider',
  status: 'Status',
  launchUrl: 'Launch address',
  roundDetailsUrl: 'Address of round details',
  roundDetailsHint: 'An https address with placeholders such as {roundId}.',
  created: 'Created',
  updated: 'Changed',
  more: 'More',
  rounds: 'What was played',
  transactions: 'What was booked',
};

export const limits = {
  title: 'Limits',
  lead: 'Above a limit, grants, batches and adjustments need the approval of a second person. Raising or removing a limit needs one, too.',
  operator: 'Operator',
  installation: 'All operators (*)',
  currency: 'Currency',
  nameOf: {
    maxGrantMinor: 'Grant',
    maxBatchMinor: 'Batch',
    maxAdjustmentMinor: 'Adjustment',
    dailyMinor: '24 hours',
    maxWinMinor: 'WIN',
  },
  of: (operatorId: string, currency: string) =>
    operatorId === '*'
      ? `Default limits of all operators in ${currency}`
      : `Limits of ${operatorId} in ${currency}`,
  unlimited: 'no limit',
  used: 'Used in 24 hours',
  updated: 'Changed',
  updatedBy: 'Changed by',
  none: 'No limit is set.',
  change: 'Change the limits',
  waits:
    'A lower limit holds at once. If any limit is raised or removed, the whole change waits for another administrator.',
  emptyIsNone: 'Empty: no limit.',
  notAmount: (currency: string) => `Enter an amount of ${currency}, such as 250.00, or nothing.`,
  remove: 'Remove the limits',
  willRemove: (operatorId: string, currency: string) =>
    `All own limits of ${operatorId} in ${currency} will be removed: at once if no limit in effect is raised or removed by that, otherwise once another administrator approves it.`,
  amount: (name: string, amount: string) => `${name}: ${amount}`,
  set: 'Set limits',
  willSet:
    'A first or lower limit holds at once; a higher one waits for another administrator. Amounts are in major units, such as 250.00. An empty field leaves its limit as it is.',
  starHint: 'An operator, or * for all operators without a limit of their own.',
  nothingSet: 'Enter at least one limit.',
  missing: 'Operators without limits on grants or adjustments',
  noneMissing: 'Every operator has limits in every currency in which it trades.',
};

export const reconciliation = {
  title: 'Reconciliation',
  one: 'Reconciliation',
  lead: "Compares an operator's statement with the platform's transactions of the same time.",
  start: 'Compare a statement',
  operator: 'Operator',
  from: 'From',
  to: 'To',
  drop: 'Statement (CSV, at most 64 MiB)',
  dropHint: 'Choose the file, or drop it here.',
  localTime: 'Your local time.',
  record: 'Record the findings in the attention queue',
  recordHint: 'Items whose finding is gone are closed.',
  compare: 'Compare',
  uploading: (percent: number) => `Sending the statement: ${percent} %`,
  comparing: 'Comparing …',
  noFile: 'Choose a statement.',
  emptyFile: 'The statement is empty: it needs at least its header.',
  needsRange: 'Enter the operator and the range of time.',
  earlier: 'Reconciliations',
  created: 'Created',
  by: 'By',
  range: 'Range',
  lines: 'Lines',
  matched: 'Known to the platform',
  findings: 'Findings',
  recorded: 'Recorded',
  recordedText: (opened: number, closed: number) => `${opened} opened, ${closed} closed`,
  cut: (stored: number) => `Only the first ${stored} are stored.`,
  agreed: 'none: all agree',
  sums: 'Sums',
  currency: 'Currency',
  kind: 'Kind',
  atOperator: 'Operator',
  atPlatform: 'Platform',
  difference: 'Difference',
  finding: 'Finding',
  transaction: 'Transaction',
  detail: 'What differs',
  line: 'Line',
};

export const audit = {
  title: 'Audit',
  caption: 'Entries, newest first',
  action: 'Action',
  actor: 'Actor',
  target: 'Target',
  outcome: 'Outcome',
  from: 'From (local time)',
  to: 'Before (local time)',
  requestId: 'Request',
  at: 'Time',
  changes: 'Changes',
  becomes: 'becomes',
  nothing: 'nothing',
  place: 'Entry',
  address: 'Network address',
  hash: 'Hash',
  gap: (place: string) => `An entry before ${place} is missing.`,
  noGap: (entries: number) => `The chain has no gap in ${counted(entries, 'entry', 'entries')}.`,
  filtered: 'The entries are filtered: gaps of the chain are not visible here.',
  newest: 'Newest entry of this page:',
  verify: 'The command npm run audit:verify verifies all hashes and seals.',
};

export const sandbox = {
  title: 'Sandbox',
  lead:
    'Play a round step by step, with play money. The page signs each request as the server of an operator or a ' +
    'provider would, sends it to the real routes, and shows what the service did.',
  cannotSign: 'This browser signs only on https and on this machine: open the console at http://127.0.0.1.',
  operatorPart: 'The operator',
  providerPart: 'The provider',
  player: 'Player',
  game: 'Game',
  launch: 'Launch a session',
  launchFirst: 'Launch a session first.',
  playing: (playerRef: string, gameId: string) => `${playerRef} plays ${gameId}.`,
  fault: 'Fault of the wallet in the next BET, WIN or ROLLBACK',
  noFault: 'none',
  betAmount: 'Stake in EUR',
  winAmount: 'Winnings in EUR',
  notAnAmount: (currency: string) => `Enter an amount in ${currency}, such as 2.50.`,
  bet: 'Submit a BET',
  win: 'Submit its WIN',
  rollback: 'Roll the BET back',
  verify: 'Verify the session',
  balance: 'Read the balance',
  repeat: 'Repeat the last request',
  again: (title: string) => `${title}, repeated`,
  exchanges: 'Requests',
  nothingYet: 'The requests will stand here, the newest first.',
  request: 'Request',
  answer: 'Answer',
  noAnswer: 'no answer',
  signedText: 'the text that is signed',
  story: 'What the service did with',
};
