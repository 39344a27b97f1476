import { expect, test } from 'vitest';
import { decodeText } from './text.ts';

test('decodeText() decodes UTF-8 without its byte order mark', () => {
  expect(decodeText(Buffer.from('\ufeffñ,ラ'))).toBe('ñ,ラ');
});

test.each<[string, Uint8Array, string]>([
  ['UTF-16 with a mark', Buffer.from('\ufeffid\n1', 'utf16le'), 'The file is UTF-16, not UTF-8.'],
  [
    'UTF-16 in the other order',
    Buffer.from([0xfe, 0xff, 0, 0x61]),
    'The file is UTF-16, not UTF-8.',
  ],
  ['UTF-16 without a mark', Buffer.from('id\n1', 'utf16le'), 'The file is UTF-16, not UTF-8.'],
  [
    'UTF-16 in the other order without one',
    Buffer.from([0, 0x61]),
    'The file is UTF-16, not UTF-8.',
  ],
  ['a code page', Buffer.from('caf\u00e9\n', 'latin1'), 'The file is not UTF-8.'],
  [
    'a workbook',
    Buffer.from('PK\u0003\u0004\0\0'),
    'The file is a workbook or an archive, not text.',
  ],
  ['zero bytes', Buffer.from('id\n1\0\n'), 'The file is not text: it has zero bytes.'],
])('decodeText() refuses %s', (_, file, message) => {
  expect(() => decodeText(file)).toThrow(
    expect.objectContaining({
      problems: [{ type: 'unicode_error', message: `${message} Save it as "CSV UTF-8"` }],
    }),
  );
});
