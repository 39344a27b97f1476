import type { DescMessage, Message } from '@bufbuild/protobuf';
import { LRUCache } from 'lru-cache';
import type { GatewayClock } from '../../src/contract/caller.ts';
import type { WriteMessage } from '../../src/contract/json/message-writer.ts';

/** Retention of a cached response. */
export interface CacheRetention {
  ms: number;
  /**
   * True if the response is final; callers that wait for a change are then also served from the
   * cache.
   */
  isFinal: boolean;
}

/**
 * Returns the retention of the responses of a type. Throws an Error for a type that must not be
 * cached.
 */
export type RetentionPolicy = (schema: DescMessage) => (message: Message) => CacheRetention;

/** A cached response. */
export interface CachedResponse {
  text: string;
  maxAgeSeconds: number;
  /** Entity tag of the core. Undefined if it sent none. */
  tag: string | undefined;
}

/** A response of the core. */
export interface CoreResponse {
  message: Message;
  tag: string | undefined;
}

/** A request whose response can be cached. */
export interface CacheableRequest {
  /** The same for requests with the same response. */
  key: string;
  /** True if the caller waits for a change: only final responses are served from the cache. */
  waits: boolean;
  make: () => Promise<CoreResponse>;
  write: WriteMessage;
}

/**
 * Returns the cached response of a request, or makes and caches one. Errors of `make` are not
 * cached.
 */
export type CachedResponses = (request: CacheableRequest) => Promise<CachedResponse>;

/** Caches responses per caller and request. */
export interface ResponseCache {
  /**
   * Returns the cache of methods with one response type. Throws an Error for a type that must not
   * be cached.
   */
  of(schema: DescMessage): CachedResponses;
}

const maxBytes = 64 * 1024 * 1024;
const maxTextLength = 64 * 1024;
/** Memory of an entry without its key and text, in bytes. */
const entryBytes = 128;

/** Creates a cache of at most 64 MB that evicts the least recently used responses. */
export function createResponseCache(policy: RetentionPolicy, clock: GatewayClock): ResponseCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ text, tag }, key) =>
      entryBytes + 2 * (key.length + text.length + (tag?.length ?? 0)),
  });
  return {
    of: (schema) => {
      const retentionOf = policy(schema);
      return async ({ key, waits, make, write }) => {
        const current = entries.get(key);
        if (current !== undefined && current.until > clock.now()) {
          const isServed = current.isFinal || !waits;
          if (isServed) return cached(current, clock);
        }
        entries.delete(key);
        const { message, tag } = await make();
        const { ms, isFinal } = retentionOf(message);
        const entry = {
          text: write(message),
          tag,
          isFinal,
          until: clock.now() + ms,
        };
        if (entry.text.length <= maxTextLength) entries.set(key, entry);
        return cached(entry, clock);
      };
    },
  };
}

interface Entry {
  text: string;
  tag: string | undefined;
  isFinal: boolean;
  until: number;
}

function cached({ text, tag, until }: Entry, clock: GatewayClock): CachedResponse {
  return { text, tag, maxAgeSeconds: Math.max(0, Math.floor((until - clock.now()) / 1000)) };
}
