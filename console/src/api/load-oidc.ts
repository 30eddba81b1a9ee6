import { problems } from '../strings.ts';
import { Problem } from './problem.ts';

/**
 * Loads the part for OpenID providers, which only some installations need.
 * @throws Problem if it is not there, as after an upgrade
 */
export async function loadOidc() {
  try {
    return await import('./oidc.ts');
  } catch {
    throw Problem.ofForm(problems.partMissing);
  }
}
