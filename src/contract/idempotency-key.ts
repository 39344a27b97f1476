import type { Problem } from './fault.ts';
import { problemText, quote } from './problem-texts.ts';

/** Maximum length of an Idempotency-Key, in characters. */
const maxLength = 255;

const visible = /^[\x21-\x7e]+$/;
/** Metadata of an RPC may contain spaces. */
const printable = /^[\x20-\x7e]+$/;

/** Returns the problems of an `Idempotency-Key` of a REST request, or none for a valid key. */
export function problemsOfIdempotencyKey(key: string): Problem[] {
  return problemsOf(key, visible, 'visible');
}

/** Returns the problems of an idempotency key in the metadata of an RPC. */
export function problemsOfIdempotencyMetadata(key: string): Problem[] {
  return problemsOf(key, printable, 'printable');
}

function problemsOf(key: string, allowed: RegExp, kind: string): Problem[] {
  const loc = ['header', 'idempotency-key'];
  if (key.length > maxLength) return [{ loc, ...problemText.tooLong(maxLength) }];
  if (allowed.test(key)) return [];
  const msg = `Input should be 1 to ${maxLength} ${kind} ASCII characters, not ${quote(key)}`;
  return [{ loc, type: 'string_pattern_mismatch', msg }];
}
