import { ConfigurationError, type Reader } from './variable-reader.js';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Where Redis is, as `Configuration` describes it. */
interface RedisVariables {
  readonly redisUrl: string | undefined;
  readonly redisSentinels: readonly Address[] | undefined;
  readonly redisClusterNodes: readonly Address[] | undefined;
}

/**
 * Reads `REDIS_URL`, `REDIS_SENTINELS` and `REDIS_CLUSTER_NODES`.
 * @throws ConfigurationError
 */
export function redis(read: Reader): RedisVariables {
  const redisUrl = read.url('REDIS_URL', ['redis:', 'rediss:']);
  if (redisUrl !== undefined && !isDecodable(redisUrl))
    throw new ConfigurationError('REDIS_URL: its user or password is not percent-encoded');
  const redisSentinels = addresses(read, 'REDIS_SENTINELS');
  const redisClusterNodes = addresses(read, 'REDIS_CLUSTER_NODES');
  if (redisSentinels && !redisUrl)
    throw new ConfigurationError('REDIS_SENTINELS: needs REDIS_URL, whose host is the name of the master');
  if (redisClusterNodes && !redisUrl)
    throw new ConfigurationError('REDIS_CLUSTER_NODES: needs REDIS_URL, which has the protocol and password');
  if (redisClusterNodes && redisSentinels)
    throw new ConfigurationError('REDIS_CLUSTER_NODES: a cluster has no Sentinels; unset REDIS_SENTINELS');
  if (redisClusterNodes && !['', '/', '/0'].includes(new URL(redisUrl!).pathname))
    throw new ConfigurationError('REDIS_URL: a cluster has only the database 0');
  return { redisUrl, redisSentinels, redisClusterNodes };
}

/** Whether the user and the password of a URL can be decoded, as the client does. */
function isDecodable(url: string): boolean {
  const { username, password } = new URL(url);
  try {
    [username, password].forEach(decodeURIComponent);
    return true;
  } catch {
    return false;
  }
}

/** Reads a list of `host:port`, separated by commas. */
function addresses(read: Reader, name: string): Address[] | undefined {
  return read
    .text(name)
    ?.split(',')
    .map((entry) => address(name, entry));
}

function address(name: string, entry: string): Address {
  const url = `tcp://${entry.trim()}`;
  const { hostname, port } = URL.canParse(url) ? new URL(url) : { hostname: '', port: '' };
  if (url !== `tcp://${hostname}:${port}` || hostname === '' || port === '') {
    throw new ConfigurationError(`${name}: ${JSON.stringify(entry)} is not host:port`);
  }
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port) };
}
