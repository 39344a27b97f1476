import { posix } from 'node:path';
import { parseAst } from 'vitest/node';

/** Imports and other facts of a source file. Paths are relative to the project root, with `/`. */
export interface Source {
  path: string;
  /** Files of its relative imports, including type imports. */
  files: string[];
  /** Imported packages by name, such as "@scope/name". Node modules keep their prefix. */
  packages: string[];
  /** Properties of the process that it uses, such as `env`, and `console` if it prints. */
  ofProcess: string[];
  /** Strings used in comparisons: by an operator, a `case`, or `includes` of an array. */
  compared: string[];
  /**
   * Functions with the number of lines of their own code; functions inside of them count
   * separately.
   */
  functions: { line: number; lines: number }[];
  /**
   * Keys of its object literals, and first elements of its arrays of two: the keys of a `Map`'s
   * entries.
   */
  keys: string[];
  /** Names of the types that it declares and exports. */
  types: string[];
  /** Number of its lines. */
  lines: number;
  /** True if a comment says why it is a file of its own. */
  isOwnFile: boolean;
  /** Lines that are comments and longer than 100 columns, except directives of the linter. */
  wide: number[];
  /** Lines that spread an array or object which is written there: `...[a, b]`, `...{ a, b }`. */
  literalSpreads: number[];
  /** Names of its variables and parameters, with those taken out of an object or array. */
  names: { line: number; name: string }[];
  /** Titles of its tests and groups of tests, without placeholders. */
  titles: { line: number; title: string }[];
}

/** Comments of more columns are hard to read beside code. */
const maxCommentColumns = 100;

/** A node of the syntax tree. */
interface Node {
  type: string;
  /** Offsets of the node in the source. */
  start: number;
  end: number;
  [field: string]: unknown;
}

function isWideComment(line: string): boolean {
  return (
    line.length > maxCommentColumns &&
    /^\s*(?:\/?\*|\/\/)/.test(line) &&
    !line.includes('// biome-ignore')
  );
}

/** Parses a TypeScript source. Throws for an import with a computed name. */
export function readSource(path: string, text: string): Source {
  const source: Source = {
    path,
    files: [],
    packages: [],
    ofProcess: [],
    compared: [],
    functions: [],
    keys: [],
    types: [],
    lines: text.split('\n').length - 1,
    isOwnFile: /\bfile\b[\s*/]+of[\s*/]+its[\s*/]+own\b/.test(text),
    wide: text.split('\n').flatMap((line, index) => (isWideComment(line) ? [index + 1] : [])),
    literalSpreads: [],
    names: [],
    titles: [],
  };
  const lineOf = lineFinder(text);
  let nested = 0;
  const imported = (name: unknown) => {
    const written = textOf(name);
    if (written === null) throw new Error(`${path}: an import whose name is not written out`);
    if (written.startsWith('.')) source.files.push(posix.join(posix.dirname(path), written));
    else source.packages.push(packageOf(written));
  };
  const visitChildren = (node: Node) => {
    for (const field of Object.values(node)) {
      for (const child of Array.isArray(field) ? field : [field]) if (isNode(child)) visit(child);
    }
  };
  /** Counts the lines of a function, without the lines of nested functions. */
  const visitFunction = (node: Node) => {
    const outer = nested;
    nested = 0;
    visitChildren(node);
    const line = lineOf(node.start);
    const span = lineOf(node.end) - line + 1;
    source.functions.push({ line, lines: span - nested });
    nested = outer + Math.max(0, span - 2);
  };
  const visit = (node: Node) => {
    readStyle(source, node, text, lineOf);
    switch (node.type) {
      case 'ImportDeclaration':
        imported(node.source);
        if (/^(?:node:)?process$/.test(textOf(node.source) ?? ''))
          source.ofProcess.push(...names(node.specifiers));
        break;
      case 'ImportExpression':
      case 'ExportAllDeclaration':
      case 'TSImportType':
        imported(node.source);
        break;
      case 'ExportNamedDeclaration':
        if (node.source) imported(node.source);
        if (isNode(node.declaration) && typeDeclarations.has(node.declaration.type))
          source.types.push(nameOf(node.declaration.id)!);
        break;
      case 'ObjectExpression':
        for (const { key, computed } of node.properties as Node[]) {
          const name = computed === true ? textOf(key) : nameOf(key);
          if (name !== null) source.keys.push(name);
        }
        break;
      case 'ArrayExpression': {
        const elements = node.elements as unknown[];
        if (elements.length === 2) source.keys.push(...texts(elements.slice(0, 1)));
        break;
      }
      case 'MemberExpression':
        if (isProcess(node.object)) source.ofProcess.push(...names([{ key: node.property }]));
        break;
      case 'VariableDeclarator':
        if (isProcess(node.init)) source.ofProcess.push(...names((node.id as Node).properties));
        break;
      case 'BinaryExpression':
        if (/^[!=]==?$/.test(String(node.operator)))
          source.compared.push(...texts([node.left, node.right]));
        break;
      case 'SwitchCase':
        source.compared.push(...texts([node.test]));
        break;
      case 'CallExpression': {
        const { object, property } = node.callee as Node;
        if (nameOf(object) === 'console') source.ofProcess.push('console');
        if (nameOf(property) === 'includes' && isNode(object) && object.type === 'ArrayExpression')
          source.compared.push(...texts(object.elements as unknown[]));
        break;
      }
    }
    if (functionTypes.has(node.type)) visitFunction(node);
    else visitChildren(node);
  };
  visit(parseAst(text, { lang: path.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node);
  return source;
}

/** Adds to a source what only the rules of style need of a node. */
function readStyle(
  source: Source,
  node: Node,
  text: string,
  lineOf: (offset: number) => number,
): void {
  const line = () => lineOf(node.start);
  if (node.type === 'SpreadElement' && '[{'.includes(text[(node.argument as Node).start]!))
    source.literalSpreads.push(line());
  for (const name of declaredNames(node)) source.names.push({ line: line(), name });
  const title = titleOf(node);
  if (title !== null) source.titles.push({ line: line(), title });
}

/** Returns the names that a variable, the parameters of a function, or a `catch` declares. */
function declaredNames(node: Node): string[] {
  if (node.type === 'VariableDeclarator') return namesIn(node.id);
  if (node.type === 'CatchClause') return namesIn(node.param);
  if (functionTypes.has(node.type)) return (node.params as unknown[]).flatMap(namesIn);
  return [];
}

/** Returns the names that a pattern binds. */
function namesIn(pattern: unknown): string[] {
  if (!isNode(pattern)) return [];
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name as string];
    case 'ObjectPattern':
      return (pattern.properties as Node[]).flatMap((property) =>
        namesIn(property.value ?? property),
      );
    case 'ArrayPattern':
      return (pattern.elements as unknown[]).flatMap(namesIn);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'TSParameterProperty':
      return namesIn(pattern.parameter);
    default:
      return [];
  }
}

