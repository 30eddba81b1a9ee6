/**
 * A named statement. PostgreSQL parses it once per connection and may then reuse its plan. A statement with an empty
 * name is parsed on every execution, and planned for the values of that execution.
 */
export interface Statement {
  readonly name: string;
  /** The SQL, with `$1`, `$2`, … for the parameters. */
  readonly text: string;
  /** The names of the parameters, in the order of their numbers. */
  readonly parameters: readonly string[];
}

/** A parameter such as `:playerRef`. A cast such as `::bigint` and a time such as `HH24:MI` are none. */
const PARAMETER = /(?<![:\w]):([a-z]\w*)/g;

/** @param text the SQL, with named parameters such as `:playerRef` */
export function named(name: string, text: string): Statement {
  const parameters: string[] = [];
  const numbered = text.replace(PARAMETER, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return { name, text: numbered, parameters };
}

/**
 * The values of a statement's parameters, in the order of their numbers. Undefined is sent as NULL.
 * @param values the values by the names of the parameters; further fields are ignored
 * @throws Error if a parameter has no field in `values`
 */
export function valuesOf({ name, parameters }: Statement, values: object): unknown[] {
  return parameters.map((parameter) => {
    if (!(parameter in values)) throw new Error(`the statement ${name} needs a value for :${parameter}`);
    return (values as Readonly<Record<string, unknown>>)[parameter];
  });
}
