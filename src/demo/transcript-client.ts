import { visible, visibleLines } from '../runtime/visible.js';
import type { Exchange, PlatformClient, Tenant } from '../sandbox/platform-client.js';

export interface RoundOutput {
  /** Prints a text of one or more lines, and adds a newline. */
  print: (text: string) => void;
  colours: boolean;
}

/** The expected answer: its status, and some of its fields. */
export interface Expectation {
  status: number;
  fields: object;
  /** The value of `X-Error-Code`. */
  code?: string;
}

/** Sends requests, prints each with its answer, and fails if an answer is unexpected. */
export class TranscriptClient {
  constructor(
    private readonly platform: PlatformClient,
    private readonly output: RoundOutput,
  ) {}

  /**
   * Sends a signed request.
   * @throws Error with a readable message if the answer is unexpected
   */
  play(
    tenant: Tenant,
    { title, path, body }: { title: string; path: string; body: object },
    expected: Expectation,
  ): Promise<Exchange> {
    return this.show(title, this.platform.signed(tenant, path, body), expected);
  }

  /**
   * Sends an unsigned PUT, to configure a counterpart.
   * @throws Error with a readable message if the answer is not a 200
   */
  configure(title: string, path: string, body: object): Promise<Exchange> {
    return this.show(title, this.platform.plain('PUT', path, body), { status: 200, fields: {} });
  }

  /**
   * Sends a GET with an admin key.
   * @throws Error with a readable message if the answer is unexpected
   */
  read(adminApiKey: string, title: string, path: string, expected: Expectation): Promise<Exchange> {
    return this.show(title, this.platform.asAdmin(adminApiKey, 'GET', path), expected);
  }

  private async show(title: string, sent: Promise<Exchange>, expected: Expectation): Promise<Exchange> {
    const exchange = await sent.catch((cause: unknown) => {
      const { apiUrl } = this.platform;
      const sentence = isTimeout(cause)
        ? `"${title}" was not answered in time by ${apiUrl}: see its log.`
        : `Nothing answers at ${apiUrl}: start the service with npm start.`;
      throw new Error(sentence, { cause });
    });
    this.output.print(transcript(title, exchange, this.output.colours));
    const asExpected = Object.entries(expected.fields).every(
      ([name, value]) => JSON.stringify(exchange.json[name]) === JSON.stringify(value),
    );
    const code = exchange.headers.get('X-Error-Code');
    const isCode = expected.code === undefined || expected.code === code;
    if (exchange.status === expected.status && asExpected && isCode) return exchange;
    throw new Error(
      `"${title}" should have been answered ${expected.status} ${expected.code ?? ''} with ` +
        `${JSON.stringify(expected.fields)}, but it was ${exchange.status} ${code ?? ''} ${exchange.text}`,
    );
  }
}

/** Whether the client has given up waiting for the answer. */
function isTimeout(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'TimeoutError';
}

/** The headers of requests and answers that are printed. */
const REQUEST_HEADERS = ['X-Tenant-ID', 'X-Timestamp', 'X-Nonce', 'X-Signature'];
const ANSWER_HEADERS = [
  'Idempotency-Replayed',
  'X-Error-Code',
  'X-Next-Action',
  'Retry-After',
  'X-Request-Id',
];

const BOLD = 1;
const DIM = 2;
const RED = 31;
const GREEN = 32;

/**
 * Renders one exchange as text.
 * @param colours whether the terminal understands ANSI sequences
 */
export function transcript(title: string, exchange: Exchange, colours: boolean): string {
  const paint = (code: number, text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text);
  const indented = (text: string) => text.replaceAll(/^/gm, '    ');
  const header = (name: string, value: string | null | undefined) =>
    value ? [paint(DIM, `    ${name}: ${visible(value)}`)] : [];
  const { status } = exchange;
  return [
    '',
    paint(BOLD, title),
    `  ${exchange.method} ${exchange.path}`,
    ...REQUEST_HEADERS.flatMap((name) => header(name, exchange.requestHeaders[name])),
    ...(exchange.requestBody === undefined ? [] : [indented(JSON.stringify(exchange.requestBody, null, 2))]),
    paint(status < 400 ? GREEN : RED, `  ${status}`),
    ...ANSWER_HEADERS.flatMap((name) => header(name, exchange.headers.get(name))),
    indented(visibleLines(pretty(exchange.text))),
  ].join('\n');
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
