import type { Retention, RetentionPolicy } from '../../gateway/response/response-cache.ts';

/** Retention of cached retrieve responses, in milliseconds: see docs/operate.md. */
export interface RetrieveCache {
  processingMs: number;
  completedMs: number;
}

/** Returns the retention of retrieve responses: by their status, and by whether the result file is available. */
export function retrieveRetention({ processingMs, completedMs }: RetrieveCache): RetentionPolicy {
  return (schema) => {
    if (schema.field.status === undefined) throw new Error(`${schema}: a cached response needs a status`);
    const file = schema.fields.find((field) => field.name === 'download_url');
    return (message): Retention => {
      const values = message as unknown as Record<string, unknown>;
      // A job ends before its file is available: such a response must not be cached for a day.
      const isFinal =
        values.status !== 'processing' && (file === undefined || values[file.localName] !== undefined);
      return { ms: isFinal ? completedMs : processingMs, isFinal };
    };
  };
}
