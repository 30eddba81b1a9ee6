import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { judgeAnswer } from '../src/answer.js';
import { COMPILER_PATIENCE_MS, lacks } from './support/languages.js';
import { expectVerdicts, OUTCOMES } from './support/vector-programs.js';

/** The languages that are not compiled; other-languages.long.test.ts has the others. */
for (const language of ['python', 'php'] as const) {
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

test('the SDK judges each answer in the same way', () => {
  for (const [status, code, nextAction, body, isDecision, expected] of OUTCOMES) {
    const headers = new Headers();
    if (code) headers.set('x-error-code', code);
    if (nextAction) headers.set('x-next-action', nextAction);
    const context = {
      call: 'POST /',
      requestId: 'r',
      nowMs: 0,
      isComplete: (_: object): _ is never => isDecision,
    };
    const result = judgeAnswer({ status, headers, text: body }, context);
    const said = result.answered
      ? 'decided ends'
      : `${result.failure.outcome} ${result.failure.retryable ? 'again' : 'ends'}`;
    expect([status, code, nextAction, said]).toEqual([status, code, nextAction, expected]);
  }
});
