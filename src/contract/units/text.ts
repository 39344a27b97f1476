import { UnitsError } from './problem.ts';

/** Encodings and formats that files have instead of UTF-8, by their first bytes. */
const signatures: readonly { bytes: readonly number[]; problem: string }[] = [
  { bytes: [0xff, 0xfe], problem: 'The file is UTF-16, not UTF-8' },
  { bytes: [0xfe, 0xff], problem: 'The file is UTF-16, not UTF-8' },
  { bytes: [0x50, 0x4b, 0x03, 0x04], problem: 'The file is a workbook or an archive, not text' },
];

const remedy = 'Save it as "CSV UTF-8"';

/**
 * Decodes a file of units, without its byte order mark. Throws a UnitsError with the remedy for
 * other encodings than UTF-8.
 */
export function decodeText(file: Uint8Array): string {
  const signature = signatures.find(({ bytes }) => bytes.every((byte, at) => file[at] === byte));
  if (signature !== undefined) throw encodingError(signature.problem);
  const zero = file.indexOf(0);
  // UTF-16 without a mark has a zero beside each ASCII character.
  if (zero === 0 || zero === 1) throw encodingError('The file is UTF-16, not UTF-8');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(file);
    if (zero < 0) return text;
  } catch {
    throw encodingError('The file is not UTF-8');
  }
  throw encodingError('The file is not text: it has zero bytes');
}

const encodingError = (problem: string): UnitsError =>
  new UnitsError([{ type: 'unicode_error', message: `${problem}. ${remedy}` }]);
