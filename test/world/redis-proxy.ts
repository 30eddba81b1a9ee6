import { type Connection, TcpProxy } from './tcp-proxy.js';

/** Stands between an instance and Redis, and records what is sent. */
export class RedisProxy extends TcpProxy {
  /** Everything that was sent towards Redis, in its protocol. */
  sent = '';

  static start(redisUrl: string): Promise<RedisProxy> {
    const target = new URL(redisUrl);
    target.port ||= '6379';
    return new RedisProxy(target).listen();
  }

  protected relay({ client, server }: Connection): void {
    client.on('data', (commands) => {
      this.sent += commands.toString();
      server.write(commands);
    });
    server.on('data', (answers) => client.write(answers));
  }
}
