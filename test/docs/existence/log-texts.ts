import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parseAst } from 'vitest/node';
import { root } from '../../support/service/service.ts';
import { matchesIn, type NameCheck } from './name-check.ts';
import { type CodeSpan, type Page, trackedFiles } from './page.ts';

/** Sources of the service. Their tests quote texts that nothing logs. */
const sources = trackedFiles
  .filter((path) => /^(?:src|gateway|deploy|sandbox)\/.*(?<!\.test)\.(?:ts|mjs)$/.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));

/** Programs of others in examples. */
const otherPrograms = new Set([
  'apk',
  'apt-get',
  'buf',
  'gleaner',
  'helm',
  'npm',
  'npx',
  'sudo',
  'systemctl',
]);

/** Two words or more in lower case, such as `batch requeued`, with "…" for what differs. */
const plainWords = /^[a-z][a-z…-]*(?:[,:;]? [a-z…][a-z…-]*)+$/;

/**
 * Creates the checks of quoted texts. Pages quote a text of the log in backticks, in a sentence or
 * a cell that has the word "log". Other plain words in backticks are commands or texts of the
 * source.
 */
export function createTextChecks(program: Command): NameCheck[] {
  const isCommand = (code: string) =>
    otherPrograms.has(code.split(' ')[0]!) || isCommandOf(program, code.split(' '));
  const find = (page: Page, isLogged: boolean) =>
    page.spans
      .filter((span) => plainWords.test(span.code) && !isCommand(span.code))
      .filter((span) => isAboutLog(span) === isLogged)
      // Outside of the log, a colon is that of an option.
      .filter(({ code }) => isLogged || !code.includes(':'))
      .map(({ code }) => code);
  const logTexts = readLogTexts();
  return [
    {
      kind: 'log call with the text',
      find: (page) => find(page, true),
      exists: (name) => logTexts.some((text) => text === name || text.startsWith(`${name}: `)),
    },
    {
      kind: 'command or text in a source',
      find: (page) => find(page, false),
      exists: (name) => sources.some(({ text }) => text.includes(`'${name}'`)),
    },
    {
      kind: 'backticks around the log text',
      find: ({ text }) => [
        ...matchesIn(text, /"([^"\n|]+)" in the log\b/g),
        ...matchesIn(text, /\blogs? (?:says?|has|shows?) "([^"\n|]+)"/g),
      ],
      exists: () => false,
    },
  ];
}

const isAboutLog = ({ sentence, code }: CodeSpan) =>
  /\b(?:log|logs|logged)\b/.test(sentence.replace(code, ''));

/** Returns true if words are a command, such as `job list`, or one with its arguments. */
function isCommandOf(program: Command, words: readonly string[]): boolean {
  const [name, ...others] = words;
  const command = program.commands.find((each) => each.name() === name);
  if (command === undefined) return false;
  if (others.length <= command.registeredArguments.length) return true;
  return isCommandOf(command, others);
}

/** Returns the texts that calls such as `log.info(fields, 'text')` contain. */
function readLogTexts(): string[] {
  const logging = sources.filter(({ text }) => /[lL]og(?:\??\.\w+\(|\[)/.test(text));
  return logging.flatMap(({ text }) => textsOfCalls(parseAst(text, { lang: 'ts' })));
}

const logMethods = new Set(['debug', 'error', 'fatal', 'info', 'trace', 'warn']);

interface Node {
  type: string;
  [field: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

function textsOfCalls(value: unknown): string[] {
  if (!isNode(value)) return [];
  if (isLogCall(value)) return (value.arguments as Node[]).flatMap(literalsOf);
  return childrenOf(value).flatMap(textsOfCalls);
}

/** Returns true for `log.info(…)`, also of a member `log`, and for `log[level](…)`. */
function isLogCall({ type, callee }: Node): boolean {
  if (type !== 'CallExpression' || !isNode(callee) || callee.type !== 'MemberExpression')
    return false;
  const method = (callee.property as Node).name;
  return callee.computed === true
    ? (callee.object as Node).name === 'log'
    : logMethods.has(String(method));
}

/** Returns all strings in an expression. */
function literalsOf(node: Node): string[] {
  if (node.type === 'Literal') return typeof node.value === 'string' ? [node.value] : [];
  return childrenOf(node).flatMap(literalsOf);
}
