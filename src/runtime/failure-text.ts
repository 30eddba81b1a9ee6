/** Why something failed. The error of a connection that was refused on every address has a code but an empty message. */
export function failureText(error: unknown): string {
  const { message, code } = (error ?? {}) as { message?: string; code?: string };
  return message || code || String(error);
}
