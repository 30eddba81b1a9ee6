import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bytesIn, type Fields, fieldsOf, integerIn, messagesIn } from './protobuf.js';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: number;
}

/** A receiver of OTLP over HTTP with protobuf that records the spans. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  readonly headers: Record<string, unknown>[] = [];
  resource: Readonly<Record<string, unknown>> = {};
  /** The status of its answers. */
  status = 200;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpReceiver> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        receiver.headers.push(request.headers);
        if (receiver.status === 200 && request.url === '/v1/traces') {
          receiver.keep(fieldsOf(Buffer.concat(chunks)));
        }
        response.writeHead(receiver.status, { 'Content-Type': 'application/x-protobuf' }).end();
      });
    });
    const receiver = new OtlpReceiver(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace by name; several of one name are in the order of their end. */
  trace(traceId: string): Map<string, ReceivedSpan> {
    return new Map(this.spans.filter((span) => span.traceId === traceId).map((span) => [span.name, span]));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Field numbers are those of ExportTraceServiceRequest in opentelemetry/proto/collector/trace/v1. */
  private keep(request: Fields): void {
    for (const resourceSpans of messagesIn(request, 1)) {
      for (const resource of messagesIn(resourceSpans, 1)) this.resource = attributesIn(resource, 1);
      const spans = messagesIn(resourceSpans, 2).flatMap((scopeSpans) => messagesIn(scopeSpans, 2));
      this.spans.push(...spans.map(spanOf));
    }
  }
}

function spanOf(span: Fields): ReceivedSpan {
  const parentSpanId = bytesIn(span, 4).toString('hex');
  return {
    traceId: bytesIn(span, 1).toString('hex'),
    spanId: bytesIn(span, 2).toString('hex'),
    ...(parentSpanId && { parentSpanId }),
    name: bytesIn(span, 5).toString(),
    kind: Number(integerIn(span, 6)),
    startTimeUnixNano: String(integerIn(span, 7)),
    endTimeUnixNano: String(integerIn(span, 8)),
    attributes: attributesIn(span, 9),
    status: messagesIn(span, 15).map((status) => Number(integerIn(status, 3)))[0] ?? 0,
  };
}

/** Texts as strings, and integers as numbers; the service sends nothing else. */
function attributesIn(message: Fields, field: number): Record<string, unknown> {
  return Object.fromEntries(
    messagesIn(message, field).map((attribute) => {
      const [value] = messagesIn(attribute, 2);
      const text = value?.has(1) ? bytesIn(value, 1).toString() : Number(value && integerIn(value, 3));
      return [bytesIn(attribute, 1).toString(), text];
    }),
  );
}
