import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/contract/fault.ts';
import { readForm } from './form.ts';

const headers = { 'content-type': 'multipart/form-data; boundary=x' };
const part = (disposition: string, content: string) =>
  `--x\r\nContent-Disposition: form-data${disposition}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string) => part(`; name="${name}"`, content);
const file = (name: string, content: string) => part(`; name="${name}"; filename="f"`, content);

/** Reads a form of these parts in chunks of `chunkBytes`. */
function read(parts: string[], chunkBytes = 1_000_000) {
  const bytes = Buffer.from(`${parts.join('')}--x--\r\n`);
  async function* chunks() {
    for (let start = 0; start < bytes.length; start += chunkBytes)
      yield bytes.subarray(start, start + chunkBytes);
  }
  return readForm(headers, chunks());
}
const malformed = expect.objectContaining({
  code: 'malformed',
  message: expect.stringMatching(/^The form cannot be read: ./),
});

describe('readForm()', () => {
  test.each([1, 7, 1_000_000])(
    'reads parts by name, in their order, from chunks of %i bytes',
    async (chunk) => {
      const form = await read(
        [field('a', '1'), file('é', 'ü\r\n--'), field('a', ''), part('', 'x')],
        chunk,
      );
      expect([...form]).toEqual([
        [
          'a',
          [
            { kind: 'text', text: '1' },
            { kind: 'text', text: '' },
          ],
        ],
        ['é', [{ kind: 'file', bytes: Buffer.from('ü\r\n--') }]],
      ]);
    },
  );

  test('reads a file of many chunks', async () => {
    const content = '0123456789'.repeat(100_000);
    const form = await read([file('a', content), field('b', 'after')], 100_000);
    expect(form.get('a')).toEqual([{ kind: 'file', bytes: Buffer.from(content) }]);
    expect(form.get('b')).toEqual([{ kind: 'text', text: 'after' }]);
  });

  test('reads 100 parts, and throws too_large for more', async () => {
    const parts = (count: number) =>
      Array.from({ length: count }, (_, place) => field(`f${place}`, 'x'));
    expect((await read(parts(100))).size).toBe(100);
    await expect(read(parts(101))).rejects.toMatchObject({
      code: 'too_large',
      message: 'The form has more than 100 parts.',
    });
  });

  test('reads a text of 64 KB, and throws too_large for a longer one', async () => {
    expect((await read([field('a', 'x'.repeat(65_535))])).get('a')).toHaveLength(1);
    await expect(read([field('a', 'x'.repeat(65_537)), field('b', '')])).rejects.toMatchObject({
      code: 'too_large',
      message: 'The form field a is larger than 65536 bytes',
    });
  });

  test('stops reading at the first fault', async () => {
    let chunks = 0;
    async function* endless() {
      for (; chunks < 1000; chunks += 1) yield Buffer.from(field('a', 'x'.repeat(70_000)));
    }
    await expect(readForm(headers, endless())).rejects.toMatchObject({ code: 'too_large' });
    expect(chunks).toBeLessThan(10);
  });

  test.each([
    ['no boundary', { 'content-type': 'multipart/form-data' }, ''],
    ['no form', headers, 'hello'],
    ['a form without its end', headers, file('a', 'abc')],
  ])('throws malformed for %s', async (_which, given, text) => {
    async function* chunks() {
      yield Buffer.from(text);
    }
    await expect(readForm(given, chunks())).rejects.toEqual(malformed);
  });

  test('rejects with the error of the body', async () => {
    async function* chunks() {
      yield Buffer.from(field('a', 'x'));
      throw new Fault('too_large', 'The body is larger than 3 bytes');
    }
    await expect(readForm(headers, chunks())).rejects.toMatchObject({
      message: 'The body is larger than 3 bytes',
    });
  });
});
