/** Finds the changes between two OpenAPI documents that can break clients of the first. */

type Json = Readonly<Record<string, unknown>>;

interface Schema extends Json {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  /** The cases of a choice between schemas: values of a field, with a reference to the schema of each. */
  readonly discriminator?: { readonly mapping?: Readonly<Record<string, string>> };
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: Schema;
}

type Content = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Header {
  readonly $ref?: string;
  readonly schema?: Schema;
}

interface Answer {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
}

interface Operation {
  readonly operationId?: string;
  /** Absent if no administrator calls it. */
  readonly 'x-needed-role'?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses?: Readonly<Record<string, Answer>>;
}

type Items = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

export interface Described {
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Items;
  readonly webhooks?: Items;
  readonly components?: { readonly securitySchemes?: Readonly<Record<string, Json>> };
}

/** The direction of a value: a reader may accept more than before; a sent value must stay within the old schema. */
type Direction = 'accepted' | 'sent';

/** Keywords without influence on which values are valid. */
const WORDS = new Set(['description', 'title', 'example', 'examples']);
/** Keywords that are compared by their meaning; any other must not change. */
const JUDGED = new Set(['$ref', 'type', 'enum', 'required', 'properties', 'items', 'minimum', 'maximum']);
/** Keywords of a choice that a discriminator decides; `cases` compares its schemas, as it does those of `anyOf`. */
const DECIDED = new Set(['oneOf', 'discriminator']);
/** The header of an answer that may get more values: clients decide by X-Next-Action, and report an unknown code. */
const EXTENSIBLE = 'X-Error-Code';

/** @returns a line for each breaking change; empty if clients of `before` work with `after` */
export function breakingChanges(before: Described, after: Described): string[] {
  const comparison = new Comparison(before, after);
  return [
    ...lostServers(before, after),
    ...otherSecuritySchemes(before, after),
    ...comparison.items(before.paths, after.paths, '', 'accepted'),
    ...comparison.items(before.webhooks ?? {}, after.webhooks ?? {}, 'webhook ', 'sent'),
  ];
}

/** The same for a document whose operations Croupier calls, in which requests are sent by it. */
export function breakingChangesOfCalls(before: Described, after: Described): string[] {
  const comparison = new Comparison(before, after);
  return [...lostServers(before, after), ...comparison.items(before.paths, after.paths, '', 'sent')];
}

function lostServers(before: Described, after: Described): string[] {
  const [old, now] = [before, after].map(({ servers = [] }) => servers.map(({ url }) => url));
  return old!.filter((url) => !now!.includes(url)).map((url) => `the server ${url} was removed`);
}

/** Compares where and how clients prove who they are, such as the name of the signature's header. */
function otherSecuritySchemes(before: Described, after: Described): string[] {
  const meaningOf = (scheme: Json | undefined) =>
    JSON.stringify(Object.entries(scheme ?? {}).filter(([keyword]) => !WORDS.has(keyword)));
  const now = after.components?.securitySchemes ?? {};
  return Object.entries(before.components?.securitySchemes ?? {})
    .filter(([name, scheme]) => meaningOf(scheme) !== meaningOf(now[name]))
    .map(([name]) => `the security scheme ${name} changed`);
}

class Comparison {
  /** Pairs of references under comparison, so that recursive schemas end. */
  private readonly open = new Set<string>();

  constructor(
    private readonly before: Described,
    private readonly after: Described,
  ) {}

