import { Injectable } from '@nestjs/common';
import { Randomness } from './randomness.js';

/** The running instance of the service. Its id is new at each start. */
@Injectable()
export class Instance {
  readonly id: string;

  constructor(randomness: Randomness) {
    this.id = randomness.uuid();
  }
}
