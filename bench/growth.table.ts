import type { Listing } from './desk.load.js';
import type { Amounts, Growth, Grown } from './growth.results.js';
import { aligned, milliseconds, whole } from './report.js';

export function describeAmounts({ transactions, sessions, tenants }: Amounts): string {
  return `${whole(transactions)} transactions, ${whole(sessions)} sessions, ${whole(tenants)} tenants`;
}

/** All figures as Markdown tables. */
export function growthTable({ little, grown, memory }: Growth): string {
  return [
    `BETs over 32 connections; the ratios are those to the same service with ${describeAmounts(little)}, in the neighbouring slices. “First” are BETs of which each is in another session, which the instance has not seen before.`,
    aligned([BET_HEADINGS, ...grown.map(betRow)], 1),
    'A free-spins batch of 1,000 players, from the order to the last grant, one after the other.',
    aligned([['stored', 'seconds'], ...grown.map(batchRow)], 1),
    'A page of 50 of the lists: the newest one, and one that begins 75 of 90 days ago. Milliseconds, the median of 40 and in brackets the slowest.',
    aligned([
      ['list', 'filter', ...grown.map(({ amounts }) => describeAmounts(amounts))],
      ...listingRows(grown),
    ]),
    'Resident memory of the server; one request in ten is a BET, the others are verifies.',
    aligned(
      [
        ['requests', 'after s', 'MiB'],
        ...memory.map(({ requests, seconds, memoryMiB }) => [requests, seconds, memoryMiB].map(whole)),
      ],
      0,
    ),
  ].join('\n\n');
}

const BET_HEADINGS = [
  'stored',
  'database MiB',
  'seeded in s',
  'req/s',
  'p50 ms',
  'p99 ms',
  'server µs',
  'PostgreSQL µs',
  'MiB',
  'req/s ratio',
  'CPU ratio',
  'p50 ratio',
  'req/s ratio after a checkpoint',
  'first: req/s ratio',
  'first: CPU ratio',
];

function betRow({
  amounts,
  databaseMiB,
  seedSeconds,
  bets: { much, ratio },
  memoryMiB,
  afterCheckpoint,
  firstBets,
}: Grown): string[] {
  const ratios = [
    ratio.throughput,
    ratio.cpu,
    ratio.p50,
    afterCheckpoint.ratio.throughput,
    firstBets?.ratio.throughput,
    firstBets?.ratio.cpu,
  ];
  return [
    describeAmounts(amounts),
    whole(databaseMiB),
    whole(seedSeconds),
    whole(much.perSecond),
    milliseconds(much.p50),
    milliseconds(much.p99),
    whole(much.serverCpu),
    whole(much.postgresCpu),
    whole(memoryMiB),
    ...ratios.map((value) => (value === undefined ? '–' : `${value.toFixed(2)}×`)),
  ];
}

function batchRow({ amounts, batchSeconds }: Grown): string[] {
  return [describeAmounts(amounts), batchSeconds.map((seconds) => seconds.toFixed(1)).join(' · ')];
}

function listingRows(grown: readonly Grown[]): string[][] {
  return (grown[0]?.listings ?? []).map(({ list, filter }, index) => [
    list,
    filter,
    ...grown.map(({ listings }) => pages(listings[index]!)),
  ]);
}

function pages({ firstP50, firstSlowest, deepP50, deepSlowest, error }: Listing): string {
  if (error !== undefined) return 'failed';
  const pair = (p50 = NaN, slowest = NaN) => `${milliseconds(p50)} (${milliseconds(slowest)})`;
  const deep = deepP50 === undefined ? 'no page' : `deep ${pair(deepP50, deepSlowest)}`;
  return `${pair(firstP50, firstSlowest)}, ${deep}`;
}
