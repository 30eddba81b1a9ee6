import type { PipeTransform } from '@nestjs/common';
import { CroupierError } from '../errors/croupier-error.js';

/** 1–128 printable ASCII characters without spaces, not `.` or `..`. Contract, section 3. */
export const IDENTIFIER = /^(?!\.{1,2}$)[!-~]{1,128}$/;

export function isIdentifier(value: unknown): value is string {
  return typeof value === 'string' && IDENTIFIER.test(value);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(value: string): boolean {
  return UUID.test(value);
}

/** An id of our own in a path: what is no UUID names nothing that exists. */
export class UuidPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isUuid(value)) throw new CroupierError('NOT_FOUND');
    return value.toLowerCase();
  }
}

/** A caller's identifier in a path. */
export class IdentifierPipe implements PipeTransform<string, string> {
  transform(value: string): string {
    if (!isIdentifier(value))
      throw new CroupierError('INVALID_REQUEST', 'the path carries no valid identifier');
    return value;
  }
}
