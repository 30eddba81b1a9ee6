import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type Request,
  type RequestHandler,
  type Response,
  type Router,
} from 'express';
import { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Configuration } from '../config/configuration.js';
import { cutOff } from '../api/cut-off.js';
import { answerWith } from '../api/error-answer.js';
import { CroupierError } from '../errors/croupier-error.js';
import { AddressLimit } from './address-limit.js';
import { clientAddress, trustOf } from './client-address.js';
import { createNodeServer, type ServerObserver } from './node-server.js';
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from './server-limits.js';

/** Runs for every request that reaches the application, before routing; `next` routes the request. */
export type FirstHandler = (request: Request, response: Response, next: () => void) => void;

type AdapterOptions = Pick<Configuration, 'trustProxy' | 'maxConnectionsPerAddress'>;

/**
 * Express on the bounded Node server, made faster with public APIs only. Requests and responses are created with
 * Express's prototypes, which stock Express sets on each object afterwards. Answers are written without parsing their
 * Content-Type. docs/performance.md has the figures.
 */
export class CroupierExpressAdapter extends ExpressAdapter {
  /** Set by the application. Sees every request, including those for unknown routes. */
  firstHandler: FirstHandler = (_request, _response, next) => next();
  observer: ServerObserver = { reportMalformed: () => '', connectionDestroyed: () => undefined };
  /**
   * Set by the application. Whether each answer closes its connection, as during a stop. Clients then open their next
   * connections to another instance, and no connection is reset.
   */
  closesConnections = (): boolean => false;
  /** Routes that are tried after the routes of all controllers, so that they do not delay other requests. */
  readonly lastRoutes: Router = express.Router({ caseSensitive: true, strict: true });

  private readonly limits: ServerLimits;
  private readonly addresses: AddressLimit;

  constructor({ trustProxy, maxConnectionsPerAddress }: AdapterOptions, limits: Partial<ServerLimits> = {}) {
    const application = express();
    // Set before the base class registers its middleware. Registering creates the router, which ignores later changes
    // to the routing settings.
    application.enable('case sensitive routing').enable('strict routing');
    application.disable('x-powered-by').disable('etag');
    application.set('trust proxy', trustProxy.length > 0 && [...trustProxy]);
    super(application);
    this.limits = { ...DEFAULT_SERVER_LIMITS, ...limits };
    this.addresses = new AddressLimit(maxConnectionsPerAddress, trustOf(application));
  }

  override initHttpServer(): void {
    const application = this.getInstance<Express>();
    const server = createNodeServer(
      messageClassesOf(application, () => this.closesConnections()),
      (request, response) => {
        request.originalUrl = request.url;
        this.firstHandler(request, response, () => {
          const url = routableUrl(request.url);
          const notFound = () => answerWith(new CroupierError('NOT_FOUND'), response);
          if (url === undefined) return notFound();
          request.url = url;
          application(request, response, (error?: unknown) => {
            // Express finds no path in some targets, and tries no route then.
            if (error === undefined) notFound();
            // Nest's error handler has failed.
            else cutOff(response);
          });
        });
      },
      this.limits,
      this.addresses,
      {
        reportMalformed: (status, offeredId) => this.observer.reportMalformed(status, offeredId),
        connectionDestroyed: (reason, address) => this.observer.connectionDestroyed(reason, address),
      },
    );
    this.setHttpServer(server);
  }

  override setNotFoundHandler(handler: RequestHandler): void {
    // Registered in `lastRoutes`, because that router would otherwise answer OPTIONS with a list of its own methods.
    this.lastRoutes.use(handler);
    this.getInstance<Express>().use(this.lastRoutes);
  }

  /** Writes the answer with its length. Express would also parse the Content-Type, in order to add a charset. */
  override reply(response: Response, body: unknown, status?: number): unknown {
    if (status !== undefined) response.statusCode = status;
    if (body instanceof StreamableFile) return super.reply(response, body);
    // A 204 has no Content-Length: RFC 9110, section 8.6.
    if (response.statusCode === 204) return response.end();
    if (body === undefined || body === null) return response.setHeader('Content-Length', 0).end();
    const isText = typeof body === 'string';
    if (!response.hasHeader('Content-Type')) {
      response.setHeader(
        'Content-Type',
        isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
      );
    }
    const text = isText ? body : JSON.stringify(body);
    return response.setHeader('Content-Length', Buffer.byteLength(text)).end(text);
  }

  override status(response: Response, status: number): unknown {
    response.statusCode = status;
    return response;
  }

  override setHeader(response: Response, name: string, value: string): unknown {
    return response.setHeader(name, value);
  }
}

/**
 * Classes whose instances already have the prototypes that Express sets on every request and response. Setting the
 * prototype that an object already has does nothing; changing it would make all later property accesses slow.
 */
function messageClassesOf(application: Express, closesConnections: () => boolean) {
  const isTrusted = trustOf(application);
  class ExpressRequest extends IncomingMessage {
    /** Express itself takes an entry of X-Forwarded-For as it is, even with a port or without an address. */
    get ip(): string | undefined {
      const { 'x-forwarded-for': forwardedFor } = this.headers as { 'x-forwarded-for'?: string };
      return clientAddress(this.socket.remoteAddress, forwardedFor, isTrusted);
    }
  }
  class ExpressResponse extends ServerResponse {
    override writeHead(...head: [status: number, ...unknown[]]): this {
      if (closesConnections()) this.setHeader('Connection', 'close');
      return super.writeHead(...(head as [number]));
    }
  }
  Object.setPrototypeOf(ExpressRequest.prototype, application.request);
  Object.setPrototypeOf(ExpressResponse.prototype, application.response);
  application.request = ExpressRequest.prototype as Request;
  application.response = ExpressResponse.prototype as unknown as Response;
  return {
    IncomingMessage: ExpressRequest as typeof IncomingMessage & (new (socket: Socket) => Request),
    ServerResponse: ExpressResponse as unknown as typeof ServerResponse<Request> &
      (new (request: Request) => Response),
  };
}

/** Percent-encoded unreserved characters, which mean the same unencoded: RFC 3986, section 2.3. */
const UNRESERVED = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/gi;

/** Each address below has the same document, which tells a person that an address is cut off. */
const CONSOLE = '/console/';

/**
 * The request target for routing. Unreserved characters are decoded here, because Express does not decode the path
 * before it compares the path with the routes.
 * @returns undefined if the path cannot be decoded, or the target has a fragment, which the signature covers but
 *   Express ignores
 */
function routableUrl(url: string): string | undefined {
  if (url.includes('#')) return undefined;
  if (!url.includes('%')) return url;
  const path = pathOf({ originalUrl: url });
  try {
    decodeURIComponent(path);
  } catch {
    return path.startsWith(CONSOLE) ? CONSOLE : undefined;
  }
  return path.replace(UNRESERVED, decodeURIComponent) + url.slice(path.length);
}

export function pathOf({ originalUrl }: Pick<Request, 'originalUrl'>): string {
  return originalUrl.split('?', 1)[0] ?? originalUrl;
}
