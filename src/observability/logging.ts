import { Module } from '@nestjs/common';
import { LoggerModule } from 'nestjs-pino';
import { type DestinationStream, pino } from 'pino';
import { Configuration } from '../config/configuration.js';
import { currentRequestId } from './trace.js';

/** What must never stand in a log, wherever an object that holds it is logged. */
const REDACTED = [
  ...['secret', 'sessionToken', 'launchUrl', 'key', 'adminApiKey', 'password', 'sealedSecret'],
  ...['authorization', 'Authorization', '["x-signature"]', '["X-Signature"]'],
];

/** Where the lines go: standard output, unless something else is put in its place. */
export abstract class LogDestination {
  readonly stream?: DestinationStream;
}

@Module({ providers: [{ provide: LogDestination, useValue: {} }], exports: [LogDestination] })
class LogDestinationModule {}

/** The framework's own words at start, of interest to nobody; what it fails at it throws as well. */
const CHATTER = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** Lines that wait for a slow reader, in bytes. */
const WAITING_BYTES = 16 * 1024 * 1024;
/** Lines are written when they are so many bytes together, */
const WRITTEN_BYTES = 4096;
/** or so often, in milliseconds: a write wakes another thread, which costs more than the line. */
const WRITTEN_EVERY_MS = 200;

/** JSON lines for machines, readable ones for a terminal; each bears the id of its request. */
export const Logging = LoggerModule.forRootAsync({
  imports: [LogDestinationModule],
  inject: [Configuration, LogDestination],
  useFactory: (configuration: Configuration, destination: LogDestination) => ({
    // The service writes one line of its own for each request.
    forRoutes: [],
    pinoHttp: {
      level: configuration.logLevel,
      timestamp: pino.stdTimeFunctions.isoTime,
      base: null,
      redact: { paths: REDACTED.flatMap(redactedAnywhere), censor: '[redacted]' },
      hooks: {
        logMethod(line, write) {
          const { context } = (line[0] ?? {}) as { context?: string };
          if (!CHATTER.has(context ?? '')) write.apply(this, line);
        },
      },
      mixin: () => {
        const requestId = currentRequestId();
        return requestId === undefined ? {} : { requestId };
      },
      ...(configuration.logPretty && {
        transport: { target: 'pino-pretty', options: { singleLine: true, ignore: 'pid,hostname' } },
      }),
      ...(!configuration.logPretty && { stream: destination.stream ?? standardOutput() }),
    },
  }),
});

/**
 * Lines go out together, and whoever does not read them stops nobody: what waits has a bound, beyond which lines are
 * lost. They are flushed when the process ends, unless it is killed.
 */
function standardOutput(): DestinationStream {
  const output = pino.destination({
    fd: 1,
    sync: false,
    minLength: WRITTEN_BYTES,
    periodicFlush: WRITTEN_EVERY_MS,
    maxLength: WAITING_BYTES,
  });
  // A full disk or a reader that went away costs log lines, never the service. Flushing at exit would retry for ever.
  return output.on('error', () => (output.flushSync = () => undefined));
}

/** As a field of the line and of an object in it; a third level would triple what a line costs. */
function redactedAnywhere(name: string): string[] {
  return [name, name.startsWith('[') ? `*${name}` : `*.${name}`];
}
