/**
 * Runs in the reader's browser: signs what "Try it out" sends. Swagger passes what was typed into Authorize as a Basic
 * header, which is replaced by the signature before anything leaves the browser.
 */
globalThis.signForCroupier = async (request) => {
  const authorization = request.headers.Authorization ?? '';
  if (!authorization.startsWith('Basic ')) return request;
  delete request.headers.Authorization;
  const { subtle } = globalThis.crypto;
  if (!subtle) refuse('A browser signs on https and on localhost only.');
  const typed = atob(authorization.slice('Basic '.length));
  const [tenantId, secret] = [typed.slice(0, typed.indexOf(':')), typed.slice(typed.indexOf(':') + 1)];

  const body = request.body ?? '';
  if (typeof body !== 'string') refuse('Only a text can be signed.');
  const { pathname, search } = new URL(request.url, globalThis.location?.href);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const nonce = globalThis.crypto.randomUUID();
  const canonical = [request.method.toUpperCase(), pathname + search, timestamp, nonce, body].join('\n');

  const utf8 = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await subtle.importKey('raw', utf8.encode(secret), algorithm, false, ['sign']);
  const signature = new Uint8Array(await subtle.sign('HMAC', key, utf8.encode(canonical)));
  Object.assign(request.headers, {
    'X-Tenant-ID': tenantId,
    'X-Timestamp': timestamp,
    'X-Nonce': nonce,
    'X-Signature': Array.from(signature, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  });
  return request;
};

/** Sends nothing and alerts the reader, because Swagger would show no message. */
function refuse(reason) {
  globalThis.alert?.(reason);
  throw new Error(reason);
}
