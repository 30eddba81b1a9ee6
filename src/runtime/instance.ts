import { Injectable } from '@nestjs/common';
import { Clock } from './clock.js';
import { Randomness } from './randomness.js';

/** The running instance of the service. Its id is new at each start. */
@Injectable()
export class Instance {
  readonly id: string;
  readonly startedAt: Date;

  constructor(randomness: Randomness, clock: Clock) {
    this.id = randomness.uuid();
    this.startedAt = clock.now();
  }
}
