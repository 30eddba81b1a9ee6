import { Injectable } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { equalInConstantTime } from '../runtime/digest.js';
import type { Role } from './role.js';

/** Who acts: a name for the records, and what they may do. */
export interface Administrator {
  readonly name: string;
  readonly role: Role;
}

const ROOT: Administrator = { name: 'root', role: 'admin' };

/** Knows the administrators by their keys. */
@Injectable()
export class Administrators {
  constructor(private readonly configuration: Configuration) {}

  /** The administrator behind a key; undefined where it is nobody's. */
  behind(key: string): Promise<Administrator | undefined> {
    return Promise.resolve(equalInConstantTime(key, this.configuration.adminApiKey) ? ROOT : undefined);
  }
}
