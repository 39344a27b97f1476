import { CookieJar } from 'tough-cookie';
import { type BoundedMapOptions, createBoundedMap } from '../base/bounded-map.ts';

/** Whose cookies: a market's origin (scheme, host and port) as one of its regions. */
export interface Visited {
  market: string;
  region: string;
  origin: string;
}

/** What is remembered of visits, by market, region and origin. */
export interface Kept<Value> {
  get(visited: Visited): Value | undefined;
  set(visited: Visited, value: Value): void;
  /** Forgets every origin of a market's region; stores named by callers too. */
  drop(market: string, region: string): void;
}

/** Cookies of the sites that are read, each origin's for itself. They live in this process only. */
export interface Sessions {
  /** Value of the `cookie` header for a request to an address of the origin; undefined for none.
   *  `preferences`: choices that a new visitor comes with, by the cookie's name. */
  header(visited: Visited, url: string, preferences?: Readonly<Record<string, string>>): string | undefined;
  /** Takes the `set-cookie` headers of an answer from an address of the origin. */
  keep(visited: Visited, url: string, cookies: readonly string[]): void;
  /** Forgets the cookies of a market's region: they no longer work. */
  drop(market: string, region: string): void;
}

/** Origins remembered at once, and memory for them: stores named by callers come and go. */
const maxEntries = 1_000;
const maxBytes = 32 * 1024 * 1024;

/** More, or longer ones, are not what a session needs; browsers stop at 180 of 4096 bytes. */
const mostCookies = 100;
const longestCookie = 4096;

/** A name for what is remembered of a visited origin. */
export function nameOf({ market, region, origin }: Visited): string {
  return `${market}/${region} ${origin}`;
}

/** Remembers values of up to 1,000 origins and 32 MB: the one that was not used for longest goes first. */
export function createKept<Value extends NonNullable<unknown>>(
  sizeOf: BoundedMapOptions<Value>['sizeOf'],
): Kept<Value> {
  const values = createBoundedMap<Value>({ maxBytes, maxEntries, sizeOf });
  return {
    get: (visited) => values.get(nameOf(visited)),
    set: (visited, value) => values.set(nameOf(visited), value),
    drop: (market, region) => {
      const start = `${market}/${region} `;
      for (const name of [...values.keys()]) if (name.startsWith(start)) values.delete(name);
    },
  };
}

const cookiesOf = (jar: CookieJar) => jar.serializeSync()?.cookies ?? [];

/** Estimates the memory of a jar, in bytes. */
function bytesOf(jar: CookieJar): number {
  return 2 * JSON.stringify(cookiesOf(jar)).length;
}

/**
 * Makes the cookies of a process. A jar per origin: what an origin sets goes back to that very origin,
 * by the cookie's own path, expiry and `secure`, and to no other one, whatever domain it names.
 */
export function createSessions(): Sessions {
  const jars = createKept<CookieJar>(bytesOf);
  return {
    header: (visited, url, preferences) => {
      const jar = jars.get(visited);
      if (jar === undefined && preferences === undefined) return undefined;
      const kept = jar?.getCookiesSync(url) ?? [];
      const chosen = Object.entries(preferences ?? {}).filter(([name]) =>
        kept.every(({ key }) => key !== name),
      );
      const pairs = [
        ...kept.map((cookie) => cookie.cookieString()),
        ...chosen.map(([name, value]) => `${name}=${value}`),
      ];
      return pairs.length === 0 ? undefined : pairs.join('; ');
    },
    keep: (visited, url, cookies) => {
      if (cookies.length === 0) return;
      const jar = jars.get(visited) ?? new CookieJar();
      for (const cookie of cookies) {
        if (cookie.length > longestCookie) continue;
        jar.setCookieSync(cookie, url, { ignoreError: true });
      }
      // A site that sets ever new ones is begun anew.
      if (cookiesOf(jar).length > mostCookies) jar.removeAllCookiesSync();
      jars.set(visited, jar);
    },
    drop: (market, region) => jars.drop(market, region),
  };
}
