import { Injectable } from '@nestjs/common';
import { BoundedLogger } from '../observability/bounded-logger.js';
import { Metrics } from '../observability/metrics.js';
import type { DestroyReason } from './connection.js';

const EXPLANATIONS: Record<DestroyReason, string> = {
  'address-limit': 'the address (for IPv6, its /64) has MAX_CONNECTIONS_PER_ADDRESS open connections',
  pipelining: 'the client pipelined too many requests before their answers were sent',
  'unread-answer': 'the client does not read its answer',
};

/** Logs and counts the connections that the server destroys for a `DestroyReason`. */
@Injectable()
export class ConnectionLog {
  private readonly logger = new BoundedLogger('Connection');

  constructor(private readonly metrics: Metrics) {}

  destroyed(reason: DestroyReason, address: string): void {
    this.metrics.connectionDestroyed(reason);
    this.logger.warn({ msg: `connection destroyed: ${EXPLANATIONS[reason]}`, reason, address });
  }
}
