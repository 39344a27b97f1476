import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { parseDuration } from './duration.ts';

/*
 * Parsers of the values of settings. Each throws an Error that says what is expected.
 */

export const text = (given: string): string => given;

/** Returns an absolute path. */
export const path = (given: string, folder: string): string => resolve(folder, given);

/** Returns a parser of an integer in a range. */
export function integer(min: number, max: number): (given: string) => number {
  return (given) => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    throw new Error(`expected an integer from ${min} to ${max}`);
  };
}

export const port = integer(0, 65_535);

export function positive(given: string): number {
  const value = Number(given);
  if (!(value > 0)) throw new Error('expected a number above 0, or off');
  return value;
}

/** Returns a parser that returns null for `off`. */
export function orOff<T>(parse: (given: string) => T): (given: string) => T | null {
  return (given) => (given === 'off' ? null : parse(given));
}

export function oneOf<T extends string>(...values: readonly T[]): (given: string) => T {
  return (given) => {
    const value = values.find((each) => each === given);
    if (value !== undefined) return value;
    throw new Error(`expected one of ${values.join(', ')}`);
  };
}

export function onOff(given: string): boolean {
  if (given !== 'on' && given !== 'off') throw new Error('expected on or off');
  return given === 'on';
}

export function proxyOrOff(given: string): boolean {
  if (given !== 'proxy' && given !== 'off') throw new Error('expected proxy or off');
  return given === 'proxy';
}

export function httpUrl(given: string): string {
  if (!/^https?:/.test(given)) throw new Error('expected a URL');
  return given;
}

/** Returns the base of addresses: a URL that a path can be appended to, without a slash at its end. */
export function baseUrl(given: string): string {
  const url = URL.parse(httpUrl(given));
  if (url === null) throw new Error('expected a URL');
  const { username, password } = url;
  if (username !== '' || password !== '') throw new Error('expected a URL without credentials');
  if (/[?#]/.test(given)) throw new Error('expected a URL without a query and a fragment');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Returns the DevTools addresses of browsers. */
export function browserUrls(given: string): string[] {
  const urls = given.split(',').map((url) => url.trim());
  const isAddress = (url: string) => /^(?:https?|wss?):$/.test(URL.parse(url)?.protocol ?? '');
  if (urls.every(isAddress)) return urls;
  throw new Error('expected DevTools addresses such as http://browser:9222, separated by commas');
}

/** Returns a host name or an address, which may be in brackets as in a URL. */
export const host = (given: string): string => given.replace(/^\[(.*)\]$/, '$1');

/** Returns a URL, or an absolute path. */
export const folderOrUrl = (given: string, folder: string): string =>
  /^https?:/.test(given) ? given : path(given, folder);

export function executable(given: string, folder: string): string {
  accessSync(path(given, folder), constants.X_OK);
  return path(given, folder);
}

/** Returns milliseconds. */
function duration(given: string): number {
  const ms = parseDuration(given);
  if (ms === null) throw new Error('expected a duration such as 120s or 24h');
  return ms;
}

/** Parses a number of days. Returns milliseconds. */
export function days(given: string): number {
  const max = 36_500;
  const count = Number(given);
  if (!/^\d+$/.test(given) || count < 1 || count > max)
    throw new Error(`expected a number of days from 1 to ${max}, or off`);
  return count * 86_400_000;
}

/** Cache lifetimes in milliseconds, while a job is processing and after it completed. */
export function twoDurations(given: string): { processingMs: number; completedMs: number } {
  const parts = given.split(',');
  if (parts.length !== 2) throw new Error('expected two durations such as 120s,24h, or off');
  return { processingMs: duration(parts[0]!), completedMs: duration(parts[1]!) };
}

export function operatorKey(given: string): string {
  if (!/^[\x21-\x7e]{8,200}$/.test(given)) throw new Error('expected 8 to 200 visible ASCII characters');
  return given;
}

export function linkSecrets(given: string): readonly [string, ...string[]] {
  const secrets = given.split(',');
  if (secrets.some((secret) => secret.length < 32))
    throw new Error('expected secrets of 32 characters or more, separated by commas');
  return secrets as [string, ...string[]];
}

export function corsOrigins(given: string): string[] {
  if (given === '*') return ['*'];
  const origins = given.split(',').map((origin) => origin.trim());
  // A page's origin has no path, user, or default port, and is in lower case.
  const wrong = origins.find(
    (origin) => !/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin,
  );
  if (wrong === undefined) return origins;
  throw new Error(`expected * or origins such as https://app.example, separated by commas; not "${wrong}"`);
}

/** Credits per unit by kind, or by market and kind. */
export function prices(given: string): ReadonlyMap<string, number> {
  const parsed: unknown = JSON.parse(given);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new Error('expected a JSON object');
  return new Map(
    Object.entries(parsed).map(([name, price]) => {
      if (!Number.isInteger(price) || price < 0 || price > 10_000) {
        throw new Error(`${name}: expected an integer from 0 to 10000`);
      }
      return [name, price as number];
    }),
  );
}
