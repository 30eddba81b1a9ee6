import { Injectable } from '@nestjs/common';

/**
 * Whether the process has been signalled to stop. From then on it is not ready, and closes connections after their
 * answers.
 */
@Injectable()
export class Lifecycle {
  stopping = false;
}
