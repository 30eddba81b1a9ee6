import { problems } from '../strings.ts';
import { Problem } from './problem.ts';
import { readSettings } from './sign-in.ts';

/**
 * Loads the part for OpenID providers, which only some installations need.
 * @throws Problem if the service does not answer, or does not have it, as after an upgrade
 */
export async function loadOidc() {
  try {
    return await import('./oidc.ts');
  } catch {
    await readSettings();
    throw Problem.ofForm(problems.partMissing);
  }
}
