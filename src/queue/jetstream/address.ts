import type { ConnectionOptions } from 'nats';
import { ConfigError } from '../../base/config.ts';

/**
 * Reads NATS_URL: one address or several of one cluster, separated by commas:
 * `nats://[user:password@|token@]host[:port]`, `tls://…` for TLS. The first address that names
 * credentials names them for all. Throws ConfigError; its words never hold the credentials.
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
  const named = urls.find((url) => url.username !== '');
  return {
    servers: urls.map((url) => url.host),
    ...(urls.some((url) => url.protocol === 'tls:') ? { tls: {} } : {}),
    ...credentials(named),
  };
}

function credentials(url: URL | undefined): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> {
  if (!url) return {};
  const user = decodeURIComponent(url.username);
  return url.password === '' ? { token: user } : { user, pass: decodeURIComponent(url.password) };
}
