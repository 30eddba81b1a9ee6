import { Injectable } from '@nestjs/common';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';

@Injectable()
export class Randomness {
  /** A UUID with 122 random bits. Node makes UUIDs fast, from buffered random bytes. */
  uuid(): string {
    return randomUUID();
  }

  /** A secret or token: 256 random bits in base64url, 43 characters. */
  secret(): string {
    return randomBytes(32).toString('base64url');
  }

  /** A random integer from 0 to `most`, both included. */
  integer(most: number): number {
    return randomInt(most + 1);
  }

  bytes(count: number): Buffer {
    return randomBytes(count);
  }
}
