import type { JobContext } from '../../../src/jobs/context.ts';

/** Returns a context with only these parts, for functions that use no others. */
export function contextWith(
  parts: { [Part in keyof JobContext]?: Partial<JobContext[Part]> },
): JobContext {
  return parts as unknown as JobContext;
}
