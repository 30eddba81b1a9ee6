import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dump } from 'js-yaml';

/**
 * Renders the part of Helm's templates that ops/chart uses: define and include, if, with, range over a map, pipes, and a few
 * functions. Anything else is an error. It replaces Helm, which is not available here.
 */
export function renderChart(folder: string, context: Context): string[] {
  const templates = readdirSync(join(folder, 'templates'));
  const read = (file: string) => parse(readFileSync(join(folder, 'templates', file), 'utf8'));
  const definitions = new Map<string, Node[]>();
  for (const file of templates.filter((each) => each.endsWith('.tpl'))) {
    for (const node of read(file)) if (node.kind === 'define') definitions.set(node.name, node.body);
  }
  return templates
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => render(read(file), { dot: context, root: context, variables: {}, definitions }));
}

export type Context = Readonly<Record<string, unknown>>;

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'print'; expression: string }
  | { kind: 'define'; name: string; body: Node[] }
  | { kind: 'block'; type: 'if' | 'with' | 'range'; expression: string; body: Node[] };

interface Scope {
  readonly dot: unknown;
  readonly root: Context;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly definitions: ReadonlyMap<string, Node[]>;
}

function parse(source: string): Node[] {
  const trimmed = source.replaceAll(/\s*\{\{-/g, '{{').replaceAll(/-\}\}\s*/g, '}}');
  const parts = trimmed.split(/(\{\{.*?\}\})/s);
  const root: Node[] = [];
  const open: Node[][] = [root];
  for (const part of parts) {
    const current = open.at(-1)!;
    if (!part.startsWith('{{')) {
      current.push({ kind: 'text', text: part });
      continue;
    }
    const action = part.slice(2, -2).trim();
    const [, word, rest = ''] = /^(if|with|range|define|end)\b\s*(.*)$/s.exec(action) ?? [];
    if (word === 'end') open.pop();
    else if (word === 'define') {
      const body: Node[] = [];
      current.push({ kind: 'define', name: JSON.parse(rest) as string, body });
      open.push(body);
    } else if (word !== undefined) {
      const body: Node[] = [];
      current.push({ kind: 'block', type: word as 'if', expression: rest, body });
      open.push(body);
    } else current.push({ kind: 'print', expression: action });
  }
  if (open.length !== 1) throw new Error('a block is not closed');
  return root;
}

function render(nodes: readonly Node[], scope: Scope): string {
  return nodes.map((node) => renderNode(node, scope)).join('');
}

function renderNode(node: Node, scope: Scope): string {
  switch (node.kind) {
    case 'text':
      return node.text;
    case 'define':
      return '';
    case 'print': {
      const value = evaluate(node.expression, scope);
      if (value === undefined || value === null) throw new Error(`${node.expression} has no value`);
      return String(value);
    }
    case 'block':
      return renderBlock(node, scope);
  }
}

function renderBlock({ type, expression, body }: Extract<Node, { kind: 'block' }>, scope: Scope): string {
  if (type === 'range') {
    const [, key = '', value = '', list = ''] = /^\$(\w+), \$(\w+) := (.*)$/.exec(expression) ?? [];
    return Object.entries(evaluate(list, scope) as object)
      .map(([name, each]) =>
        render(body, { ...scope, variables: { ...scope.variables, [key]: name, [value]: each as unknown } }),
      )
      .join('');
  }
  const value = evaluate(expression, scope);
  if (value === undefined || value === null || value === false || value === '') return '';
  if (typeof value === 'object' && Object.keys(value).length === 0) return '';
  return render(body, type === 'with' ? { ...scope, dot: value } : scope);
}

function evaluate(expression: string, scope: Scope): unknown {
  const tokens = expression.match(/"[^"]*"|'[^']*'|[()|]|[^\s()|]+/g) ?? [];
  let at = 0;
  const operand = (): unknown => {
    const token = tokens[at++] ?? '';
    if (token === '(') {
      const value = pipeline();
      at += 1;
      return value;
    }
    if (/^["']/.test(token)) return token.slice(1, -1);
    if (/^\d+$/.test(token)) return Number(token);
    if (token === '.') return scope.dot;
    if (token.startsWith('.')) return pathIn(scope.dot, token.slice(1));
    if (token === '$') return scope.root;
    if (token.startsWith('$.')) return pathIn(scope.root, token.slice(2));
    if (token.startsWith('$')) return scope.variables[token.slice(1)];
    throw new Error(`${token} is not known`);
  };
  const command = (piped: unknown[]): unknown => {
    const name = tokens[at] ?? '';
    const operands = () => {
      const values: unknown[] = [];
      while (at < tokens.length && tokens[at] !== '|' && tokens[at] !== ')') values.push(operand());
      return values.concat(piped);
    };
    if (!/^[a-zA-Z]+$/.test(name)) return operand();
    at += 1;
    return call(name, operands(), scope);
  };
  const pipeline = (): unknown => {
    let value = command([]);
    while (tokens[at] === '|') {
      at += 1;
      value = command([value]);
    }
    return value;
  };
  return pipeline();
}

function pathIn(value: unknown, path: string): unknown {
  return path.split('.').reduce((each: unknown, key) => (each as Context | undefined)?.[key], value);
}

function call(name: string, values: unknown[], scope: Scope): unknown {
  const numbers = values as number[];
  switch (name) {
    case 'include':
      return render(scope.definitions.get(String(values[0]))!, { ...scope, dot: values[1] }).trim();
    case 'nindent':
      return `\n${String(values[1]).replaceAll(/^(?=.)/gm, ' '.repeat(numbers[0]!))}`;
    case 'quote':
      return JSON.stringify(String(values[0]));
    case 'default':
      return values[1] === '' || values[1] == null ? values[0] : values[1];
    case 'toYaml':
      return dump(values[0]).trim();
    case 'not':
      return !values[0];
    case 'add':
      return numbers.reduce((sum, each) => sum + each, 0);
    case 'mul':
      return numbers.reduce((product, each) => product * each, 1);
    case 'max':
      return Math.max(...numbers);
    default:
      throw new Error(`the function ${name} is not known`);
  }
}
