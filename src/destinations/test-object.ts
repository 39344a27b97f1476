import { createHash } from 'node:crypto';
import { Fault } from '../contract/fault.ts';
import { type OpenedDestination, targetOf } from './address.ts';
import type { Destinations } from './destinations.ts';
import type { WriteResult } from './writer.ts';

export interface TestResult {
  /** URL of the test object, for display. */
  target: string;
  /** Why the test failed, with the response. Empty if it succeeded. */
  error: string;
}

const contents = Buffer.from('Gleaner writes and deletes this object to test the destination.\n');
/** Maximum duration of a test, in milliseconds. */
const maxMs = 30_000;
/** Statuses of receivers that accept files and do not delete them. */
const undeletable: ReadonlySet<number | null> = new Set([404, 405, 501]);

/**
 * Writes a test object to a destination and deletes it again. Rejects with the signal's reason if
 * aborted.
 */
export async function testDestination(
  destinations: Destinations,
  destination: OpenedDestination,
  id: string,
  signal: AbortSignal,
): Promise<TestResult> {
  const path = `gleaner-test-${id}.txt`;
  const target = targetOf(destination, path);
  const timeout = AbortSignal.timeout(maxMs);
  const either = AbortSignal.any([signal, timeout]);
  const writer = await destinations.open(destination);
  try {
    const written = await writer.write(testFile(path), either);
    if (written.error !== '') return { target, error: describe('write', written) };
    const removed = await writer.remove(path, either);
    if (removed.error === '' || (destination.type === 'https' && undeletable.has(removed.status)))
      return { target, error: '' };
    return { target, error: describe('delete', removed) };
  } catch (error) {
    if (signal.aborted || !timeout.aborted) throw error;
    return { target, error: `The destination did not respond within ${maxMs / 1_000} s` };
  } finally {
    writer.close();
  }
}

/**
 * Tests the settings of a destination. Throws `invalid` with the response if it refuses the test
 * object.
 */
export async function requireWritable(
  destinations: Destinations,
  destination: OpenedDestination,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { target, error } = await testDestination(destinations, destination, id, signal);
  if (error !== '') throw Fault.invalid(['body', 'url'], `${error} (${target})`, 'value_error');
}

const describe = (what: 'write' | 'delete', { error }: WriteResult) =>
  `Cannot ${what} a test object: ${error}`;

const testFile = (path: string) => ({
  path,
  contentType: 'text/plain',
  async *read() {
    yield contents;
  },
  measure: async () => ({
    bytes: contents.length,
    sha256: createHash('sha256').update(contents).digest('hex'),
  }),
});
