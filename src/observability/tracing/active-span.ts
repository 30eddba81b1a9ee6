import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';

export type { Attributes };

/** A span that has not ended, and can have child spans. Instants are milliseconds of the monotonic clock. */
export class ActiveSpan {
  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    /** The context in which this span is current. */
    private readonly context: Context,
  ) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  /** W3C Trace Context headers for the counterpart that is called within this span. */
  headers(): Record<string, string> {
    const { traceId, spanId, traceFlags, traceState } = this.span.spanContext();
    const sampled = (traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01';
    const state = traceState?.serialize();
    return { traceparent: `00-${traceId}-${spanId}-${sampled}`, ...(state && { tracestate: state }) };
  }

  /** Starts a span for a call to a counterpart. If the trace is not sampled, returns undefined, which costs nothing. */
  startCall(name: string): ActiveSpan | undefined {
    if (!this.span.isRecording()) return undefined;
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT }, this.context);
    return new ActiveSpan(this.tracer, span, trace.setSpan(this.context, span));
  }

  /** Records a child span that has already ended. */
  record(name: string, startedMs: number, endedMs: number): void {
    if (!this.span.isRecording()) return;
    this.tracer.startSpan(name, { startTime: startedMs }, this.context).end(endedMs);
  }

  get recording(): boolean {
    return this.span.isRecording();
  }

  /** @param failed whether the span ended with a fault of Croupier or a counterpart; a refusal is no fault */
  end(attributes: Attributes, { name, failed = false }: { name?: string; failed?: boolean } = {}): void {
    if (name !== undefined) this.span.updateName(name);
    if (failed) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.setAttributes(attributes).end();
  }
}
