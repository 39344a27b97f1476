import type { ConnectionOptions } from 'nats';
import { ConfigError } from '../../base/config.ts';

/**
 * Parses NATS_URL: one or more servers of a cluster, separated by commas, as
 * `nats://[user:password@|token@]host[:port]` or `tls://…`. The first credentials found apply to all servers. Throws a
 * ConfigError that never contains the credentials.
 */
export function parseAddress(
  text: string,
): Pick<ConnectionOptions, 'servers' | 'user' | 'pass' | 'token' | 'tls'> {
  const urls = text.split(',').map((part) => {
    const url = URL.parse(part.includes('://') ? part.trim() : `nats://${part.trim()}`);
    if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === '') {
      throw new ConfigError('NATS_URL: expected addresses such as nats://host:4222, separated by commas');
    }
    return url;
  });
  const withCredentials = urls.find((url) => url.username !== '');
  return {
    servers: urls.map((url) => url.host),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
    ...credentials(withCredentials),
  };
}

function credentials(url: URL | undefined): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (!url) return {};
  const user = decodeURIComponent(url.username);
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}
