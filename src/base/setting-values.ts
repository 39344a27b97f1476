import { accessSync, constants } from 'node:fs';
import { resolve } from 'node:path';
import { parseDuration } from './duration.ts';

/*
 * Parsers of the values of settings. Each throws an Error that says what is expected.
 */

export const text = (value: string): string => value;

/** Returns an absolute path. */
export const path = (value: string, folder: string): string => resolve(folder, value);

/** Returns a parser of an integer in a range. */
export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const parsed = Number(value);
    if (/^\d+$/.test(value) && parsed >= min && parsed <= max) return parsed;
    throw new Error(`expected an integer from ${min} to ${max}`);
  };
}

export const port = integer(0, 65_535);

export function positive(value: string): number {
  const parsed = Number(value);
  if (!(parsed > 0)) throw new Error('expected a number above 0, or off');
  return parsed;
}

/** Returns a parser that returns null for `off`. */
export function orOff<T>(parse: (value: string) => T): (value: string) => T | null {
  return (value) => (value === 'off' ? null : parse(value));
}

export function oneOf<T extends string>(...values: readonly T[]): (value: string) => T {
  return (value) => {
    const match = values.find((each) => each === value);
    if (match !== undefined) return match;
    throw new Error(`expected one of ${values.join(', ')}`);
  };
}

export function onOff(value: string): boolean {
  if (value !== 'on' && value !== 'off') throw new Error('expected on or off');
  return value === 'on';
}

export function proxyOrOff(value: string): boolean {
  if (value !== 'proxy' && value !== 'off') throw new Error('expected proxy or off');
  return value === 'proxy';
}

export function httpUrl(value: string): string {
  if (!/^https?:/.test(value)) throw new Error('expected a URL');
  return value;
}

/**
 * Returns the base of addresses: a URL that a path can be appended to, without a slash at its end.
 */
export function baseUrl(value: string): string {
  const url = URL.parse(httpUrl(value));
  if (url === null) throw new Error('expected a URL');
  const { username, password } = url;
  if (username !== '' || password !== '') throw new Error('expected a URL without credentials');
  if (/[?#]/.test(value)) throw new Error('expected a URL without a query and a fragment');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Returns the DevTools addresses of browsers. */
export function browserUrls(value: string): string[] {
  const urls = value.split(',').map((url) => url.trim());
  const isAddress = (url: string) => /^(?:https?|wss?):$/.test(URL.parse(url)?.protocol ?? '');
  if (urls.every(isAddress)) return urls;
  throw new Error('expected DevTools addresses such as http://browser:9222, separated by commas');
}

/** Returns a host name or an address, which may be in brackets as in a URL. */
export const host = (value: string): string => value.replace(/^\[(.*)\]$/, '$1');

/** Returns a URL, or an absolute path. */
export function folderOrUrl(value: string, folder: string): string {
  if (/^https?:/.test(value)) return value;
  return path(value, folder);
}

export function executable(value: string, folder: string): string {
  accessSync(path(value, folder), constants.X_OK);
  return path(value, folder);
}

/** Returns milliseconds. */
function duration(value: string): number {
  const ms = parseDuration(value);
  if (ms === null) throw new Error('expected a duration such as 120s or 24h');
  return ms;
}

/** Parses a number of days. Returns milliseconds. */
export function days(value: string): number {
  const max = 36_500;
  const count = Number(value);
  if (!/^\d+$/.test(value) || count < 1 || count > max)
    throw new Error(`expected a number of days from 1 to ${max}, or off`);
  return count * 86_400_000;
}

/** Cache lifetimes in milliseconds, while a job is processing and after it completed. */
export function twoDurations(value: string): { processingMs: number; completedMs: number } {
  const parts = value.split(',');
  if (parts.length !== 2) throw new Error('expected two durations such as 120s,24h, or off');
  return { processingMs: duration(parts[0]!), completedMs: duration(parts[1]!) };
}

export function operatorKey(value: string): string {
  if (!/^[\x21-\x7e]{8,200}$/.test(value))
    throw new Error('expected 8 to 200 visible ASCII characters');
  return value;
}

export function linkSecrets(value: string): readonly [string, ...string[]] {
  const secrets = value.split(',');
  if (secrets.some((secret) => secret.length < 32))
    throw new Error('expected secrets of 32 characters or more, separated by commas');
  return secrets as [string, ...string[]];
}

export function corsOrigins(value: string): string[] {
  if (value === '*') return ['*'];
  const origins = value.split(',').map((origin) => origin.trim());
  // A page's origin has no path, user, or default port, and is in lower case.
  const wrong = origins.find(
    (origin) =>
      !/^https?:/.test(origin) || !URL.canParse(origin) || new URL(origin).origin !== origin,
  );
  if (wrong === undefined) return origins;
  throw new Error(
    `expected * or origins such as https://app.example, separated by commas; not "${wrong}"`,
  );
}

/** Credits per unit by kind, or by market and kind. */
export function prices(value: string): ReadonlyMap<string, number> {
  const parsed: unknown = JSON.parse(value);
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
