import type { components } from './schema.d.ts';

/** A schema of the admin document, such as `Schema<'TransactionItem'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];
