import { VERSION } from '../../version.js';
import { digestOf, runOf, sha256 } from './certificate.js';
import {
  CERTIFICATE_PATTERN,
  htmlCertificate,
  PAGE_DIGEST_PATTERN,
  unescape,
  withoutPageDigest,
} from './html.js';

/** The result of checking a certificate: what it says, or why it cannot be trusted. */
export type Verification =
  { ok: true; certificate: Readonly<Record<string, unknown>>; digest: string } | { ok: false; why: string };
type Verified = Extract<Verification, { ok: true }>;

const NO_CERTIFICATE = 'is not a certificate: --json and --html of a certification write one.';

/** @param text the JSON report or the HTML page */
export function verifyCertificate(text: string): Verification {
  return /^\s*\{/.test(text) ? verifyJson(text) : verifyHtml(text);
}

function verifyHtml(page: string): Verification {
  const [, json] = CERTIFICATE_PATTERN.exec(page) ?? [];
  const [, pageDigest] = PAGE_DIGEST_PATTERN.exec(page) ?? [];
  if (json === undefined || pageDigest === undefined) return { ok: false, why: NO_CERTIFICATE };
  if (sha256(withoutPageDigest(page)) !== pageDigest)
    return { ok: false, why: 'was changed: its page does not have the digest that it names.' };
  const text = unescape(json);
  const verification = verifyJson(text);
  if (!verification.ok || isPageOf(page, verification, text)) return verification;
  const { version } = verification.certificate;
  if (version === VERSION) return { ok: false, why: 'was changed: its page does not show the report in it.' };
  const why = `cannot be checked: it names version ${JSON.stringify(version)}, but this is ${VERSION}. Take that version, or check the JSON report.`;
  return { ok: false, why };
}

/** Whether the page is the one that is written for the JSON report in it. */
function isPageOf(page: string, { certificate, digest }: Verified, json: string): boolean {
  try {
    return htmlCertificate(runOf(certificate), json, digest) === page;
  } catch (error) {
    // The report may have a right digest but lack what the page shows.
    if (error instanceof TypeError) return false;
    throw error;
  }
}

function verifyJson(text: string): Verification {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { ok: false, why: 'is not a certificate: its JSON cannot be read.' };
  }
  const certificate = Object(parsed) as Record<string, unknown>;
  const { digest, certification, cases } = certificate;
  if (typeof digest !== 'string' || typeof certification !== 'string' || !Array.isArray(cases))
    return { ok: false, why: NO_CERTIFICATE };
  // A parser takes the last of two equal keys, a reader perhaps the first.
  if (withoutWhiteSpace(text) !== JSON.stringify(parsed))
    return { ok: false, why: 'was changed: its JSON is not written as a certificate is.' };
  if (digestOf(certificate) !== digest)
    return { ok: false, why: 'was changed: its content does not have the digest that it names.' };
  return { ok: true, certificate, digest };
}

/** JSON without the white space between its tokens. An open string ends with the text, so that nothing is scanned twice. */
function withoutWhiteSpace(json: string): string {
  return json.replace(/("(?:[^"\\]|\\[^])*(?:"|\\?$))|\s+/g, (_, text: string | undefined) => text ?? '');
}
