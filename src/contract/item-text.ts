import { type DescMessage, getOption } from '@bufbuild/protobuf';
import {
  item_hosts as hostsOption,
  item_pattern as patternOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { quote } from './problem-texts.ts';

/** Returns true if a message declares how people write the id or the address of its item. */
export const hasItemText = (message: DescMessage): boolean =>
  getOption(message, patternOption) !== '';

/**
 * Parses the id or the address of an item, as people write it, into fields of its message by their
 * REST names. Returns null if the text does not have the form that the message declares, or is an
 * address of another site.
 */
export function parseItemText(message: DescMessage, text: string): Record<string, string> | null {
  const itemText = withScheme(text.trim());
  if (!isOwnAddress(getOption(message, hostsOption), itemText)) return null;
  const pattern = getOption(message, patternOption);
  const groups = pattern === '' ? undefined : new RegExp(pattern).exec(itemText)?.groups;
  if (groups === undefined) return null;
  return Object.fromEntries(Object.entries(groups).filter(([, value]) => value !== undefined));
}

/**
 * Returns the end of a message about a value that is the id or the address of an item: the fields
 * to send in its place. Empty for another value.
 */
export function itemHint(message: DescMessage, value: unknown): string {
  const item = typeof value === 'string' ? parseItemText(message, value) : null;
  return item === null
    ? ''
    : `. Send ${JSON.stringify(item)} in place of ${quote(value as string)}`;
}

/** Addresses as browsers and messages show them: `www.shop.example`, `shop.example/p/1`. */
const withoutScheme = /^(?:www\.|(?:[a-z0-9-]+\.)+[a-z]{2,}\/)/i;

/** Returns an address without a scheme with `https://`, and other text unchanged. */
export const withScheme = (text: string): string =>
  withoutScheme.test(text) ? `https://${text}` : text;

/** Returns true for a web address, also without its scheme. */
export const isAddress = (text: string): boolean =>
  text.includes('://') || withoutScheme.test(text);

/** Returns false for a web address whose host is neither one of the domains nor below one. */
function isOwnAddress(domains: readonly string[], text: string): boolean {
  const url = URL.parse(text);
  if (domains.length === 0 || url === null || !/^https?:$/.test(url.protocol)) return true;
  const { hostname } = url;
  if (reservedHost.test(hostname)) return true;
  return domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

/** Hosts of examples and of the sandbox, which belong to no shop (RFC 2606, RFC 6761). */
const reservedHost = /(?:^|\.)example(?:\.|$)|(?:^|\.)(?:test|invalid|localhost)$|^127\.|^\[::1\]$/;
