import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { build, type Language, run } from './languages.js';
import type { TestVector } from './test-vectors.js';

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
      var outcome = CroupierSignature.outcome(Integer.parseInt(s[0]), s[1], s[2], s[3], s[4].equals("true"));
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

const MAINS: Record<Language, string> = {
  python: PYTHON_MAIN,
  php: PHP_MAIN,
  java: JAVA_MAIN,
  go: GO_MAIN,
  csharp: CSHARP_MAIN,
};

/** Status, error code, next action, body, whether it is a decision, and the expected outcome. */
export const OUTCOMES = [
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

/** Runs the documented functions on every vector and every answer, and compares what they say. */
export async function expectVerdicts(language: Language, folder: string): Promise<void> {
  const [program = '', ...args] = await build(language, MAINS[language], folder);
  const vectors = JSON.parse(
    await readFile(new URL('../../test-vectors.json', import.meta.url), 'utf8'),
  ) as TestVector[];
  const file = async (name: string, lines: readonly string[]) => {
    const path = join(folder, name);
    await writeFile(path, lines.join('\n'));
    return path;
  };
  const requests = await file('requests', requestLines(vectors));
  const answers = await file(
    'answers',
    OUTCOMES.map((row) => row.slice(0, -1).join('\t')),
  );
  const { stdout } = await run(program, [...args, requests, answers]);
  const said = stdout.trim().split(/\r?\n/);
  const named = vectors.map(({ name }, index) => `${name}: ${said[index] ?? 'nothing'}`);
  expect(named).toEqual(
    vectors.map(({ name, expected }) => `${name}: ${expected.ok ? 'ok' : expected.reason}`),
  );
  expect(said[vectors.length]).toBe('tenant_mismatch');
  expect(said.slice(vectors.length + 1)).toEqual(OUTCOMES.map((row) => row.at(-1)));
}

/** Each vector unchanged, and the first one once more, for another receiver. */
function requestLines(vectors: readonly TestVector[]): string[] {
  return [
    ...vectors.map((vector) => [vector, vector.tenantId] as const),
    [vectors[0]!, 'somebody-else'] as const,
  ].map(([{ method, path, tenantId, timestamp, nonce, signature, body, secret, now }, receiver]) =>
    [method, path, tenantId, timestamp, nonce, signature, body, secret, receiver, String(now)]
      .map((field) => Buffer.from(field).toString('base64'))
      .join('\t'),
  );
}