  items(before: Items, after: Items, prefix: string, requests: Direction): string[] {
    return Object.entries(before).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) => {
        const name = `${prefix}${method.toUpperCase()} ${path}`;
        const now = after[path]?.[method];
        return now ? this.operation(operation, now, name, requests) : [`${name} was removed`];
      }),
    );
  }

  private operation(before: Operation, after: Operation, name: string, requests: Direction): string[] {
    const answers = requests === 'accepted' ? 'sent' : 'accepted';
    const changes = this.parameters(before, after, name, requests);
    if (JSON.stringify(before.security ?? []) !== JSON.stringify(after.security ?? []))
      changes.push(`${name} has other security`);
    for (const keyword of ['operationId', 'x-needed-role'] as const)
      if (before[keyword] !== after[keyword]) changes.push(`${name} has another ${keyword}`);
    if (after.requestBody?.required && !before.requestBody?.required && requests === 'accepted')
      changes.push(`${name} requires a body`);
    if (before.requestBody && !after.requestBody) changes.push(`${name} has no body any more`);
    changes.push(
      ...this.content(before.requestBody?.content, after.requestBody?.content, `${name} body`, requests),
    );
    for (const [status, response] of Object.entries(before.responses ?? {})) {
      const now = after.responses?.[status];
      if (!now) changes.push(`${name} does not answer ${status} any more`);
      else changes.push(...this.answer(response, now, `${name} ${status}`, answers));
    }
    return changes;
  }

  private answer(before: Answer, after: Answer, name: string, direction: Direction): string[] {
    const changes = this.content(before.content, after.content, name, direction);
    if (direction === 'accepted') return changes;
    for (const [header, old] of Object.entries(before.headers ?? {})) {
      const now = after.headers?.[header];
      if (!now) changes.push(`${name} lost its header ${header}`);
      else changes.push(...this.header(old, now, `${name} ${header}`));
    }
    return changes;
  }

  private header(before: Header, after: Header, name: string): string[] {
    const { schema: old = {} } = this.follow(this.before, before);
    const { schema: now = {} } = this.follow(this.after, after);
    const lost = (old.enum ?? []).filter((value) => !contains(now.enum, [value]));
    const current = name.endsWith(EXTENSIBLE) ? { ...now, enum: old.enum } : now;
    return [
      ...lost.map((value) => `${name} is never ${String(value)} any more`),
      ...this.schema(old, current as Schema, name, 'sent'),
    ];
  }

  private parameters(before: Operation, after: Operation, name: string, requests: Direction): string[] {
    const key = (parameter: Parameter) => `${parameter.in} ${parameter.name}`;
    const [old, now] = [before, after].map(
      ({ parameters = [] }, index) =>
        new Map(
          parameters.map((parameter) => {
            const found = this.follow(index === 0 ? this.before : this.after, parameter);
            return [key(found), found];
          }),
        ),
    ) as [Map<string, Parameter>, Map<string, Parameter>];
    const removed = [...old].filter(([one]) => !now.has(one)).map(([one]) => `${name} lost its ${one}`);
    const required = [...now]
      .filter(([one, parameter]) => requests === 'accepted' && parameter.required && !old.get(one)?.required)
      .map(([one]) => `${name} requires its ${one}`);
    const changed = [...old].flatMap(([one, { schema }]) => {
      const current = now.get(one)?.schema;
      return schema && current ? this.schema(schema, current, `${name} ${one}`, requests) : [];
    });
    return [...removed, ...required, ...changed];
  }

  private content(before: Content = {}, after: Content = {}, name: string, direction: Direction): string[] {
    return Object.entries(before).flatMap(([type, { schema }]) => {
      const now = after[type];
      // An answer of which nothing is described any more is not read, so that a counterpart may send any.
      if (!now && direction === 'accepted' && Object.keys(after).length === 0) return [];
      if (!now) return [`${name} lost its ${type}`];
      return this.part(schema, now.schema, name, direction);
    });
  }

  /** Compares schemas that may be absent; without one, every value is valid. */
  private part(
    old: Schema | undefined,
    current: Schema | undefined,
    name: string,
    direction: Direction,
  ): string[] {
    if (old && current) return this.schema(old, current, name, direction);
    if (old && direction === 'sent') return [`${name} has no schema any more`];
    if (current && direction === 'accepted') return [`${name} has a schema now`];
    return [];
  }

  private schema(old: Schema, current: Schema, name: string, direction: Direction): string[] {
    const pair = `${old.$ref} ${current.$ref} ${direction}`;
    if (old.$ref !== undefined && this.open.has(pair)) return [];
    this.open.add(pair);
    const before = this.follow(this.before, old);
    const after = this.follow(this.after, current);
    const changes = [
      ...values(before, after, name, direction),
      ...this.fields(before, after, name, direction),
      ...this.cases(before, after, name, direction),
      ...this.part(before.items, after.items, `${name}[]`, direction),
    ];
    this.open.delete(pair);
    return changes;
  }

  private fields(before: Schema, after: Schema, name: string, direction: Direction): string[] {
    const { properties: old = {}, required: oldRequired = [] } = before;
    const { properties: current = {}, required: nowRequired = [] } = after;
    const changes = Object.entries(old).flatMap(([field, schema]) =>
      current[field]
        ? this.schema(schema, current[field], `${name}.${field}`, direction)
        : [`${name}.${field} was removed`],
    );
    const [more, fewer] = [nowRequired, oldRequired].map((these, index, both) =>
      these.filter((field) => !both[1 - index]!.includes(field)),
    ) as [string[], string[]];
    if (direction === 'accepted') changes.push(...more.map((field) => `${name}.${field} became required`));
    else changes.push(...fewer.map((field) => `${name}.${field} may be absent now`));
    return changes;
  }

  /** Compares the cases of a choice. A reader may accept more cases, and a sender may send fewer. */
  private cases(before: Schema, after: Schema, name: string, direction: Direction): string[] {
    const [old, now] = [casesOf(before), casesOf(after)];
    const only = (these: object, others: object) => Object.keys(these).filter((one) => !(one in others));
    const changes =
      direction === 'accepted'
        ? only(old, now).map((lost) => `${name} is not accepted as ${lost} any more`)
        : only(now, old).map((added) => `${name} may be ${added} now`);
    return Object.entries(old)
      .flatMap(([value, schema]) =>
        now[value] ? this.schema(schema, now[value], `${name}(${value})`, direction) : [],
      )
      .concat(changes);
  }

  private follow<T extends { readonly $ref?: string }>(document: Described, node: T): T {
    if (node.$ref === undefined) return node;
    const names = node.$ref.split('/').slice(1);
    return names.reduce<unknown>((part, name) => (part as Json)[name], document) as T;
  }
}

