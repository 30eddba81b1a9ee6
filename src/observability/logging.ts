import { LoggerModule } from 'nestjs-pino';
import { pino } from 'pino';
import { Configuration } from '../config/configuration.js';
import { currentRequestId } from './trace.js';

/** What must never stand in a log, wherever an object that holds it is logged. */
const REDACTED = ['secret', 'sessionToken', 'adminApiKey', 'authorization', 'password'];

/** The framework's own words at start, of interest to nobody; what it fails at it throws as well. */
const CHATTER = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

/** JSON lines for machines, readable ones for a terminal; each bears the id of its request. */
export const Logging = LoggerModule.forRootAsync({
  inject: [Configuration],
  useFactory: (configuration: Configuration) => ({
    // The service writes one line of its own for each request.
    forRoutes: [],
    pinoHttp: {
      level: configuration.logLevel,
      timestamp: pino.stdTimeFunctions.isoTime,
      base: null,
      redact: { paths: REDACTED.flatMap((name) => [name, `*.${name}`]), censor: '[redacted]' },
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
    },
  }),
});
