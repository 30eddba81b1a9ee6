import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../test/world/temporary-folder.js';
import { judgeAnswer } from '../src/answer.js';
import type { TestVector } from './support/test-vectors.js';

const run = promisify(execFile);
/** Time-out for a cold compiler on a busy machine, in milliseconds. */
const PATIENCE_MS = 120_000;

/**
 * The programs print a verdict for each line of two files. A line of the first is a request, its ten fields in base64.
 * A line of the second is an answer, as in `OUTCOMES`.
 */
const PYTHON_MAIN = `
import base64, sys
for line in open(sys.argv[1]):
    method, path, tenant, timestamp, nonce, signature, body, secret, receiver, now = (
        base64.b64decode(field) for field in line.rstrip("\\n").split("\\t"))
    headers = {"x-tenant-id": tenant.decode(), "x-timestamp": timestamp.decode(),
               "x-nonce": nonce.decode(), "x-signature": signature.decode()}
    print(verify(method.decode(), path.decode(), headers, body, [secret.decode()],
                 receiver.decode(), int(now)) or "ok")
for line in open(sys.argv[2]):
    status, code, action, body, decision = line.rstrip("\\n").split("\\t")
    money, again = outcome(int(status), code or None, action or None, body, decision == "true")
    print(money, "again" if again else "ends")
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
    for (String line : Files.readAllLines(Path.of(args[1]))) {
      String[] s = line.split("\\t", -1);
      var outcome = CroupierSignature.outcome(Integer.parseInt(s[0]), s[1].isEmpty() ? null : s[1],
          s[2].isEmpty() ? null : s[2], s[3], s[4].equals("true"));
      System.out.println(outcome.money() + (outcome.again() ? " again" : " ends"));
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
	file, _ = os.Open(os.Args[2])
	lines = bufio.NewScanner(file)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\\t")
		status, _ := strconv.Atoi(f[0])
		money, again := Outcome(status, f[1], f[2], f[3], f[4] == "true")
		fmt.Println(money, map[bool]string{true: "again", false: "ends"}[again])
	}
}
`;
const PHP_MAIN = `
foreach (file($argv[1], FILE_IGNORE_NEW_LINES) as $line) {
    $f = array_map('base64_decode', explode("\\t", $line));
    $headers = ['x-tenant-id' => $f[2], 'x-timestamp' => $f[3], 'x-nonce' => $f[4], 'x-signature' => $f[5]];
    echo verify($f[0], $f[1], $headers, $f[6], [$f[7]], $f[8], (int) $f[9]) ?? 'ok', "\\n";
}
foreach (file($argv[2], FILE_IGNORE_NEW_LINES) as $line) {
    $f = explode("\\t", $line);
    [$money, $again] = outcome((int) $f[0], $f[1] ?: null, $f[2] ?: null, $f[3], $f[4] === 'true');
    echo $money, $again ? " again\\n" : " ends\\n";
}
`;
const CSHARP_MAIN = `
public static class Program
{
    public static void Main(string[] args)
    {
        foreach (string line in System.IO.File.ReadAllLines(args[0]))
        {
            byte[][] f = line.Split('\\t').Select(Convert.FromBase64String).ToArray();
            string[] s = f.Select(Encoding.UTF8.GetString).ToArray();
            var headers = new Dictionary<string, string>
                { ["X-Tenant-ID"] = s[2], ["X-Timestamp"] = s[3], ["X-Nonce"] = s[4], ["X-Signature"] = s[5] };
            string reason = CroupierSignature.Verify(s[0], s[1], name => headers[name], f[6], new[] { s[7] }, s[8], long.Parse(s[9]));
            Console.WriteLine(reason ?? "ok");
        }
        foreach (string line in System.IO.File.ReadAllLines(args[1]))
        {
            string[] s = line.Split('\\t');
            var outcome = CroupierSignature.Outcome(int.Parse(s[0]), s[1], s[2], s[3], s[4] == "true");
            Console.WriteLine(outcome.Money + (outcome.Again ? " again" : " ends"));
        }
    }
}
`;