/** The schemas of a choice, by the value that decides, or else by their name or text. */
function casesOf({ discriminator, anyOf = [] }: Schema): Readonly<Record<string, Schema>> {
  const decided = Object.entries(discriminator?.mapping ?? {}).map(([value, $ref]) => [value, { $ref }]);
  const others = anyOf.map((schema) => [schema.$ref?.split('/').at(-1) ?? JSON.stringify(schema), schema]);
  return Object.fromEntries([...decided, ...others]) as Record<string, Schema>;
}

/** The changes of a schema's own keywords. */
function values(before: Schema, after: Schema, name: string, direction: Direction): string[] {
  // Values that were valid must stay accepted; sent values must have been valid.
  const [inner, outer] = direction === 'accepted' ? [before, after] : [after, before];
  const changes: string[] = [];
  const types = (schema: Schema) => (schema.type === undefined ? undefined : [schema.type].flat());
  if (!contains(types(outer), types(inner))) changes.push(`${name} has another type`);
  if (!contains(outer.enum, inner.enum)) changes.push(`${name} has other values`);
  const least = (schema: Schema) => (schema['minimum'] as number | undefined) ?? -Infinity;
  const most = (schema: Schema) => (schema['maximum'] as number | undefined) ?? Infinity;
  if (least(inner) < least(outer) || most(inner) > most(outer)) changes.push(`${name} has other bounds`);
  for (const keyword of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (WORDS.has(keyword) || JUDGED.has(keyword) || keyword.startsWith('x-')) continue;
    if (DECIDED.has(keyword) && before.discriminator && after.discriminator) continue;
    if (keyword === 'anyOf' && before.anyOf && after.anyOf) continue;
    if (JSON.stringify(before[keyword]) !== JSON.stringify(after[keyword]))
      changes.push(`${name} has another ${keyword}`);
  }
  return changes;
}

/** @param outer undefined: everything */
function contains(outer: readonly unknown[] | undefined, inner: readonly unknown[] | undefined): boolean {
  return outer === undefined || (inner?.every((value) => outer.includes(value)) ?? false);
}
