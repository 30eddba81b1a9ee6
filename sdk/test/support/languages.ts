import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const run = promisify(execFile);
/** Time-out for a cold compiler on a busy machine, in milliseconds. */
export const COMPILER_PATIENCE_MS = 240_000;

export const LANGUAGES = ['python', 'php', 'java', 'go', 'csharp'] as const;
export type Language = (typeof LANGUAGES)[number];

/** Commands that fail where the language is not installed. */
const NEEDS: Record<Language, readonly string[]> = {
  python: ['python3 --version'],
  php: ['php --version'],
  java: ['javac -version', 'java -version'],
  go: ['go version'],
  csharp: ['mcs --version', 'mono --version'],
};

/** Whether the language is not installed. Prints a warning, because the report of a run does not name skipped tests. */
export function lacks(language: Language): boolean {
  const missing = NEEDS[language].filter((command) => spawnSync(command, { shell: true }).status !== 0);
  if (missing.length > 0) console.warn(`SKIPPED: the code in ${language}, without: ${missing.join(', ')}`);
  return missing.length > 0;
}

/** All code of a language in sdk/docs/other-languages.md that belongs to one file. */
export async function documentedCode(language: Language): Promise<string> {
  const document = await readFile(new URL('../../docs/other-languages.md', import.meta.url), 'utf8');
  const code = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(document)?.[1];
  if (code === undefined) throw new Error(`the document has no ${language}`);
  return code;
}

/**
 * Builds a program of the documented code and a main program.
 * @returns the command that runs it
 */
export async function build(language: Language, main: string, folder: string): Promise<string[]> {
  const code = await documentedCode(language);
  const file = async (name: string, content: string) => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  switch (language) {
    case 'python':
      return ['python3', await file('program.py', code + main)];
    case 'php':
      return ['php', await file('program.php', code + main)];
    case 'java': {
      const sources = [await file('CroupierSignature.java', code), await file('Main.java', main)];
      await run('javac', ['-encoding', 'UTF-8', '-d', folder, ...sources]);
      return ['java', '-XX:TieredStopAtLevel=1', '-cp', folder, 'Main'];
    }
    case 'go': {
      const program = join(folder, 'program');
      const sources = [
        await file('croupier.go', code.replace('package croupier', 'package main')),
        await file('main.go', main),
      ];
      await run('go', ['build', '-o', program, ...sources]);
      return [program];
    }
    case 'csharp': {
      const program = join(folder, 'program.exe');
      await run('mcs', ['-warnaserror', `-out:${program}`, await file('program.cs', code + main)]);
      return ['mono', program];
    }
  }
}
