import { isIP } from 'node:net';
import { isPublicAddress } from './address.ts';

/** Maximum characters of a webhook URL. */
const maxLength = 2_000;

/** Host names that always belong to the local machine or network. */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Returns the reason why a URL cannot be a user's webhook, or null if it can. Checks only the URL
 * itself; host names are resolved and checked when a message is sent.
 */
export function problemOfTarget(text: string, allowPrivate: boolean): string | null {
  if (text.length > maxLength) return `The URL is longer than ${maxLength} characters`;
  if (!URL.canParse(text)) return 'Value is not a URL such as https://example.com/hook';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return 'The URL must use http or https';
  if (url.username !== '' || url.password !== '')
    return 'The URL must not contain a user name or password';
  if (allowPrivate) return null;
  // Other ports below 1024 belong to other protocols.
  const port = url.port === '' ? 443 : Number(url.port);
  if (port !== 80 && port !== 443 && port < 1024) return `Messages are not sent to port ${port}`;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isPrivate = isIP(host) === 0 ? privateName.test(host) : !isPublicAddress(host);
  if (!isPrivate) return null;
  return `${host} is not on the public internet, and the operator has not set GLEANER_PRIVATE=on`;
}
