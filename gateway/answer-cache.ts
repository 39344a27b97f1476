import type { DescMessage, Message } from '@bufbuild/protobuf';
import type { Clock } from '../src/base/clock.ts';
import type { WriteMessage } from './message-writer.ts';

/** How long retrieve answers are kept, in milliseconds (interface, "Limits": retrieve cache). */
export interface CacheLengths {
  processingMs: number;
  completedMs: number;
}

/** An answer, and for how long it stays good. */
export interface KeptAnswer {
  text: string;
  maxAgeSeconds: number;
}

/** Gives the kept answer of a key, or makes and keeps one. Faults of `make` are not kept. */
export type Answers = (key: string, make: () => Promise<Message>, write: WriteMessage) => Promise<KeptAnswer>;

/** Keeps retrieve answers per caller and path. */
export interface AnswerCache {
  /** The cache of methods with one answer type. Throws an Error for a type without a status. */
  of(schema: DescMessage): Answers;
}

const maxAnswers = 10_000;
const maxTextLength = 64 * 1024;

/** A cache that forgets what was used longest ago once it holds 10,000 answers. */
export function createAnswerCache(lengths: CacheLengths, clock: Clock): AnswerCache {
  const kept = new Map<string, { text: string; until: number }>();
  return {
    of: (schema) => {
      if (schema.field.status === undefined) throw new Error(`${schema}: a cached answer needs a status`);
      const file = schema.fields.find((field) => field.name === 'download_url');
      return async (key, make, write) => {
        const known = kept.get(key);
        kept.delete(key);
        if (known !== undefined && known.until > clock.now()) {
          kept.set(key, known);
          return answer(known, clock);
        }
        const message = (await make()) as unknown as Record<string, unknown>;
        const text = write(message as unknown as Message);
        // A job is over before its file is there: such an answer must not be kept for a day.
        const over =
          message.status !== 'processing' && (file === undefined || message[file.localName] !== undefined);
        const made = { text, until: clock.now() + (over ? lengths.completedMs : lengths.processingMs) };
        if (text.length <= maxTextLength) kept.set(key, made);
        if (kept.size > maxAnswers) kept.delete(kept.keys().next().value!);
        return answer(made, clock);
      };
    },
  };
}

function answer({ text, until }: { text: string; until: number }, clock: Clock): KeptAnswer {
  return { text, maxAgeSeconds: Math.max(0, Math.floor((until - clock.now()) / 1000)) };
}
