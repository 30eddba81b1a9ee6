import type { Certificate } from './certificate.js';

/** The certificate as JSON text. */
export function jsonReport(certificate: Certificate): string {
  return `${JSON.stringify(certificate, null, 2)}\n`;
}
