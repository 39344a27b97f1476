import type { DescMessage, Message } from '@bufbuild/protobuf';
import { createBoundedMap } from '../../src/base/bounded-map.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { WriteMessage } from '../../src/contract/json/message-writer.ts';

/** How long retrieve answers are kept, in milliseconds (interface, "Limits": retrieve cache). */
export interface CacheLengths {
  processingMs: number;
  completedMs: number;
}

/** An answer, and for how long it stays good. */
export interface KeptAnswer {
  text: string;
  maxAgeSeconds: number;
  /** The core's tag of it; undefined where it gave none. */
  tag: string | undefined;
}

/** An answer as the core made it. */
export interface MadeAnswer {
  message: Message;
  tag: string | undefined;
}

/**
 * Gives the kept answer of a key, or makes and keeps one. Faults of `make` are not kept. A caller who `waits`
 * is given a kept answer only where its job is over: else one is made, and kept in place of the other.
 */
export type Answers = (
  key: string,
  waits: boolean,
  make: () => Promise<MadeAnswer>,
  write: WriteMessage,
) => Promise<KeptAnswer>;

/** Keeps retrieve answers per caller and path. */
export interface AnswerCache {
  /** The cache of methods with one answer type. Throws an Error for a type without a status. */
  of(schema: DescMessage): Answers;
}

const maxBytes = 64 * 1024 * 1024;
const maxTextLength = 64 * 1024;

/** Creates a cache of at most 64 MB that evicts the least recently used responses. */
export function createAnswerCache(lengths: CacheLengths, clock: Clock): AnswerCache {
  const kept = createBoundedMap<Kept>({
    maxBytes,
    sizeOf: ({ text, tag }) => 2 * (text.length + (tag?.length ?? 0)),
  });
  return {
    of: (schema) => {
      if (schema.field.status === undefined) throw new Error(`${schema}: a cached answer needs a status`);
      const file = schema.fields.find((field) => field.name === 'download_url');
      return async (key, waits, make, write) => {
        const known = kept.get(key);
        if (known !== undefined && known.until > clock.now() && (known.over || !waits))
          return answer(known, clock);
        kept.delete(key);
        const { message: answered, tag } = await make();
        const message = answered as unknown as Record<string, unknown>;
        const text = write(answered);
        // A job is over before its file is there: such an answer must not be kept for a day.
        const over =
          message.status !== 'processing' && (file === undefined || message[file.localName] !== undefined);
        const until = clock.now() + (over ? lengths.completedMs : lengths.processingMs);
        const made = { text, tag, over, until };
        if (text.length <= maxTextLength) kept.set(key, made);
        return answer(made, clock);
      };
    },
  };
}

interface Kept {
  text: string;
  tag: string | undefined;
  /** Its job is over: nothing about it changes any more. */
  over: boolean;
  until: number;
}

function answer({ text, tag, until }: Kept, clock: Clock): KeptAnswer {
  return { text, tag, maxAgeSeconds: Math.max(0, Math.floor((until - clock.now()) / 1000)) };
}
