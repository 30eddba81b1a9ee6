export type Environment = Readonly<Record<string, string | undefined>>;

/** A wrong value in the environment; the message is one line that names the variable. */
export class ConfigurationError extends Error {}

export type Reader = ReturnType<typeof reader>;

export function reader(environment: Environment) {
  const names = new Set<string>();
  const text = (name: string): string | undefined => {
    names.add(name);
    return environment[name]?.trim() || undefined;
  };
  return {
    names: names as ReadonlySet<string>,
    text,
    boolean(name: string, fallback: boolean): boolean {
      const value = text(name);
      if (value === undefined) return fallback;
      if (value === 'true') return true;
      if (value === 'false') return false;
      throw new ConfigurationError(`${name}: must be true or false`);
    },
    integer(name: string, fallback: number, least: number, most: number): number {
      const value = text(name);
      if (value === undefined) return fallback;
      const number = /^\d{1,16}$/.test(value) ? Number(value) : NaN;
      if (number >= least && number <= most) return number;
      throw new ConfigurationError(`${name}: must be an integer from ${least} to ${most}`);
    },
    oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
      const value = text(name) ?? fallback;
      const found = values.find((candidate) => candidate === value);
      if (found === undefined) throw new ConfigurationError(`${name}: must be one of ${values.join(', ')}`);
      return found;
    },
    url(name: string, protocols: readonly string[]): string | undefined {
      const value = text(name);
      if (value === undefined) return undefined;
      if (
        URL.canParse(value) &&
        protocols.some((protocol) => value.toLowerCase().startsWith(`${protocol}//`))
      )
        return value;
      const beginnings = protocols.map((protocol) => `${protocol}//`).join(' or ');
      throw new ConfigurationError(`${name}: must be a URL that begins with ${beginnings}`);
    },
  };
}
