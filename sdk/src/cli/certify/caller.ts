import { randomBytes } from 'node:crypto';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { CALLBACK_ROUTES, type CallbackName } from '../../callbacks.js';
import { signRequest } from '../../signature.js';
import { Unmet } from './outcome.js';

export interface ProviderUnderTest {
  /** As it is registered with the platform. */
  webhookBaseUrl: URL;
  tenantId: string;
  secret: string;
  playerRef: string;
  gameId: string;
  currency: string;
  /** Minor units. */
  betAmountMinor: number;
  /** Below webhookBaseUrl, where a signed call plays one spin of a batch; undefined where there is no such thing. */
  playPath: string | undefined;
  /** The most a call may take, in milliseconds. */
  timeoutMs: number;
  /** How long a slow body pauses halfway, in milliseconds. */
  slowMs: number;
}

/** In which way a call is not as the platform sends it. All else is. */
export interface Deviation {
  tenantId?: string;
  secret?: string;
  nonce?: string;
  /** The text of the header; it is signed. */
  timestamp?: string;
  signedMethod?: string;
  signedRoute?: CallbackName;
  signedBody?: string;
  /** Behind the path, and not signed. */
  query?: string;
  /** What is done to the headers once they are signed. */
  headers?: (signed: Record<string, string>) => Record<string, string>;
  /** Pauses between the halves of the body, in milliseconds. */
  pauseMs?: number;
}

export interface Reply {
  status: number;
  text: string;
  /** Undefined where the body is no JSON object. */
  json: Record<string, unknown> | undefined;
}

/** As the platform reads at most, in bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** Calls a provider as the platform does, or nearly so. */
export class Caller {
  private readonly run = randomBytes(4).toString('hex');
  private ids = 0;
  /** How many calls were answered so far. */
  answered = 0;

  /** @param nowMs Unix time in milliseconds */
  constructor(
    readonly provider: ProviderUnderTest,
    private readonly nowMs: () => number,
  ) {}

  /** An identifier that was never used before. */
  fresh(what: string): string {
    this.ids += 1;
    return `certify-${this.run}-${what}-${this.ids}`;
  }

  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  /**
   * Makes one call and answers its reply, whatever its status.
   * @param body an object is sent as JSON, a text as it is
   * @throws Unmet when there is no answer in time
   */
  call(name: CallbackName, body: object | string, deviation: Deviation = {}): Promise<Reply> {
    return this.post(CALLBACK_ROUTES[name], body, deviation);
  }

  /** Plays one spin. @throws Unmet when there is no answer in time */
  play(batch: object): Promise<Reply> {
    return this.post(this.provider.playPath ?? '', batch, {});
  }

  private async post(route: string, content: object | string, deviation: Deviation): Promise<Reply> {
    const { webhookBaseUrl, tenantId, secret } = this.provider;
    const basePath = webhookBaseUrl.pathname.replace(/(?<!\/)\/+$/, '');
    const body = typeof content === 'string' ? content : JSON.stringify(content);
    const signedRoute = deviation.signedRoute === undefined ? route : CALLBACK_ROUTES[deviation.signedRoute];
    const signed = signRequest({
      method: deviation.signedMethod ?? 'POST',
      path: basePath + signedRoute,
      body: deviation.signedBody ?? body,
      tenantId: deviation.tenantId ?? tenantId,
      secret: deviation.secret ?? secret,
      nonce: deviation.nonce ?? randomBytes(16).toString('hex'),
      now: Number(deviation.timestamp ?? this.nowSeconds()),
    });
    const headers = { 'Content-Type': 'application/json', ...signed };
    const path = basePath + route + (deviation.query ?? '');
    try {
      const reply = await this.send(path, deviation.headers?.(headers) ?? headers, body, deviation.pauseMs);
      this.answered += 1;
      return reply;
    } catch (error) {
      throw new Unmet('an answer', `none: ${(error as Error).message || String(error)}`);
    }
  }

  private send(
    path: string,
    headers: Record<string, string>,
    body: string,
    pauseMs: number | undefined,
  ): Promise<Reply> {
    const { webhookBaseUrl, timeoutMs } = this.provider;
    const send = webhookBaseUrl.protocol === 'https:' ? requestHttps : requestHttp;
    const bytes = Buffer.from(body);
    const half = bytes.length >> 1;
    return new Promise((resolve, reject) => {
      const options = { method: 'POST', path, headers: { ...headers, 'Content-Length': bytes.length } };
      const call = send(webhookBaseUrl.origin, options, (response) => {
        const chunks: Buffer[] = [];
        let length = 0;
        response.on('data', (chunk: Buffer) => {
          length += chunk.length;
          if (length > MAX_ANSWER_BYTES)
            call.destroy(new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`));
          chunks.push(chunk);
        });
        response.on('end', () =>
          resolve(replyOf(response.statusCode ?? 0, Buffer.concat(chunks).toString())),
        );
        response.on('error', reject);
      });
      const timer = setTimeout(() => call.destroy(new Error(`not within ${timeoutMs} ms`)), timeoutMs);
      call.on('error', reject);
      call.on('close', () => clearTimeout(timer));
      if (pauseMs === undefined) return void call.end(bytes);
      call.write(bytes.subarray(0, half));
      setTimeout(() => call.end(bytes.subarray(half)), pauseMs);
    });
  }
}

function replyOf(status: number, text: string): Reply {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  return { status, text, json: isObject ? (json as Record<string, unknown>) : undefined };
}
