import { UsageError } from '../../terminal.js';
import { type DescribedRequest, targetOf, withHost } from './described-request.js';

/** Options of curl that take a value and do not change what is signed. */
const IGNORED_WITH_VALUE = new Set(
  '-c -C -E -P -Q -r -t -U -y -Y -z -o --output -w --write-out -m --max-time --connect-timeout -A --user-agent -u --user -e --referer -b --cookie -x --proxy --cacert --cert --key --retry --resolve --interface -D --dump-header'.split(
    ' ',
  ),
);
/** Short options that take no value and do not change what is signed. */
const IGNORED_FLAGS = new Set('012346aBfgijJklLMnNOpqRsSvVZ#');
/** Options that change the method, the body or the path in ways that this command does not support. */
const UNSUPPORTED = new Set([
  '-:',
  '--next',
  '-K',
  '--config',
  '--request-target',
  '-F',
  '--form',
  '--form-string',
  '-G',
  '--get',
  '-T',
  '--upload-file',
  '--data-urlencode',
  '--url-query',
]);
const DATA_OPTIONS = new Set(['-d', '--data', '--data-ascii', '--data-raw', '--data-binary', '--json']);

/**
 * The request that a curl command line sends.
 * @param readFile reads the file that an `@FILE` argument names, or throws if no file may be read
 * @throws UsageError if it is not a curl command line, or has an option that is not supported
 */
export async function requestOfCurl(
  commandLine: string,
  readFile: (path: string) => Promise<Buffer>,
): Promise<DescribedRequest> {
  if (/\^\r?\n|\^"/.test(commandLine)) {
    throw new UsageError('This curl command line is quoted for cmd on Windows. Copy it as cURL for bash.');
  }
  const words = wordsOf(commandLine);
  if (!/^curl(?:\.exe)?$/.test(words.shift() ?? '')) {
    throw new UsageError('A curl command line begins with "curl".');
  }
  let method: string | undefined;
  let isHead = false;
  const addresses: string[] = [];
  const headers: [string, string][] = [];
  const data: Buffer[] = [];
  const next = (option: string) => {
    const value = words.shift();
    if (value === undefined) throw new UsageError(`curl's option ${option} has no value.`);
    return value;
  };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [option, rest] = optionOf(word);
    if (rest !== undefined) words.unshift(rest);
    if (option === '-X' || option === '--request') method = next(option);
    else if (option === '-H' || option === '--header') headers.push(headerOfLine(next(option)));
    else if (DATA_OPTIONS.has(option)) {
      // curl joins data by an ampersand, but appends that of --json without one.
      if (data.length > 0 && option !== '--json') data.push(Buffer.from('&'));
      data.push(await dataOf(option, next(option), readFile));
    } else if (option === '-I' || option === '--head') isHead = true;
    else if (option === '--url') addresses.push(next(option));
    else if (IGNORED_WITH_VALUE.has(option)) next(option);
    else if (UNSUPPORTED.has(option)) {
      throw new UsageError(
        `curl's option ${option} changes what is sent and is not supported. Use --path and --body-file.`,
      );
    } else if (isShort(option) && !isFlag(option)) {
      throw new UsageError(`curl's option ${option} is not known. Use --path and --body-file.`);
    } else if (!option.startsWith('-')) addresses.push(option);
    if (option === '--json' && !headers.some(([name]) => name.toLowerCase() === 'content-type')) {
      headers.push(['Content-Type', 'application/json']);
    }
  }
  // A word without a protocol may be the value of an unknown option.
  const address = addresses.find((each) => /^https?:\/\//i.test(each)) ?? addresses[0];
  if (address === undefined) throw new UsageError('The curl command line has no address.');
  const { path, host } = targetOf(address);
  return {
    method: method ?? (data.length > 0 ? 'POST' : isHead ? 'HEAD' : 'GET'),
    path,
    headers: withHost(headers, host),
    body: Buffer.concat(data),
  };
}

/**
 * Separates an option from what follows it in its word: from its value, as in `-XPOST` and `--request=POST`, or from the
 * other options of a bundle, as `-s` from `-Sd` in `-sSd`.
 */
function optionOf(word: string): [option: string, rest?: string] {
  const long = /^(--[a-z-]+)=(.*)$/s.exec(word);
  if (long) return [long[1]!, long[2]!];
  const [option, rest] = [word.slice(0, 2), word.slice(2)];
  if (!isShort(option) || rest === '') return [word];
  return [option, isFlag(option) ? `-${rest}` : rest];
}

function isShort(option: string): boolean {
  return /^-[^-]$/s.test(option);
}

/** Whether a short option takes no value. */
function isFlag(option: string): boolean {
  return IGNORED_FLAGS.has(option.slice(1)) || option === '-I' || option === '-G' || option === '-:';
}

function headerOfLine(line: string): [string, string] {
  if (line.startsWith('@')) {
    throw new UsageError("curl's option -H @FILE is not supported. Use --path and --headers-file.");
  }
  const [name = '', ...value] = line.split(':');
  return [name.trim(), value.join(':').trim()];
}

async function dataOf(
  option: string,
  value: string,
  readFile: (path: string) => Promise<Buffer>,
): Promise<Buffer> {
  if (!value.startsWith('@') || option === '--data-raw') return Buffer.from(value);
  const content = await readFile(value.slice(1));
  // curl removes carriage returns, line feeds and NUL bytes from a file given to -d.
  return option === '--data-binary' || option === '--json'
    ? content
    : Buffer.from(content.toString('latin1').replaceAll(/[\r\n\0]/g, ''), 'latin1');
}

const ANSI_ESCAPES = new Map(
  Object.entries({
    n: '\n',
    t: '\t',
    r: '\r',
    '0': '\0',
    a: '\u0007',
    b: '\b',
    f: '\f',
    v: '\v',
    e: '\u001b',
  }),
);

/** The words of a POSIX shell command line, with `$'…'` as in bash. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  const token = /\\\r?\n|\s+|'([^']*)'|\$'((?:[^'\\]|\\[^])*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)/gy;
  let word: string | undefined;
  let at = 0;
  for (const match of line.matchAll(token)) {
    at = match.index + match[0].length;
    const [all, single, ansi, double, escaped, plain] = match;
    const text =
      single ??
      (ansi === undefined ? undefined : unescaped(ansi)) ??
      double?.replaceAll(/\\(["\\$`])|\\\r?\n/g, '$1') ??
      escaped ??
      plain;
    if (text !== undefined) {
      word = (word ?? '') + text;
    } else if (!all.startsWith('\\') && word !== undefined) {
      words.push(word);
      word = undefined;
    }
  }
  if (at < line.length)
    throw new UsageError(
      'The curl command line has a quotation mark that is not closed, or ends with a backslash.',
    );
  if (word !== undefined) words.push(word);
  return words;
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(u[0-9a-fA-F]{1,4}|x[0-9a-fA-F]{1,2}|[^])/g, (_, code: string) =>
    /^[ux]./.test(code)
      ? String.fromCharCode(Number.parseInt(code.slice(1), 16))
      : (ANSI_ESCAPES.get(code) ?? code),
  );
}
