import { type DescField, ScalarType } from '@bufbuild/protobuf';
import { problemText, quote, shorten } from '../problem-texts.ts';
import {
  enumReader,
  integerBounds,
  isBig,
  type ReadState,
  readTimestamp,
  refuse,
} from './values.ts';

/**
 * Reads the text of a path segment, query parameter or form field; returns `refused` after
 * recording a problem.
 */
export type ReadText = (text: string, state: ReadState) => unknown;

const trueWords = new Set(['true', '1', 'yes', 'on', 't', 'y']);
const falseWords = new Set(['false', '0', 'no', 'off', 'f', 'n']);

/** A decimal number: `Number` also accepts hexadecimal ones and spaces. */
const decimal = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Returns the reader of the text form of a field, or of a list's elements, or undefined for fields
 * without one.
 */
export function textReader(field: DescField): ReadText | undefined {
  if (field.enum !== undefined && field.fieldKind !== 'map') return enumReader(field.enum);
  if (field.message?.typeName === 'google.protobuf.Timestamp' && field.fieldKind !== 'map')
    return readTimestamp;
  if (field.scalar === undefined || field.fieldKind === 'map') return undefined;
  return scalarTextReader(field.scalar);
}

function scalarTextReader(scalar: ScalarType): ReadText | undefined {
  const bounds = integerBounds(scalar);
  if (bounds !== undefined) {
    const [minimum, maximum] = bounds;
    const big = isBig(scalar);
    return (text, state) => {
      if (!/^[+-]?\d{1,4000}$/.test(text)) {
        return refuse(state, {
          type: 'int_parsing',
          msg: `Input should be a valid integer, not ${quote(text)}`,
        });
      }
      const number = Number(text);
      // The number may have lost digits.
      if (number < minimum) return refuse(state, problemText.tooSmall(minimum, shorten(text)));
      if (number > maximum) return refuse(state, problemText.tooGreat(maximum, shorten(text)));
      return big ? BigInt(number) : number + 0;
    };
  }
  switch (scalar) {
    case ScalarType.STRING:
      return (text) => text;
    case ScalarType.BOOL:
      return readBoolean;
    case ScalarType.BYTES:
      return undefined;
    default:
      return (text, state) => {
        const number = decimal.test(text) ? Number(text) : Number.NaN;
        if (Number.isFinite(number)) return number;
        return refuse(state, {
          type: 'float_parsing',
          msg: `Input should be a valid number, not ${quote(text)}`,
        });
      };
  }
}

const readBoolean: ReadText = (text, state) => {
  const word = text.toLowerCase();
  if (trueWords.has(word)) return true;
  if (falseWords.has(word)) return false;
  return refuse(state, {
    type: 'bool_parsing',
    msg: `Input should be a valid boolean, not ${quote(text)}`,
  });
};
