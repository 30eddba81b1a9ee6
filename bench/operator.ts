/**
 * The operator's wallet of the benchmark: a process that answers at once and uses little CPU, because it shares the
 * machine with the measured server. As a witness it checks, over its own connection, whether the claim of each booking
 * was committed when the call arrived, and verifies the call's signature.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import pg from 'pg';
import { HANGING_PATH } from './hanging.js';

const BALANCE = 100_000;
const GRANT = '/v1/game/free-spins/grant';
type Named = Record<'transactionId' | 'playerRef' | 'currency', unknown>;
const ANSWERS = {
  '/transaction': ({ transactionId }: Named) => ({
    transactionId,
    status: 'APPROVED',
    balance: BALANCE,
    operatorTransactionId: 'op-1',
  }),
  '/balance': ({ playerRef, currency }: Named) => ({ playerRef, currency, balance: BALANCE }),
  // A provider's answer to a grant: this process also stands in for the provider.
  [GRANT]: () => ({ externalRef: 'spins-1' }),
};

function answerTo(route: keyof typeof ANSWERS, body: string): Buffer {
  const content = Buffer.from(JSON.stringify(ANSWERS[route](JSON.parse(body) as Named)));
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${content.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), content]);
}

/** The instructions of the witness: whose claims to check, and the secret of the signatures. */
export interface Watch {
  readonly databaseUrl: string;
  readonly pendingSql: string;
  readonly secret: string;
}

export interface Testimony {
  readonly calls: number;
  readonly unclaimed: number;
  readonly unsigned: number;
}

let watch: (Watch & { pool: pg.Pool }) | undefined;
let testimony = { calls: 0, unclaimed: 0, unsigned: 0 };

async function witness(head: string, route: string, body: string): Promise<void> {
  if (!watch || route !== '/transaction') return;
  const { transactionId } = JSON.parse(body) as { transactionId: string };
  const { rows } = await watch.pool.query(watch.pendingSql, [transactionId]);
  const header = (name: string) => new RegExp(`^${name}: *(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  const canonical = `POST\n${route}\n${header('x-timestamp')}\n${header('x-nonce')}\n`;
  const mac = createHmac('sha256', watch.secret).update(canonical).update(body).digest('hex');
  testimony.calls += 1;
  if (rows.length !== 1) testimony.unclaimed += 1;
  if (mac !== header('x-signature')) testimony.unsigned += 1;
}

function routeOf(head: string): keyof typeof ANSWERS {
  if (head.includes('/transaction HTTP/1.1')) return '/transaction';
  return head.includes(GRANT) ? GRANT : '/balance';
}

const server = createServer({ noDelay: true }, (socket) => {
  let received: Buffer = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const end = received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = received.toString('latin1', 0, end);
    const length = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const body = received.toString('utf8', end + 4, end + 4 + length);
    received = received.subarray(end + 4 + length);
    if (head.includes(`${HANGING_PATH}/`)) return;
    const route = routeOf(head);
    if (watch) void witness(head, route, body).then(() => socket.write(answerTo(route, body)));
    else socket.write(answerTo(route, body));
  });
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));

process.on('message', (message: { watch?: Watch | null }) => {
  void (async () => {
    await watch?.pool.end();
    watch = message.watch
      ? { ...message.watch, pool: new pg.Pool({ connectionString: message.watch.databaseUrl, max: 4 }) }
      : undefined;
    process.send?.({ testimony });
    testimony = { calls: 0, unclaimed: 0, unsigned: 0 };
  })();
});
process.on('disconnect', () => process.exit());
