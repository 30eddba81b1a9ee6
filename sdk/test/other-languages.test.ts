import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import type { TestVector } from './support/test-vectors.js';

const run = promisify(execFile);
/** A cold compiler on a busy machine takes its time, in milliseconds. */
const PATIENCE_MS = 120_000;

/** Reads a request from each line, its ten fields in base64, and prints what is said to it. */
const PYTHON_MAIN = `
import base64, sys
for line in open(sys.argv[1]):
    method, path, tenant, timestamp, nonce, signature, body, secret, receiver, now = (
        base64.b64decode(field) for field in line.rstrip("\\n").split("\\t"))
    headers = {"x-tenant-id": tenant.decode(), "x-timestamp": timestamp.decode(),
               "x-nonce": nonce.decode(), "x-signature": signature.decode()}
    print(verify(method.decode(), path.decode(), headers, body, [secret.decode()],
                 receiver.decode(), int(now)) or "ok")
`;
const JAVA_MAIN = `
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
public class Main {
  public static void main(String[] args) throws Exception {
    for (String line : Files.readAllLines(Path.of(args[0]))) {
      byte[][] f = Arrays.stream(line.split("\\t", -1)).map(Base64.getDecoder()::decode).toArray(byte[][]::new);
      String[] s = Arrays.stream(f).map(b -> new String(b, StandardCharsets.UTF_8)).toArray(String[]::new);
      Map<String, String> headers =
          Map.of("x-tenant-id", s[2], "x-timestamp", s[3], "x-nonce", s[4], "x-signature", s[5]);
      String reason = CroupierSignature.verify(s[0], s[1], headers, f[6], List.of(s[7]), s[8], Long.parseLong(s[9]), 300);
      System.out.println(reason == null ? "ok" : reason);
    }
  }
}
`;
const GO_MAIN = `
package main
import ("bufio"; "encoding/base64"; "fmt"; "os"; "strconv"; "strings")
func main() {
	file, _ := os.Open(os.Args[1])
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1 << 20)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\\t")
		for i := range f { b, _ := base64.StdEncoding.DecodeString(f[i]); f[i] = string(b) }
		headers := map[string]string{"X-Tenant-ID": f[2], "X-Timestamp": f[3], "X-Nonce": f[4], "X-Signature": f[5]}
		now, _ := strconv.ParseInt(f[9], 10, 64)
		reason := Verify(f[0], f[1], func(n string) string { return headers[n] }, []byte(f[6]), []string{f[7]}, f[8], now, 300)
		if reason == "" { reason = "ok" }
		fmt.Println(reason)
	}
}
`;

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let vectors: TestVector[];
let document: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  vectors = JSON.parse(
    await readFile(new URL('../test-vectors.json', import.meta.url), 'utf8'),
  ) as TestVector[];
  document = await readFile(new URL('../docs/other-languages.md', import.meta.url), 'utf8');
});
afterAll(() => folder.remove());

const isThere = (program: string, argument: string) => spawnSync(program, [argument]).status === 0;

function codeIn(language: string): string {
  const code = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(document)?.[1];
  if (code === undefined) throw new Error(`the document has no ${language}`);
  return code;
}

async function file(name: string, content: string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

/** What is to be judged, as a file: each vector as it is, and once more by somebody else. */
async function requests(name: string): Promise<string> {
  const lines = [
    ...vectors.map((vector) => [vector, vector.tenantId] as const),
    [vectors[0]!, 'somebody-else'] as const,
  ].map(([{ method, path, tenantId, timestamp, nonce, signature, body, secret, now }, receiver]) =>
    [method, path, tenantId, timestamp, nonce, signature, body, secret, receiver, String(now)]
      .map((field) => Buffer.from(field).toString('base64'))
      .join('\t'),
  );
  return file(name, lines.join('\n'));
}

function expectSaid(stdout: string): void {
  const said = stdout.trim().split(/\r?\n/);
  const named = vectors.map(({ name }, index) => `${name}: ${said[index] ?? 'nothing'}`);
  expect(named).toEqual(
    vectors.map(({ name, expected }) => `${name}: ${expected.ok ? 'ok' : expected.reason}`),
  );
  expect(said.slice(vectors.length)).toEqual(['tenant_mismatch']);
}

describe('the document’s functions say to every vector what it expects', () => {
  test.skipIf(!isThere('python3', '--version'))(
    'in Python (skipped where there is no python3)',
    { timeout: PATIENCE_MS },
    async () => {
      const script = await file('verify.py', codeIn('python') + PYTHON_MAIN);
      expectSaid((await run('python3', [script, await requests('python.txt')])).stdout);
    },
  );

  test.skipIf(!isThere('javac', '-version') || !isThere('java', '-version'))(
    'in Java (skipped where there is no JDK)',
    { timeout: PATIENCE_MS },
    async () => {
      const sources = [
        await file('CroupierSignature.java', codeIn('java')),
        await file('Main.java', JAVA_MAIN),
      ];
      await run('javac', ['-encoding', 'UTF-8', '-d', folder.path, ...sources]);
      expectSaid((await run('java', ['-cp', folder.path, 'Main', await requests('java.txt')])).stdout);
    },
  );

  test.skipIf(!isThere('go', 'version'))(
    'in Go (skipped where there is no go)',
    { timeout: PATIENCE_MS },
    async () => {
      const sources = [
        await file('verify.go', codeIn('go').replace('package croupier', 'package main')),
        await file('main.go', GO_MAIN),
      ];
      expectSaid((await run('go', ['run', ...sources, await requests('go.txt')])).stdout);
    },
  );
});
