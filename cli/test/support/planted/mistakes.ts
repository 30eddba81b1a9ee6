import { BODIES } from './bodies.js';
import { ADDRESSES } from './addresses.js';
import type { PlantedMistake } from './call.js';
import { DIGESTS } from './digests.js';
import { HEADERS } from './headers.js';
import { KEYS } from './keys.js';
import { LAYOUTS } from './layouts.js';
import { PAIRS } from './pairs.js';
import { PATHS } from './paths.js';
import { RARE } from './rare.js';
import { SECRETS } from './secrets.js';
import { SERIALISERS } from './serialisers.js';

/** Every kind of mistake that is planted, except for the combinations in combinations.ts; one that `codes` calls `unknown` leaves no trace that a search could find. */
export const PLANTED_MISTAKES: readonly PlantedMistake[] = [
  ...KEYS,
  ...DIGESTS,
  ...LAYOUTS,
  ...HEADERS,
  ...BODIES,
  ...PATHS,
  ...PAIRS,
  ...SERIALISERS,
  ...SECRETS,
  ...ADDRESSES,
  ...RARE,
];
