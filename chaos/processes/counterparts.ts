/**
 * The operators' wallets and the providers' webhooks, in a process of their own: an HTTP server that books in a ledger,
 * records its calls, and misbehaves as determined by the seed.
 */
import { createWriteStream } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { finished } from 'node:stream/promises';
import { Ledger, readOrder } from '../../src/sandbox/ledger.js';
import { digest } from '../seeded.js';
import type {
  BalanceRecord,
  CallRecord,
  Command,
  DeliveryRecord,
  Fate,
  WalletRates,
} from './counterparts.process.js';
import { Delivery, sendJson } from './delivery.js';

const FATES: readonly Exclude<Fate, 'answered' | 'declined'>[] = [
  'refused',
  'silent',
  'dropped',
  'booked-refused',
  'booked-silent',
  'booked-dropped',
  'late',
  'slow',
  'twice',
  'swapped',
  'answered-twice',
];
/** Longer than every time-out of the service, in milliseconds. */
const SILENT_MS = 8000;

let rates: WalletRates = { seed: 0, misbehave: 0, decline: 0, walletTimeoutMs: 1000 };
const ledgers = new Map<string, Ledger>();
const deliveries = new Map<string, Delivery>();
const firstBodies = new Map<string, string>();
const altered: string[] = [];
const ordinals = new Map<string, number>();
const calls: CallRecord[] = [];
const balances: BalanceRecord[] = [];
const grants = new Map<string, number>();

function ledgerOf(operatorId: string): Ledger {
  const ledger = ledgers.get(operatorId) ?? new Ledger();
  ledgers.set(operatorId, ledger);
  return ledger;
}

/** How the answers of a wallet or webhook are delivered. */
function deliveryOf(party: string): Delivery {
  const delivery = deliveries.get(party) ?? new Delivery();
  deliveries.set(party, delivery);
  return delivery;
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  const json = JSON.parse(body) as Record<string, unknown>;
  const [, party = '', ...rest] = (request.url ?? '').split('/');
  const route = rest.join('/');
  if (route === 'transaction') return transaction(party, body, json, response);
  if (route === 'balance') {
    const { playerRef, currency } = json;
    const balance = ledgerOf(party).balance(String(playerRef), String(currency));
    balances.push({ operatorId: party, playerRef: String(playerRef), balance });
    const answer = { playerRef, currency, balance };
    return respondWith(fateOf('balance', String(playerRef)), party, response, () => answer);
  }
  if (route.endsWith('free-spins/grant')) {
    const requestRef = String(json['requestRef']);
    grants.set(requestRef, (grants.get(requestRef) ?? 0) + 1);
    const fate = fateOf('grant', requestRef);
    // A grant's answer does not name its call: it can only be told by its connection, on which a provider must not
    // answer another call.
    const own = fate === 'swapped' ? 'answered-twice' : fate;
    return respondWith(own, party, response, () => ({ externalRef: `spins-${requestRef}` }));
  }
  sendJson(response, 200, {});
}

function transaction(
  operatorId: string,
  body: string,
  json: Record<string, unknown>,
  response: ServerResponse,
): void {
  const order = readOrder(json);
  if (typeof order === 'string') return sendJson(response, 400, { error: order });
  const { providerId, transactionId } = order;
  const id = `${providerId} ${transactionId}`;
  const first = firstBodies.get(id) ?? body;
  firstBodies.set(id, first);
  if (first !== body) altered.push(id);
  const fate = fateOf('transaction', id);
  const record: CallRecord = { at: Date.now(), operatorId, providerId, transactionId, fate, balances: [] };
  calls.push(record);
  const ledger = ledgerOf(operatorId);
  respondWith(fate, operatorId, response, () => {
    let entry = ledger.find(providerId, transactionId);
    if (!entry) {
      entry = ledger.judge(order, new Date());
      if (fate === 'declined')
        entry = { ...entry, status: 'DECLINED', reason: 'LIMIT_REACHED', movedMinor: 0 };
      ledger.record(entry);
    }
    const { status, reason, operatorTransactionId } = entry;
    const balance = ledger.balance(order.playerRef, order.currency);
    record.balances.push(balance);
    return { transactionId, status, balance, reason, operatorTransactionId };
  });
}

/** The fate of a call, determined by the seed and the number of earlier calls about the same subject. */
function fateOf(route: string, what: string): Fate {
  const { seed, misbehave, decline } = rates;
  const key = `${route} ${what}`;
  const nth = (ordinals.get(key) ?? 0) + 1;
  ordinals.set(key, nth);
  const drawn = (word: string) => digest(seed, word, key, nth) / 0x1_0000_0000;
  if (drawn('misbehaves') < misbehave) return FATES[Math.floor(drawn('how') * FATES.length)]!;
  return drawn('declines') < decline ? 'declined' : 'answered';
}

/** Carries out a call or not, and answers it or not, according to its fate. */
function respondWith(fate: Fate, party: string, response: ServerResponse, carryOut: () => object): void {
  const { walletTimeoutMs } = rates;
  const delivery = deliveryOf(party);
  switch (fate) {
    case 'answered':
    case 'declined':
      return delivery.send(response, carryOut());
    case 'refused':
      return sendJson(response, 503, {});
    case 'silent':
      return later(SILENT_MS, () => response.socket?.destroy());
    case 'dropped':
      response.socket?.destroy();
      return;
    case 'booked-refused':
      carryOut();
      return sendJson(response, 500, {});
    case 'booked-silent':
      carryOut();
      return later(SILENT_MS, () => response.socket?.destroy());
    case 'booked-dropped':
      carryOut();
      response.socket?.destroy();
      return;
    case 'late':
      // Booked after the service's time-out, when the service may already have continued.
      return later(walletTimeoutMs * 1.5, () => {
        carryOut();
        response.socket?.destroy();
      });
    case 'slow':
      return later(walletTimeoutMs * 0.6, () => delivery.send(response, carryOut()));
    case 'twice':
      later(walletTimeoutMs * 2, () => carryOut());
      return delivery.send(response, carryOut());
    case 'swapped':
      return delivery.swap(response, carryOut());
    case 'answered-twice':
      return delivery.sendTwice(response, carryOut());
  }
}

function later(milliseconds: number, work: () => void): void {
  setTimeout(work, milliseconds);
}

async function writeOut(folder: string): Promise<void> {
  for (const [operatorId, ledger] of ledgers) {
    await writeLines(`${folder}/ledger-${operatorId}.jsonl`, ledger.entries());
  }
  await writeLines(`${folder}/calls.jsonl`, calls);
  await writeLines(`${folder}/balances.jsonl`, balances);
  const delivered = [...deliveries].map(([party, { swaps, repeats }]): DeliveryRecord => ({
    party,
    swaps,
    repeats,
  }));
  await writeLines(`${folder}/deliveries.jsonl`, delivered);
  const callbacks = [...grants].map(([requestRef, count]) => ({ requestRef, count }));
  await writeLines(`${folder}/grants.jsonl`, callbacks);
  await writeLines(`${folder}/altered.jsonl`, altered);
}

async function writeLines(path: string, items: Iterable<unknown>): Promise<void> {
  const file = createWriteStream(path);
  for (const item of items) file.write(`${JSON.stringify(item)}\n`);
  file.end();
  await finished(file);
}

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  serve(request, response).catch(() => response.socket?.destroy());
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));

process.on('message', (command: Command) => {
  if (command.do === 'behave') {
    rates = command.rates;
    process.send?.({ done: true });
  } else {
    void writeOut(command.folder).then(() => process.send?.({ done: true }));
  }
});
process.on('disconnect', () => process.exit());
