import { visibleText } from '@croupier/provider-sdk';
import { paint, type Terminal } from '../terminal.js';
import { visibleBytes, visibleJson } from '../visible.js';
import type { Diagnosis } from './diagnosis.js';

/** Why a call may be refused although its signature is valid. */
const OTHER_REFUSALS = [
  'its nonce was used before: each attempt needs a fresh one, repeats included',
  "it arrived later than --now says: the receiver's clock and yours must agree within the tolerance",
  'the tenant is disabled, unknown to the receiver, or of the other kind (provider or operator)',
  'the secret was rotated, and the overlap in which the old one is accepted is over',
  'a proxy changed the path, the body or a header on the way: compare what the receiver got',
];

/** Printed in place of a signature that a receiver would still accept. */
const WITHHELD =
  'not shown while it would still be accepted: the timestamp is in the future or not long past, or the method, path or ' +
  'nonce has characters that are not allowed';

export function report(diagnosis: Diagnosis, requestId: string | undefined, terminal: Terminal): string {
  const { reason, canonical, signature, sent, causes, alternatives, difference } = diagnosis;
  const title = (text: string) => paint(terminal, 'bold', text);
  const verdict =
    reason === undefined
      ? paint(terminal, 'green', 'the signature is valid')
      : paint(terminal, 'red', `refused: ${reason}`);
  const lines = [
    title(`What has to be signed, ${canonical.length} bytes`),
    visibleBytes(canonical).replaceAll('␊', '␊\n').replaceAll(/^/gm, '  '),
    '',
    `${title('X-Signature, right')}  ${signature ?? WITHHELD}`,
    `${title('X-Signature, sent ')}  ${visibleText(sent.signature ?? 'the right one') || '(none)'}`,
    `${title('Verdict')}             ${verdict}`,
  ];
  if (difference) {
    const shown = (bytes: Buffer) =>
      bytes.length === 0 ? '(the end)' : `${hex(bytes[0])} ${visibleBytes(bytes)}`;
    lines.push(
      '',
      title(`First differing byte: ${difference.offset} (${difference.place})`),
      `  right   ${shown(difference.right)}`,
      `  signed  ${shown(difference.wrong)}`,
    );
  }
  if (causes.length > 0) {
    const explained = causes.map(({ code, explanation }) => `  ${code}: ${visibleText(explanation)}`);
    lines.push('', title(alternatives.length === 0 ? 'Cause' : 'Cause, one of several'), ...explained);
  }
  for (const mistakes of alternatives) {
    const explained = mistakes.map(({ code, explanation }) => `  ${code}: ${visibleText(explanation)}`);
    lines.push('', title('Or, with the same signature'), ...explained);
  }
  if (reason === undefined) {
    lines.push('', title('If it is refused all the same'), ...OTHER_REFUSALS.map((text) => `  - ${text}`));
  }
  if (requestId !== undefined) lines.push('', requestIdAdvice(requestId));
  return lines.join('\n');
}

/**
 * The result as JSON, without the secret. Its fields are stable, because scripts may rely on them. A signature is null
 * while a receiver would still accept it.
 */
export function jsonReport(diagnosis: Diagnosis, requestId: string | undefined): string {
  const { reason, canonical, signature, sent, causes, alternatives, difference, tried, untried } = diagnosis;
  const result = {
    holds: reason === undefined,
    reason,
    causes,
    alternatives,
    signature: { right: signature ?? null, sent: sent.signature ?? null },
    ...(signature === undefined && { withheld: WITHHELD }),
    canonical: canonical.toString('base64'),
    difference: difference && {
      offset: difference.offset,
      place: difference.place,
      right: difference.right.toString('base64'),
      signed: difference.wrong.toString('base64'),
    },
    tried,
    untried,
    otherRefusals: reason === undefined ? OTHER_REFUSALS : undefined,
    requestId,
  };
  return visibleJson(result);
}

/** Explains how the id of a refused request helps to find the reason. */
export function requestIdAdvice(requestId: string): string {
  return `Request ${visibleText(requestId)}
  The answer never says why a signature was refused, but the receiver's log does: the line "signature refused" with this
  request id has the reason. Ask the platform for it; for a callback that you refused, look at your own onRefused.
    missing_header, malformed_header          a header is missing, was sent twice, or has the wrong form
    unknown_tenant, tenant_of_another_kind    the tenant is unknown, or of the other kind (provider or operator)
    tenant_mismatch, tenant_disabled          another tenant was called, or the tenant is disabled
    timestamp_expired, timestamp_in_future    the clocks differ, or the request was signed too early
    nonce_replayed                            the nonce was used before
    signature_mismatch                        the bytes or the key: run this command on what you sent`;
}

function hex(byte: number | undefined): string {
  return `0x${(byte ?? 0).toString(16).padStart(2, '0')}`;
}
