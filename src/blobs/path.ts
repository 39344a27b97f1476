import { Fault } from '../base/fault.ts';

const part = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+,=@-]*$/u;
const longestPartBytes = 200;

/**
 * The two parts of a blob path, `<job id>/<file name>`. A part begins with a letter, digit or `_`,
 * goes on with those, marks, spaces and `._()+,=@-`, and has at most 200 bytes of UTF-8: nothing in it
 * can leave the folder or the bucket. Fault `not_found` for anything else: no such file can exist.
 */
export function parsePath(path: string): { jobId: string; fileName: string } {
  const parts = path.split('/');
  if (parts.length !== 2 || !parts.every(isPart)) throw missing(path);
  return { jobId: parts[0]!, fileName: parts[1]! };
}

/** A job id that is fit to be a folder; fault `not_found` otherwise. */
export function parseJobId(jobId: string): string {
  if (!isPart(jobId)) throw missing(jobId);
  return jobId;
}

/** The fault for a path without a file. */
export function missing(path: string): Fault {
  return new Fault('not_found', `There is no file ${JSON.stringify(path.slice(0, 300))}.`);
}

function isPart(text: string): boolean {
  return part.test(text) && Buffer.byteLength(text) <= longestPartBytes;
}
