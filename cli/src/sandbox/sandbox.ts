import { signRequest } from '@croupier/provider-sdk';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { replyTo } from '../reply.js';
import { UsageError } from '../terminal.js';

/** The fields of `sandbox.json` that are needed here. The platform's `npm start` writes that file. */
interface Sandbox {
  apiUrl: string;
  adminApiKey: string;
  operator: { id: string; secret: string };
}

interface Answer {
  status: number;
  text: string;
  /** Empty if the body is not a JSON object. */
  json: Record<string, unknown>;
}

/** Default paths of the file: in the platform's working directory or, if the platform runs as root, in /var/lib. */
const DEFAULT_FILES = ['data/sandbox/sandbox.json', '/var/lib/croupier/sandbox/sandbox.json'];
const TIMEOUT_MS = 20_000;

export const SANDBOX_OPTION_HELP = `  --sandbox FILE           the platform's sandbox.json, whose path npm start prints; default:
                           ./${DEFAULT_FILES[0] ?? ''}, else
                           ${DEFAULT_FILES[1] ?? ''}`;

/**
 * Reads the named file, or the first default file that exists.
 * @throws UsageError if there is no such file, or it cannot be used
 */
export async function readSandbox(path: string | undefined): Promise<Sandbox> {
  const paths = path === undefined ? DEFAULT_FILES : [path];
  for (const each of paths) {
    const sandbox = await read(each);
    if (sandbox) return sandbox;
  }
  throw new UsageError(
    `There is no sandbox in ${paths.join(' or ')}: start the platform with npm start, then use --sandbox with the path that it prints.`,
  );
}

/**
 * Calls the sandbox's admin API.
 * @throws UsageError if there is no answer
 */
export function callAsAdmin(
  { apiUrl, adminApiKey }: Sandbox,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  return send(apiUrl + path, method, body === undefined ? '' : JSON.stringify(body), {
    Authorization: `Bearer ${adminApiKey}`,
  });
}

/**
 * Calls the platform as the sandbox's operator.
 * @throws UsageError if there is no answer
 */
export function callAsOperator(
  { apiUrl, operator }: Sandbox,
  path: string,
  content: object,
  nowMs: number,
): Promise<Answer> {
  const body = JSON.stringify(content);
  const signed = signRequest({
    method: 'POST',
    path,
    body,
    tenantId: operator.id,
    secret: operator.secret,
    nonce: randomUUID(),
    now: nowMs / 1000,
  });
  return send(apiUrl + path, 'POST', body, signed);
}

/** @throws UsageError with the platform's message, if the status is unexpected */
export function expectStatus(answer: Answer, ...expected: number[]): Answer {
  if (expected.includes(answer.status)) return answer;
  throw new UsageError(`The platform answered ${answer.status} ${answer.text}`);
}

async function send(
  url: string,
  method: string,
  body: string,
  headers: Record<string, string>,
): Promise<Answer> {
  try {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    const sent = { 'Content-Type': 'application/json', 'Accept-Encoding': 'identity', ...headers };
    const call = request(url, { method, headers: sent });
    const reply = replyTo(call, TIMEOUT_MS);
    call.end(body);
    const { status, text, json = {} } = await reply;
    return { status, text, json };
  } catch (error) {
    // The error of a host with several addresses has a code and no message.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new UsageError(
      `Nothing answers at ${url}: start the platform with npm start (${message || code}).`,
    );
  }
}

/**
 * Returns undefined if there is no such file.
 * @throws UsageError if it cannot be used
 */
async function read(path: string): Promise<Sandbox | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new UsageError(`${path} cannot be read: ${message}`);
  });
  if (text === undefined) return undefined;
  const content = parsed(text);
  if (content === undefined) throw new UsageError(`${path} is not JSON.`);
  const { apiUrl, adminApiKey, operator } = content;
  const fields = { apiUrl, adminApiKey, 'operator.id': operator?.id, 'operator.secret': operator?.secret };
  const missing = Object.entries(fields).find(([, value]) => typeof value !== 'string');
  if (missing)
    throw new UsageError(`${path} is not the sandbox.json of a platform: it has no ${missing[0]}.`);
  return content as Sandbox;
}

/** Without the message of the parser, which quotes the file. */
function parsed(text: string): Partial<Sandbox> | undefined {
  try {
    return Object(JSON.parse(text)) as Partial<Sandbox>;
  } catch {
    return undefined;
  }
}
