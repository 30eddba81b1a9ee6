/** A tenant of the sandbox, whose requests the page signs as its server would. */
export interface Tenant {
  readonly id: string;
  readonly secret: string;
}

export interface SandboxAccess {
  readonly provider: Tenant;
  readonly operator: Tenant;
  readonly games: readonly string[];
  readonly faults: readonly { readonly name: string; readonly does: string }[];
}

/** A request as it was sent, and its answer. */
export interface Exchange {
  readonly title: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text that the signature covers: method, path, timestamp, nonce and body, each on a line. */
  readonly signedText: string;
  readonly body: string;
  /** Undefined if there was no answer. */
  readonly status: number | undefined;
  readonly answerHeaders: Readonly<Record<string, string>>;
  readonly answer: string;
  /** The transaction that the request submits. */
  readonly transactionId: string | undefined;
}

/** What an answer's headers say about it. */
const SHOWN = ['Idempotency-Replayed', 'X-Error-Code', 'X-Next-Action', 'Retry-After', 'X-Request-Id'];

/** Whether this browser can sign: it does so on https and on this machine only. */
export const canSign = (): boolean => globalThis.isSecureContext;

/** Signs a POST as the contract's section 1 says. */
export async function sign(
  { id, secret }: Tenant,
  { path, body }: { readonly path: string; readonly body: string },
  { timestamp, nonce }: { readonly timestamp: string; readonly nonce: string },
): Promise<{ signedText: string; headers: Record<string, string> }> {
  const signedText = ['POST', path, timestamp, nonce, body].join('\n');
  const utf8 = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign']);
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, utf8.encode(signedText)));
  const headers = {
    'X-Tenant-ID': id,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  };
  return { signedText, headers };
}

export interface Call {
  readonly title: string;
  readonly tenant: Tenant;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The fault that the sandbox's wallet shows in this call. */
  readonly fault?: string | undefined;
}

/** Sends a signed call; a call without an answer is an exchange, too. */
export async function send({ title, tenant, path, body: fields, fault }: Call): Promise<Exchange> {
  const body = JSON.stringify(fields);
  const nonce = crypto.randomUUID();
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const { signedText, headers: signature } = await sign(tenant, { path, body }, { timestamp, nonce });
  const headers = {
    'Content-Type': 'application/json',
    ...signature,
    ...(fault !== undefined && { 'X-Request-Id': `fault.${fault}.${nonce.slice(0, 8)}` }),
  };
  const { transactionId } = fields as { transactionId?: string };
  const sent = { title, path, headers, signedText, body, transactionId };
  try {
    const response = await fetch(path, { method: 'POST', headers, body, cache: 'no-store' });
    const answerHeaders = SHOWN.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    const answer = await response.text();
    return { ...sent, status: response.status, answerHeaders: Object.fromEntries(answerHeaders), answer };
  } catch {
    return { ...sent, status: undefined, answerHeaders: {}, answer: '' };
  }
}
