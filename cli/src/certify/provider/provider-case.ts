import type { Case } from '../outcome.js';
import type { ProviderCaller } from './caller.js';

/** A case of a provider's server, without the group, which its list gives. */
export type ProviderCase = Omit<Case<ProviderCaller>, 'group'>;

export const AT_ONCE = 10;

export function withoutPlay({ provider }: ProviderCaller): string | undefined {
  return provider.playPath === undefined
    ? 'a spin has to be played: name a route that plays one with --play-path'
    : undefined;
}

/** The promises of `AT_ONCE` calls that are made at the same time. */
export function atOnce<Result>(call: (index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: AT_ONCE }, (_, index) => call(index)));
}
