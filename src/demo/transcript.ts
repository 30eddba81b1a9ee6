import { visible, visibleLines } from '../runtime/visible.js';
import type { Exchange } from '../sandbox/platform-client.js';

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
