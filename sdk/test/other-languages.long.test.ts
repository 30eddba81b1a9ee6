import { test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { COMPILER_PATIENCE_MS, lacks } from './support/languages.js';
import { expectVerdicts } from './support/vector-programs.js';

for (const language of ['java', 'go', 'csharp'] as const) {
  test.skipIf(lacks(language))(
    `the document’s functions in ${language} give the expected verdict on every vector`,
    { timeout: COMPILER_PATIENCE_MS },
    async () => {
      const folder = await temporaryFolder();
      await expectVerdicts(language, folder.path);
      await folder.remove();
    },
  );
}
