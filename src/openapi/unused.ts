import type { OpenAPIObject } from '@nestjs/swagger';

type Components = Record<string, Record<string, unknown>>;

/** The document without unused components, so that an audience sees only what its operations use. */
export function withoutUnused(document: OpenAPIObject): OpenAPIObject {
  const { components, ...rest } = document;
  const all = (components ?? {}) as Components;
  const used = new Set<string>();
  const follow = (part: unknown): void => {
    for (const [, section = '', name = ''] of JSON.stringify(part ?? null).matchAll(REFERENCE)) {
      const reference = `${section}/${name}`;
      if (used.has(reference)) continue;
      used.add(reference);
      follow(all[section]?.[name]);
    }
  };
  follow(rest);
  for (const name of securityOf(rest)) used.add(`securitySchemes/${name}`);
  const kept = Object.entries(all).map(([section, named]) => {
    const own = Object.entries(named).filter(([name]) => used.has(`${section}/${name}`));
    return [section, Object.fromEntries(own)] as const;
  });
  return { ...rest, components: Object.fromEntries(kept) };
}

const REFERENCE = /"#\/components\/([^/"]+)\/([^/"]+)"/g;

function securityOf({ paths, webhooks }: Pick<OpenAPIObject, 'paths' | 'webhooks'>): string[] {
  const operations = Object.values({ ...paths, ...webhooks }).flatMap(
    (item) => Object.values(item) as { security?: object[] }[],
  );
  return operations.flatMap(({ security }) => (security ?? []).flatMap((one) => Object.keys(one)));
}
