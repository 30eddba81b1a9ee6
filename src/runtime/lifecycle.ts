import { Injectable } from '@nestjs/common';

/**
 * Whether the process has been signalled to stop. From then on it is not ready, and closes each connection after the
 * current answer.
 */
@Injectable()
export class Lifecycle {
  stopping = false;
}
