/** The JSON text with each of its strings changed. */
export function rewritten(body: string, change: (json: string) => string): string {
  return body.replaceAll(/"(?:[^"\\]|\\.)*"/g, change);
}
export const escaped =
  (signs: RegExp, upper = false) =>
  (json: string) =>
    json.replaceAll(signs, (sign) => {
      const code = sign.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? code.toUpperCase() : code}`;
    });
export const python = (body: string) =>
  rewritten(
    body.replaceAll(
      /("(?:[^"\\]|\\.)*")|([,:])/g,
      (_, text: string | undefined, sign: string) => text ?? `${sign} `,
    ),
    escaped(/[\u0080-\uffff]/g),
  );
