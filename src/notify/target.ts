import { isIP } from 'node:net';
import { isPublicAddress } from '../fetch/address.ts';

/** Longest address of a webhook. */
const longest = 2_000;

/** Names that lead to this machine or network, whatever a resolver says. */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * What is wrong with an address as a user's webhook, in words; null when nothing is. Names are resolved and judged
 * when a message is sent; here only what can be seen.
 */
export function problemOfTarget(text: string, allowPrivate: boolean): string | null {
  if (text.length > longest) return `The address is longer than ${longest} characters`;
  if (!URL.canParse(text)) return 'Value is not an address such as https://example.com/hook';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'The address must be http or https';
  if (url.username !== '' || url.password !== '') return 'The address must hold no user name or password';
  if (allowPrivate) return null;
  // The ports below 1024 belong to other services.
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 80 && port !== 443 && port < 1024) return `Messages are not sent to port ${port}`;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPrivate = isIP(host) === 0 ? privateName.test(host) : !isPublicAddress(host);
  return isPrivate ? `${host} is not an address of the public internet` : null;
}
