/** With this, the ids of the platform's own ROLLBACKs begin, and no id of a provider. Contract, section 3. */
export const PLATFORM_ID_PREFIX = 'croupier-';

export function isPlatformId(transactionId: string): boolean {
  return transactionId.startsWith(PLATFORM_ID_PREFIX);
}