/** Status, error code, next action, body, whether it is a decision, and the expected outcome. */
const OUTCOMES = [
  [200, '', '', '{}', true, 'decided ends'],
  [200, '', '', '<html>', false, 'unknown again'],
  [201, '', '', '{}', false, 'unknown again'],
  [302, '', '', '', false, 'unknown again'],
  [400, 'SESSION_MISMATCH', 'fix-request', '{}', false, 'not-booked ends'],
  [400, 'TRANSACTION_ID_REUSED', 'fix-request', '{}', false, 'unknown ends'],
  [400, '', '', '<html>', false, 'unknown again'],
  [401, '', '', 'invalid signature', false, 'not-booked ends'],
  [401, '', '', '<html>', false, 'unknown again'],
  [401, 'SESSION_INVALID', 'end-session', '{}', false, 'not-booked ends'],
  [403, 'SESSION_OF_ANOTHER_PROVIDER', 'fix-request', '{}', false, 'not-booked ends'],
  [404, '', '', '<html>', false, 'unknown again'],
  [409, 'TRANSACTION_IN_FLIGHT', 'wait-then-retry', '{}', false, 'unknown again'],
  [410, 'NEW', 'do-a-dance', '{}', false, 'unknown ends'],
  [429, 'RATE_LIMITED', 'wait-then-retry', '{}', false, 'not-booked again'],
  [429, '', '', '', false, 'unknown again'],
  [500, 'OPERATOR_TIMED_OUT', 'retry-same-request', '{}', false, 'unknown again'],
  [500, 'INTERNAL', 'contact-platform', '{}', false, 'unknown ends'],
  [500, 'NEW', 'do-a-dance', '{}', false, 'unknown again'],
  [503, 'GAME_NOT_CONFIGURED', 'contact-platform', '{}', false, 'not-booked ends'],
  [503, 'NEW', 'do-a-dance', '{}', false, 'not-booked ends'],
  [503, 'GAME_NOT_CONFIGURED', '', '{}', false, 'unknown again'],
  [503, '', '', 'upstream connect error', false, 'unknown again'],
] as const;

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

/** Whether one of the commands fails. Prints a warning, because the report of a run does not name skipped tests. */
function lacks(language: string, ...commands: string[]): boolean {
  const missing = commands.filter((command) => spawnSync(command, { shell: true }).status !== 0);
  if (missing.length > 0) console.warn(`SKIPPED: the code in ${language}, without: ${missing.join(', ')}`);
  return missing.length > 0;
}

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

/** The requests to judge, as a file: each vector unchanged, and the first one once more, for another receiver. */
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
  expect(said[vectors.length]).toBe('tenant_mismatch');
  expect(said.slice(vectors.length + 1)).toEqual(OUTCOMES.map((row) => row.at(-1)));
}

async function answers(name: string): Promise<string> {
  return file(name, OUTCOMES.map((row) => row.slice(0, -1).join('\t')).join('\n'));
}

describe('the document’s functions give the expected verdict on every vector', () => {
  test.skipIf(lacks('Python', 'python3 --version'))(
    'in Python (skipped where there is no python3)',
    { timeout: PATIENCE_MS },
    async () => {
      const script = await file('verify.py', codeIn('python') + PYTHON_MAIN);
      expectSaid(
        (await run('python3', [script, await requests('python.txt'), await answers('python-answers.txt')]))
          .stdout,
      );
    },
  );

  test.skipIf(lacks('Java', 'javac -version', 'java -version'))(
    'in Java (skipped where there is no JDK)',
    { timeout: PATIENCE_MS },
    async () => {
      const sources = [
        await file('CroupierSignature.java', codeIn('java')),
        await file('Main.java', JAVA_MAIN),
      ];
      await run('javac', ['-encoding', 'UTF-8', '-d', folder.path, ...sources]);
      expectSaid(
        (
          await run('java', [
            '-cp',
            folder.path,
            'Main',
            await requests('java.txt'),
            await answers('java-answers.txt'),
          ])
        ).stdout,
      );
    },
  );

  test.skipIf(lacks('Go', 'go version'))(
    'in Go (skipped where there is no go)',
    { timeout: PATIENCE_MS },
    async () => {
      const sources = [
        await file('verify.go', codeIn('go').replace('package croupier', 'package main')),
        await file('main.go', GO_MAIN),
      ];
      expectSaid(
        (await run('go', ['run', ...sources, await requests('go.txt'), await answers('go-answers.txt')]))
          .stdout,
      );
    },
  );

  test.skipIf(lacks('PHP', 'php --version'))(
    'in PHP (skipped where there is no php)',
    { timeout: PATIENCE_MS },
    async () => {
      const script = await file('verify.php', codeIn('php') + PHP_MAIN);
      const files = [await requests('php.txt'), await answers('php-answers.txt')];
      expectSaid((await run('php', [script, ...files])).stdout);
    },
  );

  test.skipIf(lacks('C#', 'mcs --version', 'mono --version'))(
    'in C#, on Mono (skipped where there is none)',
    { timeout: PATIENCE_MS },
    async () => {
      const program = join(folder.path, 'verify.exe');
      await run('mcs', [`-out:${program}`, await file('verify.cs', codeIn('csharp') + CSHARP_MAIN)]);
      const files = [await requests('csharp.txt'), await answers('csharp-answers.txt')];
      expectSaid((await run('mono', [program, ...files])).stdout);
    },
  );
});

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
