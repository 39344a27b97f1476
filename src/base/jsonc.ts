import {
  findNodeAtLocation,
  getNodeValue,
  type ParseError,
  parse,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { z } from 'zod';

/** Parses JSON with comments and trailing commas. Returns undefined for another mistake. */
export function parseJsonc(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, lenient);
  return errors.length === 0 ? value : undefined;
}

const lenient = { allowTrailingComma: true };

type Path = readonly PropertyKey[];

/**
 * Parses JSON with comments and trailing commas by a schema. `positionAt` returns the position of a
 * value, or of the innermost one around it that the text has: "line 3, column 7". Throws an Error
 * with the position of a mistake, or with a line for each problem: its position, and its key.
 * `unknownKey` returns the message about a key that the schema does not have, which ends its path.
 */
export function readJsonc<T>(
  text: string,
  schema: z.ZodType<T>,
  unknownKey: (path: Path) => string,
): { value: T; positionAt: (path: Path) => string } {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, lenient);
  const [mistake] = errors;
  if (mistake !== undefined)
    throw new Error(`${positionOf(text, mistake.offset)}: ${describeMistake(mistake)}`);
  const positionAt = (path: Path): string => {
    const found = root && findNodeAtLocation(root, path as (string | number)[]);
    return found === undefined && path.length > 0
      ? positionAt(path.slice(0, -1))
      : positionOf(text, found?.offset ?? 0);
  };
  const parsed = schema.safeParse(root && getNodeValue(root));
  if (parsed.success) return { value: parsed.data, positionAt };
  const problems = parsed.error.issues.flatMap((issue): { path: Path; message: string }[] => {
    const { path, message } = issue;
    if (issue.code === 'invalid_key')
      return [{ path, message: issue.issues[0]?.message ?? message }];
    if (issue.code === 'invalid_type' && message.endsWith('received undefined'))
      return [{ path, message: 'missing' }];
    if (issue.code !== 'unrecognized_keys') return [{ path, message }];
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey([...path, key]) }));
  });
  const lines = problems.map(({ path, message }) => {
    const name = path.filter((step) => step !== '').join('.');
    return `${positionAt(path)}: ${name === '' ? '' : `${name}: `}${message}`;
  });
  throw new Error(lines.join('\n'));
}

/** Returns the mistake in words, such as "value expected". */
const describeMistake = ({ error }: ParseError): string =>
  printParseErrorCode(error)
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();

function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}
