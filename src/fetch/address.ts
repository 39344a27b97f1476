import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Fault } from '../contract/fault.ts';

const globalUnicast6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Returns true for an address of the public internet. Returns false for loopback, private,
 * link-local (cloud metadata), carrier-grade NAT, multicast, unspecified, reserved, and
 * documentation ranges, and for every IPv6 form that embeds an IPv4 address (mapped, NAT64, 6to4,
 * Teredo).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast6);
}

function refused(host: string, address: string): Fault {
  const what = host === address ? `${host} is` : `${host} resolves to ${address}, which is`;
  return new Fault('address_refused', `${what} not an address of the public internet`);
}

/**
 * Returns the normalized origin of a store that a caller named. Throws `address_refused` for
 * schemes other than http and https, for credentials, for ports of other services, and, unless
 * `allowPrivate`, for addresses outside the public internet.
 */
export function storeOrigin(text: string, allowPrivate: boolean): string {
  if (!URL.canParse(text)) throw new Fault('address_refused', `${text.slice(0, 200)} is not a URL`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Fault('address_refused', `stores must use http or https, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fault(
      'address_refused',
      'the URL of a store must not contain a user name or password',
    );
  }
  // Ports below 1024 belong to services other than shops.
  const port = url.port === '' ? 443 : Number(url.port);
  if (!allowPrivate && port !== 80 && port !== 443 && port < 1024) {
    throw new Fault('address_refused', `stores must not use port ${port}`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refused(host, host);
  return url.origin;
}

/** Resolves a host name to all of its addresses; `dns.lookup` by default. */
export type ResolveName = (
  host: string,
  options: { all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

/**
 * Creates a socket lookup that fails with `address_refused` for names that resolve to any address
 * outside the public internet. The socket connects to the checked addresses, so DNS rebinding has
 * no effect.
 */
export function guardedLookup(resolve: ResolveName = dns.lookup): LookupFunction {
  return (host, options, callback) => {
    const { family, hints } = options;
    const resolveOptions = {
      all: true,
      ...(family === undefined ? {} : { family }),
      ...(hints === undefined ? {} : { hints }),
    };
    resolve(host, resolveOptions as { all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const blocked = addresses.find(({ address }) => !isPublicAddress(address));
      if (blocked) return callback(refused(host, blocked.address), []);
      if (options.all) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}

/**
 * Throws `address_refused` for a URL whose host is an IP address outside of the public internet.
 * Names are checked by guardedLookup().
 */
export function requirePublicHost({ hostname }: URL): void {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isPublicAddress(host)) throw refused(host, host);
}
