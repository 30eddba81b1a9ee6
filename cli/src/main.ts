import { visibleText } from '@croupier/provider-sdk';
import { CERTIFY_CLIENT_HELP, certifyClient } from './certify/client/certify-client.js';
import { CERTIFY_OPERATOR_HELP, certifyOperator } from './certify/operator/certify-operator.js';
import { CERTIFY_HELP, certify } from './certify/provider/certify-provider.js';
import { VERIFY_CERTIFICATE_HELP, verifyCertificate } from './certify/verify-certificate.js';
import { DEBUG_SIGNATURE_HELP, debugSignature } from './debug/debug-signature.js';
import { LAUNCH_HELP, launch } from './sandbox/launch.js';
import { REGISTER_HELP, register } from './sandbox/register.js';
import { EXIT, type Terminal, UsageError } from './terminal.js';
import { VERSION } from './version.js';

const HELP = `croupier-provider COMMAND [options]

  certify             runs every callback scenario against a provider's server
  certify-operator    runs every case of the wallet contract against an operator's wallet
  certify-client      runs a client of the platform against a fake platform that misbehaves
  verify-certificate  checks that a certificate is as a certification wrote it
  register            registers your server with a sandbox platform on this machine
  launch              launches a session of that sandbox to play with
  debug-signature     explains why a signature is refused

croupier-provider COMMAND --help shows the options of a command, and so does help COMMAND;
croupier-provider --version prints the version.`;

const COMMANDS = new Map([
  ['certify', { help: CERTIFY_HELP, run: certify }],
  ['certify-operator', { help: CERTIFY_OPERATOR_HELP, run: certifyOperator }],
  ['certify-client', { help: CERTIFY_CLIENT_HELP, run: certifyClient }],
  ['verify-certificate', { help: VERIFY_CERTIFICATE_HELP, run: verifyCertificate }],
  ['register', { help: REGISTER_HELP, run: register }],
  ['launch', { help: LAUNCH_HELP, run: launch }],
  ['debug-signature', { help: DEBUG_SIGNATURE_HELP, run: debugSignature }],
]);

/** Carries out a command line and resolves with the exit status. Never rejects. */
export async function main(args: string[], terminal: Terminal = processTerminal()): Promise<number> {
  const [name = '', ...rest] = args;
  if (name === '--version') {
    terminal.print(VERSION);
    return EXIT.ok;
  }
  const topic = name === 'help' ? rest[0] : name;
  const asksForHelp = name === 'help' || optionsIn(args).some(isHelpOption);
  if (asksForHelp && (topic === undefined || isHelpOption(topic))) {
    terminal.print(HELP);
    return EXIT.ok;
  }
  const command = COMMANDS.get(topic ?? '');
  if (!command) {
    terminal.complain(topic ? `There is no command "${visibleText(topic)}".\n\n${HELP}` : HELP);
    return EXIT.usage;
  }
  if (asksForHelp) {
    terminal.print(command.help);
    return EXIT.ok;
  }
  try {
    return await command.run(rest, terminal);
  } catch (error) {
    const isUsageError = error instanceof UsageError || codeOf(error)?.startsWith('ERR_PARSE_ARGS') === true;
    const more = isUsageError ? `\nSee: croupier-provider ${name} --help` : '';
    // The message may quote a file, an answer or a command line that somebody else wrote.
    const message = visibleText(isUsageError ? withoutAdvice((error as Error).message) : String(error));
    terminal.complain(message + more);
    return EXIT.usage;
  }
}

function isHelpOption(arg: string): boolean {
  return arg === '--help' || arg === '-h';
}

/** The words before `--`: those after it are a command line of the user, with options of its own. */
function optionsIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
}

/** Where a command takes words without dashes, Node adds advice to an unknown option that lacks its last quotation mark. */
function withoutAdvice(message: string): string {
  return message.replace(/\. To specify a positional argument .*$/s, '');
}

function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function processTerminal(): Terminal {
  return {
    print: (text) => process.stdout.write(`${text}\n`),
    complain: (text) => process.stderr.write(`${text}\n`),
    environment: process.env,
    colours: process.stdout.isTTY && process.stdout.hasColors(),
    now: Date.now,
    usedMs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    },
    progress: process.stderr.isTTY
      ? (line) => process.stderr.write(`\r${CLEAR_LINE}${visibleText(line)}`)
      : undefined,
  };
}

const CLEAR_LINE = '\u001b[K';
