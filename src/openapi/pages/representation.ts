import accepts from 'accepts';
import type { IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { sha256 } from '../../runtime/digest.js';

/** Length of a version, in characters of the hash. */
const VERSION_LENGTH = 16;

interface Prepared {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Forms {
  readonly version: string;
  readonly plain: Prepared;
  readonly compressed: Prepared;
}

const EMPTY = Buffer.alloc(0);

/** A resource that never changes while the process runs, plain and compressed, each form with a strong ETag. */
export class Representation {
  private prepared: Forms | undefined;

  /** @param content renders the resource; called once */
  constructor(
    private readonly contentType: string,
    private readonly content: () => string | Buffer,
  ) {}

  /** A part of the resource's address that changes with its content. */
  get version(): string {
    return this.prepare().version;
  }

  /** Renders and compresses the resource, unless that was done before. */
  prepare(): Forms {
    this.prepared ??= preparedOf(this.contentType, Buffer.from(this.content()));
    return this.prepared;
  }

  /** Chooses the answer to a request: RFC 9110, sections 12.5.3 (Accept-Encoding) and 13.1.2 (If-None-Match). */
  answer(request: IncomingMessage): Prepared {
    const gzip = accepts(request).encoding(['gzip', 'identity']) === 'gzip';
    const { plain, compressed } = this.prepare();
    const chosen = gzip ? compressed : plain;
    if (!isKnown(chosen.headers['etag']!, request.headers['if-none-match'])) return chosen;
    const { etag, vary, 'cache-control': cacheControl } = chosen.headers as Record<string, string>;
    return {
      status: 304,
      headers: { etag: etag!, vary: vary!, 'cache-control': cacheControl! },
      body: EMPTY,
    };
  }
}

function preparedOf(contentType: string, body: Buffer): Forms {
  const hash = sha256(body).toString('base64url');
  const common = {
    'content-type': contentType,
    // A browser may store the resource: it contains no secret except a sandbox's session token. The ETag shows whether
    // an upgrade has changed the resource.
    'cache-control': 'no-cache',
    vary: 'Accept-Encoding',
  };
  const gzip = { 'content-encoding': 'gzip', etag: `"${hash}-gzip"` };
  return {
    version: hash.slice(0, VERSION_LENGTH),
    plain: ready({ ...common, etag: `"${hash}"` }, body),
    compressed: ready({ ...common, ...gzip }, gzipSync(body)),
  };
}

function ready(headers: Readonly<Record<string, string>>, body: Buffer): Prepared {
  return { status: 200, headers: { ...headers, 'content-length': String(body.length) }, body };
}

/** @param ifNoneMatch a list of ETags, compared weakly, or `*` */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = ifNoneMatch.split(',').map((entry) => entry.trim());
  return known.some((entry) => entry === '*' || entry === etag || entry === `W/${etag}`);
}
