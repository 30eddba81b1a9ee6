import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { AdminRoute } from '../admin/admin-route.js';
import { Unsigned } from '../api/caller.js';
import { Configuration } from '../config/configuration.js';
import { CroupierError } from '../errors/croupier-error.js';
import { contentSecurity, DocumentSender, UNCHANGING } from '../openapi/pages/document-sender.js';
import type { Representation } from '../openapi/pages/representation.js';
import { VERSION } from '../runtime/build.js';
import { ConsoleFiles } from './console-files.js';
import { ConsoleSandbox, type SandboxAccess } from './console-sandbox.js';

/** The desk in a browser. The address is the page's state, so every address below /console is the same document. */
@ApiExcludeController()
@Unsigned()
@Controller('console')
export class ConsoleController {
  private readonly sender: DocumentSender;

  constructor(
    private readonly files: ConsoleFiles,
    private readonly sandbox: ConsoleSandbox,
    private readonly configuration: Configuration,
  ) {
    const { adminJwt } = configuration;
    // People sign in at the issuer.
    const calls = adminJwt?.clientId === undefined ? [] : [new URL(adminJwt.issuer).origin];
    // Old browsers know only X-Frame-Options.
    this.sender = new DocumentSender({ ...contentSecurity({ calls }), 'x-frame-options': 'DENY' });
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
    if (!file) throw new CroupierError('NOT_FOUND');
    this.sender.send(request, response, file, caching);
  }
}
