import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { millisecondsOption, type Terminal, UsageError } from '../../terminal.js';
import { CERTIFICATION_HELP, CERTIFICATION_OPTIONS, certifyWith } from '../certification.js';
import { CLIENT_CASES } from './cases.js';
import { ClientRunner } from './client-runner.js';

export const CERTIFY_CLIENT_HELP = `croupier-provider certify-client [options] -- COMMAND [ARGUMENT…]

Certifies a client of the platform, in any language. A fake platform on this machine answers,
hangs, cuts connections, redirects, throttles and forges by a script for each case. For each
case COMMAND is run once, without a shell, with these variables:

  CROUPIER_BASE_URL, CROUPIER_TENANT, CROUPIER_SECRET   the fake platform's
  CROUPIER_BET, CROUPIER_WIN or CROUPIER_ROLLBACK       the transaction to send with retries, as
                            JSON: the fields in section 3 of the contract, without kind;
                            exactly one of the three is set
  CROUPIER_TIMEOUT_MS       the time-out to give each attempt

The last line that COMMAND prints is its verdict: approved, declined, not-booked (the round of a
BET may be voided) or unknown (the transaction may have been booked). Each request must contain
the given fields, the same bytes each time, a valid signature and a fresh nonce.

The reports name COMMAND with its arguments. Give secrets of your own to it in the environment,
which it inherits.

  --timeout-ms N           the most that one run may take, after which COMMAND is killed with the
                           processes that it started; default: 60000
  --attempt-ms N           CROUPIER_TIMEOUT_MS; default: 2000
${CERTIFICATION_HELP}`;

const OPTIONS = {
  'timeout-ms': { type: 'string', default: '60000' },
  'attempt-ms': { type: 'string', default: '2000' },
  ...CERTIFICATION_OPTIONS,
} as const;

const TENANT_ID = 'certify-client';

/** @throws UsageError, or what parseArgs throws, if the command cannot be carried out */
export async function certifyClient(args: string[], terminal: Terminal): Promise<number> {
  const { values, positionals: command } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const certification = { name: 'certify-client', cases: CLIENT_CASES, options: OPTIONS } as const;
  return certifyWith(certification, values, terminal, async () => {
    if (command.length === 0)
      throw new UsageError('The command that sends a transaction is missing: name it after --.');
    const client = {
      command,
      tenantId: TENANT_ID,
      secret: randomBytes(32).toString('base64url'),
      timeoutMs: millisecondsOption('timeout-ms', values['timeout-ms'], 1),
      attemptMs: millisecondsOption('attempt-ms', values['attempt-ms'], 1),
    };
    return { tested: new ClientRunner(client, terminal.now), tenantId: TENANT_ID, url: command.join(' ') };
  });
}
