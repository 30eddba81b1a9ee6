import { ConfigurationError, type Reader } from './variable-reader.js';

export interface TracingConfiguration {
  /** Base URL of an OTLP receiver for HTTP; `/v1/traces` is appended. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string;
  /** Sampling ratio, 0 … 1, for requests that arrive without a trace. */
  readonly sampleRatio: number;
}

/**
 * Reads the variables of OpenTelemetry; undefined if no receiver is configured.
 * @throws ConfigurationError
 */
export function tracing(read: Reader): TracingConfiguration | undefined {
  const endpoint = read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']);
  const ratio = read.text('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  if (!/^\d(?:\.\d{1,9})?$/.test(ratio) || Number(ratio) > 1) {
    throw new ConfigurationError('OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1');
  }
  const headers = otlpHeaders(read.text('OTEL_EXPORTER_OTLP_HEADERS') ?? '');
  const serviceName = read.text('OTEL_SERVICE_NAME') ?? 'croupier';
  return endpoint === undefined ? undefined : { endpoint, headers, serviceName, sampleRatio: Number(ratio) };
}

/** @param list `name=value,name=value`, the values percent-encoded */
function otlpHeaders(list: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const entry of list.split(',').filter((each) => each.trim() !== '')) {
    const [, name, value] = /^([^=]+)=(.*)$/.exec(entry) ?? [];
    if (name === undefined || value === undefined || !/^[A-Za-z0-9-]+$/.test(name.trim())) {
      throw new ConfigurationError('OTEL_EXPORTER_OTLP_HEADERS: must be name=value, separated by commas');
    }
    headers[name.trim()] = decodedValue(value.trim());
  }
  return headers;
}

/** @throws ConfigurationError if the value is not percent-encoded, or has characters that a header cannot have */
function decodedValue(value: string): string {
  try {
    const decoded = decodeURIComponent(value);
    if (/^[\t -~\x80-\xff]*$/.test(decoded)) return decoded;
  } catch {
    // Refused like a value with other characters.
  }
  throw new ConfigurationError(
    'OTEL_EXPORTER_OTLP_HEADERS: a value is not percent-encoded, or has characters that no header can have',
  );
}
