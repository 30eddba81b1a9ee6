import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  createTraceState,
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TracingConfiguration } from '../config/tracing-variables.js';
import { failureText } from '../runtime/failure-text.js';
import { ActiveSpan, newTrace, runTraced } from './trace.js';

interface ExportingProvider extends TracerProvider {
  /** Exports the waiting spans. Never rejects, and ends within two seconds. */
  shutdown(): Promise<void>;
}

/** Starts the root spans of requests and background work. Without a provider, tracing is off. Contract, section 10. */
@Injectable()
export class Tracing implements OnApplicationShutdown {
  constructor(private readonly provider?: ExportingProvider) {}

  /**
   * Starts the span of a request. If the request has a valid `traceparent`, the span continues the caller's trace.
   * @returns undefined if tracing is off
   */
  startRequest(headers: IncomingHttpHeaders): ActiveSpan | undefined {
    return this.provider && this.start(this.provider, 'request', SpanKind.SERVER, callersContext(headers));
  }

  /**
   * Runs background work, in a span of its own if tracing is on.
   * @param requestId identifies the work in its log lines and outgoing calls, like the id of a request
   * @param fields fields of the work's log lines and span
   */
  async runWork<T>(
    name: string,
    requestId: string,
    fields: Readonly<Record<string, string>>,
    work: () => Promise<T>,
  ): Promise<T> {
    const span = this.provider && this.start(this.provider, name, SpanKind.INTERNAL, ROOT_CONTEXT);
    const trace = newTrace(requestId, { span, origin: () => fields });
    try {
      return await runTraced(trace, work);
    } finally {
      const ids = Object.entries(fields).map(([field, value]) => [`croupier.${field}`, value] as const);
      span?.end({ 'croupier.requestId': requestId, ...Object.fromEntries(ids) });
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.provider?.shutdown();
  }

  private start(provider: TracerProvider, name: string, kind: SpanKind, parent: Context): ActiveSpan {
    const tracer = provider.getTracer('croupier');
    const span = tracer.startSpan(name, { kind }, parent);
    return new ActiveSpan(tracer, span, trace.setSpan(parent, span));
  }
}

/** W3C Trace Context, level 1: later versions may append fields. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** An invalid header counts as absent. */
function callersContext({ traceparent, tracestate }: IncomingHttpHeaders): Context {
  if (typeof traceparent !== 'string') return ROOT_CONTEXT;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  const context = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(typeof tracestate === 'string' && { traceState: createTraceState(tracestate) }),
  };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

/** Maximum number of spans that wait for export; further ones are lost. */
const QUEUE_LIMIT = 4_096;
const BATCH_SPANS = 512;
/** Export interval, in milliseconds. */
const EXPORT_EVERY_MS = 1_000;
/** Time-out of an export, in milliseconds. */
const EXPORT_TIMEOUT_MS = 3_000;
/** How long a stop waits for the last export, in milliseconds. */
const STOP_MS = 1_500;

/**
 * Loads OpenTelemetry's SDK, which nothing else imports, and exports spans as OTLP over HTTP. Protobuf takes a quarter
 * of the CPU time of JSON.
 * @param instanceId distinguishes instances of the service
 */
export async function exportingProvider(
  { endpoint, headers, serviceName, sampleRatio }: TracingConfiguration,
  instanceId: string,
): Promise<ExportingProvider> {
  const sdk = await import('@opentelemetry/sdk-trace-base');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.instance.id': instanceId }),
    // If the caller sent a trace, the caller's decision whether to sample applies to our spans, too.
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new sdk.BatchSpanProcessor(new ReportingExporter(exporter), {
        maxQueueSize: QUEUE_LIMIT,
        maxExportBatchSize: BATCH_SPANS,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  return {
    getTracer: (name, version) => provider.getTracer(name, version),
    shutdown: () =>
      Promise.race([
        provider.shutdown().catch((): void => undefined),
        sleep(STOP_MS, undefined, { ref: false }),
      ]),
  };
}

type Callback = Parameters<SpanExporter['export']>[1];

/** Logs one line when exports begin to fail, however many fail, and one when they succeed again. */
class ReportingExporter implements SpanExporter {
  private readonly logger = new Logger('Tracing');
  private reportedLost = false;

  constructor(private readonly exporter: SpanExporter) {}

  export(spans: ReadableSpan[], callback: Callback): void {
    this.exporter.export(spans, (result) => {
      this.report(result.error);
      callback(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private report(error: Error | undefined): void {
    const lost = error !== undefined;
    if (lost === this.reportedLost) return;
    this.reportedLost = lost;
    if (lost) this.logger.warn({ msg: 'spans cannot be exported and are lost', detail: failureText(error) });
    else this.logger.log({ msg: 'spans are exported again' });
  }
}
