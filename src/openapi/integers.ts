import type { OpenAPIObject } from '@nestjs/swagger';
import { mapValues } from './operations.js';

/** Amounts, balances, ids that the database numbers, and counts that a provider chooses can exceed 32 bits. */
const LONG = /Minor$|^balance$|^callbackId$|^remainingSpins$/;
const HIGHEST_INT32 = 2 ** 31 - 1;

type Json = Readonly<Record<string, unknown>>;

/**
 * Adds a format to each integer, because generators for Java, C#, Kotlin and Rust take an integer without one for 32
 * bits: `int64` for amounts and for fields whose bounds need it, else `int32`.
 */
export function withIntegerFormats(document: OpenAPIObject): OpenAPIObject {
  return formatted(document, '') as OpenAPIObject;
}

/** @param name the name of the nearest field or parameter that contains the node */
function formatted(node: unknown, name: string): unknown {
  if (Array.isArray(node)) return node.map((item) => formatted(item, name));
  if (node === null || typeof node !== 'object') return node;
  const own = node as Json;
  const copy = mapValues(own, (value, key) =>
    VALUES.has(key) ? value : formatted(value, nameOf(own, key, name)),
  );
  if (![own['type']].flat().includes('integer') || own['format'] !== undefined) return copy;
  return { ...copy, format: LONG.test(name) || !fitsInt32(own) ? 'int64' : 'int32' };
}

/** Keywords whose values are data, not schemas. */
const VALUES = new Set(['example', 'examples', 'enum', 'default']);
/** Keywords of a schema or parameter that do not begin another field. */
const WITHIN = new Set(['schema', 'items', 'anyOf', 'oneOf', 'allOf', 'not']);

function nameOf(node: Json, key: string, name: string): string {
  if (!WITHIN.has(key)) return key;
  return typeof node['name'] === 'string' ? node['name'] : name;
}

function fitsInt32({ minimum, maximum }: Json): boolean {
  return [minimum, maximum].every((bound) => bound === undefined || Math.abs(Number(bound)) <= HIGHEST_INT32);
}
