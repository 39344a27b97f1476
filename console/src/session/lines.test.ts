import { describe, expect, test } from 'vitest';
import { readLines } from './lines.ts';

/** Creates a response whose body arrives in chunks. */
function response(...chunks: string[]): Response {
  const { readable, writable } = new TextEncoderStream();
  const writer = writable.getWriter();
  // A write to a cancelled stream fails.
  Promise.all([...chunks.map((chunk) => writer.write(chunk)), writer.close()]).catch(() => {});
  return new Response(readable);
}

describe('readLines()', () => {
  test('joins lines that arrive in several chunks', async () => {
    expect(await readLines(response('{"a":', '1}\n{"a":2}', '\n').body!, 5)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  test('reads a last line without a line break', async () => {
    expect(await readLines(response('1\n2').body!, 5)).toEqual([1, 2]);
  });

  test('stops after the maximum number of lines', async () => {
    expect(await readLines(response('1\n2\n', '3\nnot JSON\n').body!, 2)).toEqual([1, 2]);
  });

  test('returns nothing for an empty response', async () => {
    expect(await readLines(response('').body!, 5)).toEqual([]);
  });
});
