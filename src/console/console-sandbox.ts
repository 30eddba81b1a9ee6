import { Injectable } from '@nestjs/common';

interface SandboxTenant {
  readonly id: string;
  readonly secret: string;
}

/** What the console's page Sandbox needs to sign requests as the sandbox's provider and operator, and to cause faults. */
export interface SandboxAccess {
  readonly provider: SandboxTenant;
  readonly operator: SandboxTenant;
  readonly games: readonly string[];
  /** The faults of the sandbox's wallet; a request whose id is `fault.<name>.<anything>` causes one. */
  readonly faults: readonly { readonly name: string; readonly does: string }[];
}

/** Set by `main.ts` once the sandbox runs; without a sandbox it stays closed. */
@Injectable()
export class ConsoleSandbox {
  private opened: SandboxAccess | undefined;

  get access(): SandboxAccess | undefined {
    return this.opened;
  }

  open({ provider, operator, games, faults }: SandboxAccess): void {
    this.opened = { provider, operator, games, faults };
  }
}
