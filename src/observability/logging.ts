import { Injectable, type LoggerService } from '@nestjs/common';
import {
  type DestinationStream,
  type Level,
  type Logger as PinoLogger,
  type LoggerOptions,
  pino,
} from 'pino';
import sonicBoom from 'sonic-boom';
import { Configuration } from '../config/configuration.js';
import { monotonicMs } from '../runtime/clock.js';
import { visibleJson, visibleParsedJson } from '../runtime/visible.js';
import { currentLogFields } from './trace.js';

/** Fields whose values are redacted; `redactionPaths` sets the depth. */
const REDACTED = [
  'secret',
  'sessionToken',
  'launchUrl',
  'key',
  'adminApiKey',
  'password',
  'encryptedSecret',
  'authorization',
  'Authorization',
  '["x-signature"]',
  '["X-Signature"]',
];

/** Fields of a database error that contain the statement's values or the refused row. */
const STATEMENT_VALUES = ['err.parameters', 'err.detail', 'err.driverError.detail'];

/** The stream to which log lines are written; standard output by default. */
@Injectable()
export class LogDestination {
  readonly stream?: DestinationStream;
}

/**
 * Contexts under which Nest reports its progress at start. Their lines are not logged. No error is lost, because a
 * failed start throws.
 */
const OMITTED_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/**
 * Contexts whose lines are the evidence that the audit log was not altered. They are written whatever LOG_LEVEL is, unless
 * it is `silent`.
 */
const EVIDENCE_CONTEXTS = new Set(['Audit', 'AuditHead']);

/** Maximum size, in bytes, of the buffer for lines that standard output does not accept yet; further lines are lost. */
const BUFFER_LIMIT_BYTES = 16 * 1024 * 1024;
/**
 * Lines are written in chunks of at least this many bytes, or at this interval in milliseconds, because waking the
 * writing thread costs more than formatting a line.
 */
const CHUNK_BYTES = 4096;
const FLUSH_INTERVAL_MS = 200;
/** How long the process waits at its end for a reader that stalls, in milliseconds. */
const LAST_WRITE_MS = 2_000;

/** The service's logger. It writes JSON lines, or readable lines for a terminal, each with the id of its request. */
@Injectable()
export class ServiceLogger implements LoggerService {
  readonly pino: PinoLogger;
  private readonly evidence: PinoLogger;
  readonly verbose = this.writerOf('trace');
  readonly debug = this.writerOf('debug');
  readonly log = this.writerOf('info');
  readonly warn = this.writerOf('warn');
  readonly error = this.writerOf('error');
  readonly fatal = this.writerOf('fatal');

  constructor(configuration: Configuration, destination: LogDestination) {
    const options = optionsFor(configuration);
    this.pino = configuration.logPretty
      ? pino(options, readable())
      : pino(options, destination.stream ?? standardOutput());
    this.evidence = configuration.logLevel === 'silent' ? this.pino : this.pino.child({}, { level: 'info' });
  }

  /**
   * @returns a function with the parameters that Nest passes: the context comes last, and an error's stack before it
   */
  private writerOf(level: Level) {
    return (message: string | object, ...parameters: unknown[]): void => {
      const context = parameters.at(-1);
      if (OMITTED_CONTEXTS.has(context as string)) return;
      const logger = EVIDENCE_CONTEXTS.has(context as string) ? this.evidence : this.pino;
      const [stack] = parameters.slice(0, -1);
      if (message instanceof Error) logger[level]({ context, err: message });
      else if (typeof message === 'object') logger[level]({ context, ...message });
      else if (typeof stack === 'string') logger[level]({ context, stack }, message);
      else logger[level]({ context }, message);
    };
  }
}

/** Readable lines. If their terminal is closed, they are lost, but the process must stop in good order. */
function readable(): DestinationStream {
  const format = { singleLine: true, ignore: 'pid,hostname' };
  const transport = pino.transport({ target: 'pino-pretty', options: format });
  return transport.on('error', () => undefined);
}

function optionsFor({ logLevel, logPretty }: Configuration): LoggerOptions {
  return {
    level: logLevel,
    timestamp: pino.stdTimeFunctions.isoTime,
    base: null,
    redact: { paths: [...REDACTED.flatMap(redactionPaths), ...STATEMENT_VALUES], censor: '[redacted]' },
    mixin: currentLogFields,
    hooks: { streamWrite: logPretty ? visibleParsedJson : visibleJson },
  };
}

/**
 * Buffered standard output: a reader that stalls does not block the service. The buffer is flushed when the process
 * ends, unless it is killed.
 */
function standardOutput(): DestinationStream {
  let giveUpMs = Infinity;
  const output = new sonicBoom.SonicBoom({
    fd: 1,
    sync: false,
    minLength: CHUNK_BYTES,
    periodicFlush: FLUSH_INTERVAL_MS,
    maxLength: BUFFER_LIMIT_BYTES,
    retryEAGAIN: () => monotonicMs() < giveUpMs,
  });
  // If the disk is full or the reader is gone, log lines are lost, but the service must neither stop nor hang.
  output.on('error', () => undefined);
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    giveUpMs = monotonicMs() + LAST_WRITE_MS;
    try {
      flushSync();
    } catch {
      // The lines are lost.
    } finally {
      giveUpMs = Infinity;
    }
  };
  process.once('exit', () => output.flushSync());
  return output;
}

/**
 * Paths that redact a field of a line and of the objects directly in it. A third level would triple the cost of a line.
 */
function redactionPaths(name: string): string[] {
  return [name, name.startsWith('[') ? `*${name}` : `*.${name}`];
}