/**
 * Returns the title in a call of `test`, `it`, `describe`, or one of their forms, such as
 * `test.each(a)`.
 */
function titleOf(node: Node): string | null {
  if (node.type !== 'CallExpression') return null;
  const [title] = node.arguments as unknown[];
  if (!isNode(title) || !titledCalls.has(rootName(node.callee))) return null;
  if (title.type !== 'TemplateLiteral') return textOf(title);
  return (title.quasis as { value: { cooked: string } }[])
    .map(({ value }) => value.cooked)
    .join(' ');
}

const titledCalls = new Set<string | null>(['describe', 'it', 'test']);

/** Returns the name at the start of `a.b(c).d`, which is "a", or null. */
function rootName(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === 'CallExpression') return rootName(value.callee);
  if (value.type === 'MemberExpression') return rootName(value.object);
  return nameOf(value);
}

const typeDeclarations = new Set([
  'ClassDeclaration',
  'TSInterfaceDeclaration',
  'TSTypeAliasDeclaration',
]);

const functionTypes = new Set([
  'ArrowFunctionExpression',
  'FunctionDeclaration',
  'FunctionExpression',
]);

/** Returns a function that finds the line of an offset, from 1. */
function lineFinder(text: string): (offset: number) => number {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return (offset) => starts.findLastIndex((start) => start <= offset) + 1;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** Returns the value of a string literal or of a template without placeholders. */
function textOf(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === 'Literal') return typeof value.value === 'string' ? value.value : null;
  const parts =
    value.type === 'TemplateLiteral' ? (value.quasis as { value: { cooked: string } }[]) : [];
  return parts.length === 1 ? parts[0]!.value.cooked : null;
}

const texts = (values: readonly unknown[]) => values.map(textOf).filter((text) => text !== null);

/** Returns the name of a property, written as an identifier or as a string. */
const nameOf = (value: unknown) =>
  isNode(value) && value.type === 'Identifier' ? (value.name as string) : textOf(value);

/** Returns the names taken from an import or by a destructuring pattern. */
const names = (parts: unknown) =>
  ((parts ?? []) as { imported?: unknown; key?: unknown }[])
    .map(({ imported, key }) => nameOf(imported ?? key))
    .filter((name) => name !== null);

const isProcess = (value: unknown): boolean =>
  isNode(value) &&
  ((value.type === 'Identifier' && value.name === 'process') ||
    (value.type === 'MemberExpression' && nameOf(value.property) === 'process'));

function packageOf(name: string): string {
  const parts = name.startsWith('@') ? 2 : 1;
  return name.startsWith('node:') ? name : name.split('/').slice(0, parts).join('/');
}
