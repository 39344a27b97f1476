import { isUtf8 } from 'node:buffer';
import { Fault } from '../../src/contract/fault.ts';

/** Decodes the text of a body, without a byte order mark. Fault: `malformed` for bytes that are not UTF-8. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Fault('malformed', 'The body is not valid UTF-8');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}
