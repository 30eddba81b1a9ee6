import { type Connection, TcpProxy } from './tcp-proxy.js';

/** When a connection is reset: before the server gets the statement, or once it has carried it out. */
export type Moment = 'before' | 'after';

/** A statement, by its name or words, at which every connection is reset. */
export interface Cut {
  /** How many connections it has reset. */
  count: number;
  withdraw(): void;
}

interface Rule extends Cut {
  readonly words: string;
  readonly moment: Moment;
  readonly limit: number;
}

/** Stands between an instance and PostgreSQL, and resets connections at a chosen statement. */
export class DatabaseProxy extends TcpProxy {
  private readonly rules = new Set<Rule>();

  private constructor(
    target: URL,
    private readonly passOn: (startup: Buffer) => Buffer,
  ) {
    super(target);
  }

  /** @param passOn changes the startup message of each connection */
  static start(databaseUrl: string, passOn = (startup: Buffer): Buffer => startup): Promise<DatabaseProxy> {
    return new DatabaseProxy(new URL(databaseUrl), passOn).listen();
  }

  /** @param limit maximum number of connections that it resets */
  cut(words: string, moment: Moment, limit = Infinity): Cut {
    const rule: Rule = { words, moment, limit, count: 0, withdraw: () => void this.rules.delete(rule) };
    this.rules.add(rule);
    return rule;
  }

  /** Lets new connections lead to another server, and resets existing ones. */
  pointTo(databaseUrl: string): void {
    this.target = new URL(databaseUrl);
    this.resetAll();
  }

  /** Resets every existing connection. */
  resetAll(): void {
    for (const { client } of this.connections) client.resetAndDestroy();
  }

  /** Resets all connections and refuses new ones. */
  override stop(): Promise<void> {
    this.resetAll();
    return super.stop();
  }

  protected relay({ client, server }: Connection): void {
    let lost: Rule | undefined;
    let pass = this.passOn;
    const reset = (rule: Rule) => {
      rule.count += 1;
      client.resetAndDestroy();
    };
    client.on('data', (sent) => {
      const rule = [...this.rules].find(({ words, count, limit }) => count < limit && sent.includes(words));
      if (rule?.moment === 'before') return reset(rule);
      lost ??= rule;
      server.write(pass(sent));
      pass = (later) => later;
    });
    server.on('data', (answer) => {
      if (lost) reset(lost);
      else client.write(answer);
    });
  }
}

/** Length and protocol version, before the parameters of a startup message. */
const STARTUP_HEADER = 8;

/** The startup message without the parameter `options`, as poolers pass it on. */
export function withoutOptions(startup: Buffer): Buffer {
  const texts = startup.subarray(STARTUP_HEADER).toString('latin1').split('\0');
  const option = texts.findIndex((text, index) => index % 2 === 0 && text === 'options');
  if (option >= 0) texts.splice(option, 2);
  const message = Buffer.concat([
    startup.subarray(0, STARTUP_HEADER),
    Buffer.from(texts.join('\0'), 'latin1'),
  ]);
  message.writeInt32BE(message.length);
  return message;
}
