import { CookieJar } from 'tough-cookie';
import { type BoundedMapOptions, createBoundedMap } from '../base/bounded-map.ts';

/** Scope of a session's state: an origin (scheme, host, and port) as one region of a market. */
export interface SessionScope {
  market: string;
  region: string;
  origin: string;
}

/** Cache of values by session scope. */
export interface ScopedCache<Value> {
  get(scope: SessionScope): Value | undefined;
  set(scope: SessionScope, value: Value): void;
  /** Deletes the values of all origins of a market's region, including stores named by callers. */
  drop(market: string, region: string): void;
}

/** Cookies by session scope, kept in memory. */
export interface CookieStore {
  /**
   * Returns the `cookie` header for a URL of the origin, or undefined if there are no cookies.
   * `preferences`: initial cookies by name.
   */
  header(
    scope: SessionScope,
    url: string,
    preferences?: Readonly<Record<string, string>>,
  ): string | undefined;
  /** Stores the `set-cookie` headers of a response from a URL of the origin. */
  save(scope: SessionScope, url: string, cookies: readonly string[]): void;
  /** Deletes the cookies of a market's region. */
  drop(market: string, region: string): void;
}

/** Limits on the cache: callers may name any number of stores. */
const maxEntries = 1_000;
const maxBytes = 32 * 1024 * 1024;

/** Limits per origin: servers refuse requests whose headers exceed 8 KB, and some smaller ones. */
const maxCookies = 100;
const maxCookiesLength = 7_000;
const maxCookieLength = 4096;

/** Name and value of a cookie. */
export interface CookieText {
  name: string;
  value: string;
}

/**
 * Returns true if a session has more cookies than sites accept. The caller restarts the session: a
 * site that keeps adding cookies would reject every later request.
 */
export function hasTooManyCookies(cookies: readonly CookieText[]): boolean {
  const length = cookies.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  return cookies.length > maxCookies || length > maxCookiesLength;
}

/** Returns a map key for a session scope. */
export function scopeKey({ market, region, origin }: SessionScope): string {
  return `${market}/${region} ${origin}`;
}

/** Creates a cache of up to 1,000 origins and 32 MB that evicts the least recently used origin. */
export function createScopedCache<Value extends NonNullable<unknown>>(
  sizeOf: BoundedMapOptions<Value>['sizeOf'],
): ScopedCache<Value> {
  const values = createBoundedMap<Value>({ maxBytes, maxEntries, sizeOf });
  return {
    get: (scope) => values.get(scopeKey(scope)),
    set: (scope, value) => values.set(scopeKey(scope), value),
    drop: (market, region) => {
      const prefix = `${market}/${region} `;
      for (const key of [...values.keys()]) if (key.startsWith(prefix)) values.delete(key);
    },
  };
}

const cookiesOf = (jar: CookieJar) => jar.serializeSync()?.cookies ?? [];

/** Estimates the memory of a jar, in bytes. */
function bytesOf(jar: CookieJar): number {
  return 2 * JSON.stringify(cookiesOf(jar)).length;
}

/**
 * Creates an empty cookie store with one jar per scope. A cookie is only sent to the exact origin
 * that set it, subject to its path, expiry, and `secure` attributes, whatever domain it names.
 */
export function createCookieStore(): CookieStore {
  const jars = createScopedCache<CookieJar>(bytesOf);
  return {
    header: (scope, url, preferences) => {
      const jar = jars.get(scope);
      if (jar === undefined && preferences === undefined) return undefined;
      const stored = jar?.getCookiesSync(url) ?? [];
      const initial = Object.entries(preferences ?? {}).filter(([name]) =>
        stored.every(({ key }) => key !== name),
      );
      const pairs = [
        ...stored.map((cookie) => cookie.cookieString()),
        ...initial.map(([name, value]) => `${name}=${value}`),
      ];
      return pairs.length === 0 ? undefined : pairs.join('; ');
    },
    save: (scope, url, cookies) => {
      if (cookies.length === 0) return;
      const jar = jars.get(scope) ?? new CookieJar();
      for (const cookie of cookies) {
        if (cookie.length > maxCookieLength) continue;
        jar.setCookieSync(cookie, url, { ignoreError: true });
      }
      const stored = cookiesOf(jar).map(({ key = '', value = '' }) => ({ name: key, value }));
      if (hasTooManyCookies(stored)) jar.removeAllCookiesSync();
      jars.set(scope, jar);
    },
    drop: (market, region) => jars.drop(market, region),
  };
}
