import dns from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { Fault } from '../contract/fault.ts';

const globalUnicast6 = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number];

/**
 * Tells whether an address belongs to the public internet. False for loopback, private, link-local
 * (cloud metadata), carrier-grade NAT, multicast, unspecified, reserved and documentation ranges, and
 * for every IPv6 form that carries an IPv4 address inside (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || (address as ipaddr.IPv6).match(globalUnicast6);
}

function refused(host: string, address: string): Fault {
  const what = host === address ? `${host} is` : `${host} leads to ${address},`;
  return new Fault('address_refused', `${what} not an address of the public internet`);
}

/**
 * The origin of a store that a caller named, normalized: odd notations of addresses become plain.
 * Fault `address_refused` for anything but http and https, for credentials, and for an address
 * outside the public internet unless `allowPrivate`.
 */
export function storeOrigin(text: string, allowPrivate: boolean): string {
  if (!URL.canParse(text)) throw new Fault('address_refused', `${text.slice(0, 200)} is not an address`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Fault('address_refused', `stores are read over http and https, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Fault('address_refused', 'an address with a user name or password is not read');
  }
  // The ports below 1024 belong to other services than shops.
  const port = url.port === '' ? 443 : Number(url.port);
  if (!allowPrivate && port !== 80 && port !== 443 && port < 1024) {
    throw new Fault('address_refused', `stores are not read on port ${port}`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!allowPrivate && isIP(host) !== 0 && !isPublicAddress(host)) throw refused(host, host);
  return url.origin;
}

/** Resolves a name to all of its addresses; `dns.lookup` in production. */
export type ResolveName = (
  host: string,
  options: { all: true; family?: number | 'IPv4' | 'IPv6'; hints?: number },
  callback: (error: NodeJS.ErrnoException | null, addresses: dns.LookupAddress[]) => void,
) => void;

/**
 * A lookup for sockets that refuses names leading outside the public internet with the fault
 * `address_refused`. The socket connects to the very addresses that were judged, so a name that
 * changes between two lookups gains nothing. One private address among several refuses them all.
 */
export function guardedLookup(resolve: ResolveName = dns.lookup): LookupFunction {
  return (host, options, callback) => {
    const { family, hints } = options;
    const wanted = {
      all: true,
      ...(family === undefined ? {} : { family }),
      ...(hints === undefined ? {} : { hints }),
    };
    resolve(host, wanted as { all: true }, (error, addresses) => {
      if (error) return callback(error, []);
      const bad = addresses.find(({ address }) => !isPublicAddress(address));
      if (bad) return callback(refused(host, bad.address), []);
      if (options.all) return callback(null, addresses);
      return callback(null, addresses[0]!.address, addresses[0]!.family);
    });
  };
}
