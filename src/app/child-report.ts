import type { Readable } from 'node:stream';

/**
 * Returns the JSON that a child process prints as its first line, and closes the output, or null if it prints
 * none.
 */
export async function readFirstReport(output: Readable): Promise<unknown> {
  let text = '';
  for await (const chunk of output.setEncoding('utf8')) {
    text += chunk;
    if (text.includes('\n')) return JSON.parse(text);
  }
  return null;
}
