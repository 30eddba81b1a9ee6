import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import helmet from 'helmet';
import { AdminRoute } from '../admin/admin-route.js';
import { Unsigned } from '../api/caller.js';
import { headersOf } from '../api/security-headers.js';
import { type AdminJwt, Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { rateLimited } from '../errors/try-later.js';
import { DocumentBudget } from '../openapi/pages/document-budget.js';
import type { Representation } from '../openapi/pages/representation.js';
import { VERSION } from '../runtime/build.js';
import { ConsoleFiles } from './console-files.js';
import { ConsoleSandbox, type SandboxAccess } from './console-sandbox.js';

/**
 * Nothing is loaded from another origin, no script or style is inline, and no form is submitted by the browser. Calls go to
 * this service, and to the issuer where people sign in.
 */
function contentSecurity(adminJwt: AdminJwt | undefined): Record<string, string> {
  const issuer = adminJwt?.clientId === undefined ? [] : [new URL(adminJwt.issuer).origin];
  return headersOf(
    helmet.contentSecurityPolicy({
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'"],
        imgSrc: ["'self'", 'data:'],
        connectSrc: ["'self'", ...issuer],
        baseUri: ["'none'"],
        formAction: ["'none'"],
        frameAncestors: ["'none'"],
      },
    }),
  );
}

/** An asset may be cached for a year, because its name changes with its content. */
const UNCHANGING = { 'cache-control': 'public, max-age=31536000, immutable' };

/** The desk in a browser. The address is the page's state, so every address below /console is the same document. */
@ApiExcludeController()
@Unsigned()
@Controller('console')
export class ConsoleController {
  private readonly budget = new DocumentBudget();
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly files: ConsoleFiles,
    private readonly sandbox: ConsoleSandbox,
    private readonly configuration: Configuration,
  ) {
    // Old browsers know only X-Frame-Options.
    this.headers = { ...contentSecurity(configuration.adminJwt), 'x-frame-options': 'DENY' };
  }

  @Get('settings.json')
  settings(@Res({ passthrough: true }) response: Response): object {
    if (!this.files.index) throw new CroupierError('NOT_FOUND');
    response.setHeader('Cache-Control', 'no-store');
    const { sandbox, adminJwt } = this.configuration;
    return {
      environment: sandbox ? 'sandbox' : 'production',
      version: VERSION,
      ...(adminJwt?.clientId !== undefined && {
        issuer: {
          url: adminJwt.issuer,
          clientId: adminJwt.clientId,
          scope: adminJwt.scope,
          audience: adminJwt.audience,
        },
      }),
    };
  }

  /** Only in the sandbox: with the secrets, the browser signs as a provider and an operator would. */
  @Get('sandbox.json')
  @AdminRoute('readSandboxAccess', { role: 'operations', summary: 'Read the tenants of the sandbox' })
  sandboxAccess(@Res({ passthrough: true }) response: Response): SandboxAccess {
    const { access } = this.sandbox;
    if (!this.files.index || !access) throw new CroupierError('NOT_FOUND');
    response.setHeader('Cache-Control', 'no-store');
    return access;
  }

  @Get('assets/*name')
  asset(@Param('name') name: readonly string[], @Req() request: Request, @Res() response: Response): void {
    this.send(this.files.assets.get(name.join('/')), request, response, UNCHANGING);
  }

  @Get(['', '{*address}'])
  page(@Req() request: Request, @Res() response: Response): void {
    this.send(this.files.index, request, response);
  }

  private send(
    file: Representation | undefined,
    request: Request,
    response: Response,
    caching: object = {},
  ): void {
    const waitSeconds = this.budget.spend(request.ip ?? '');
    if (waitSeconds > 0) throw rateLimited(waitSeconds);
    if (!file) throw new CroupierError('NOT_FOUND');
    const { status, headers, body } = file.answer(request);
    response.writeHead(status, { ...this.headers, ...headers, ...caching }).end(body);
  }
}
