import { Fault } from '../contract/fault.ts';

const part = /^[\p{L}\p{N}_][\p{L}\p{M}\p{N} ._()+,=@-]*$/u;
const maxPartBytes = 200;

/**
 * Splits a blob path into its two parts, `<job id>/<file name>`. A part starts with a letter, digit or `_`,
 * continues with those, combining marks, spaces and `._()+,=@-`, and has at most 200 bytes of UTF-8, so that
 * no path leaves the folder or bucket. Throws `not_found` for any other path, since no such file can exist.
 */
export function parsePath(path: string): { jobId: string; fileName: string } {
  const parts = path.split('/');
  if (parts.length !== 2 || !parts.every(isPart)) throw missing(path);
  return { jobId: parts[0]!, fileName: parts[1]! };
}

/** Returns the job id if it is valid as a folder name; throws `not_found` otherwise. */
export function parseJobId(jobId: string): string {
  if (!isPart(jobId)) throw missing(jobId);
  return jobId;
}

/** Creates the Fault for a path without a file. */
export function missing(path: string): Fault {
  return new Fault('not_found', `There is no file ${JSON.stringify(path.slice(0, 300))}.`);
}

function isPart(text: string): boolean {
  return part.test(text) && Buffer.byteLength(text) <= maxPartBytes;
}
