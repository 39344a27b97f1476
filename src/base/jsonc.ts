import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import type { z } from 'zod';

/** Parses JSON with comments and trailing commas. Throws an Error with the line and column of a mistake. */
export function parseJsonc(text: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [mistake] = errors;
  if (mistake === undefined) return root;
  throw new Error(`${positionOf(text, mistake.offset)}: ${printParseErrorCode(mistake.error)}`);
}

/** Returns the position of an offset: "line 3, column 7". */
export function positionOf(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/**
 * Parses JSON with comments by a schema. Throws an Error with a line for each problem: its line, column, and
 * key. `unknownKey` returns the message about a key that the schema does not have.
 */
export function readJsonc<T>(text: string, schema: z.ZodType<T>, unknownKey: (key: string) => string): T {
  const root = parseJsonc(text);
  const parsed = schema.safeParse(root && getNodeValue(root));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.flatMap((issue) => {
    const { path, message } = issue;
    if (issue.code === 'invalid_key') return [{ path, message: issue.issues[0]?.message ?? message }];
    if (issue.code !== 'unrecognized_keys') return [{ path, message }];
    return issue.keys.map((key) => ({ path: [...path, key], message: unknownKey(key) }));
  });
  const lines = problems.map(({ path, message }) => {
    const place = path.map((step) => (typeof step === 'number' ? step : String(step)));
    const name = place.length === 0 ? '' : `${place.join('.')}: `;
    return `${positionOf(text, offsetOf(root, place))}: ${name}${message}`;
  });
  throw new Error(lines.join('\n'));
}

/** Returns the offset of the value at a path, or of the innermost value around it that the text has. */
function offsetOf(root: Node | undefined, path: readonly (string | number)[]): number {
  for (let length = path.length; root !== undefined && length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length));
    if (node !== undefined) return node.offset;
  }
  return root?.offset ?? 0;
}
