import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A command of a page and the response shown for it. */
export interface Example {
  /** Text of the `sh` block. */
  command: string;
  /** Text of the `json` block directly after it. Null if there is none. */
  response: string | null;
  /** Position of the response in the page. Null if there is none. */
  place: { from: number; to: number } | null;
}

const block = /^```sh\n([\s\S]*?)^```\n(?:\n*^```json\n([\s\S]*?)^```\n)?/gm;

/** Returns the examples of a page, in order. */
export function parseExamples(page: string): Example[] {
  return [...page.matchAll(block)].map((match) => {
    const [whole, command, response] = match;
    if (response === undefined) return { command: command!, response: null, place: null };
    const to = match.index + whole.length - '```\n'.length;
    return { command: command!, response, place: { from: to - response.length, to } };
  });
}

/**
 * Variables shared by the examples of a page: `$JOB`, `$TASK`, `$LINK`, `$SCHEDULE`, and those that
 * the reader sets.
 */
export type Variables = Record<string, string>;

/**
 * Runs a command in bash, as a reader would, and returns its standard output. Rejects if it fails.
 */
export async function runShell(
  command: string,
  variables: Variables,
  cwd?: string,
): Promise<string> {
  const script = `set -euo pipefail\n${command}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...variables },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/**
 * Runs an example and parses the JSON that it prints; for JSON Lines, the first line. Rejects if it
 * fails.
 */
export async function runExample({ command }: Example, variables: Variables): Promise<unknown> {
  const stdout = await runShell(command, variables);
  const [first = '', ...lines] = stdout.trimEnd().split('\n');
  return JSON.parse(lines.every((line) => line.startsWith('{"')) ? first : stdout);
}

/** Stores the response's job, task, and first link in the variables of later examples. */
export function remember(response: unknown, variables: Variables): void {
  const found = response as Record<string, unknown>;
  if (typeof found?.job_id === 'string') variables.JOB = found.job_id;
  if (typeof found?.schedule_id === 'string') variables.SCHEDULE = found.schedule_id;
  if (typeof found?.task_id === 'number') variables.TASK = String(found.task_id);
  const parts = [found, ...((found?.items ?? []) as unknown[])] as Record<string, unknown>[];
  const link = parts.find((part) => typeof part?.download_url === 'string')?.download_url;
  if (typeof link === 'string') variables.LINK = link;
}

const more = '…';

/** Maximum keys shown of an object, by depth. Deeper objects show none. */
const widths = [24, 10, 6, 3, 2];

/**
 * Shortens a response for a page: long lists, wide or deeply nested objects, and long texts end in
 * "…".
 */
export function abridge(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > 100 ? `${value.slice(0, 60)}${more}` : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const most = depth === 0 ? 2 : 1;
    const shown = value.slice(0, most).map((element) => abridge(element, depth + 1));
    return value.length > most ? [...shown, more] : shown;
  }
  const entries = Object.entries(value);
  const most = widths[depth];
  if (most === undefined) return entries.length === 0 ? value : more;
  const shown = entries.slice(0, most).map(([key, each]) => [key, abridge(each, depth + 1)]);
  return Object.fromEntries(entries.length > most ? [...shown, [more, more]] : shown);
}

/**
 * Returns the paths at which a response differs in shape from the page: other keys or types. Empty
 * if it does not.
 */
export function differences(shown: unknown, got: unknown, path = 'response'): string[] {
  if (shown === more) return [];
  if (shown === null || typeof shown !== 'object') {
    return typeOf(shown) === typeOf(got)
      ? []
      : [`${path}: ${typeOf(got)}, the page shows ${typeOf(shown)}`];
  }
  if (typeOf(shown) !== typeOf(got))
    return [`${path}: ${typeOf(got)}, the page shows ${typeOf(shown)}`];
  if (Array.isArray(shown)) {
    const responses = got as unknown[];
    const whole = shown.at(-1) !== more;
    const counted = whole && responses.length !== shown.length;
    return [
      ...(counted ? [`${path}: ${responses.length} elements, the page shows ${shown.length}`] : []),
      ...shown
        .slice(0, responses.length)
        .flatMap((each, at) => differences(each, responses[at], `${path}[${at}]`)),
    ];
  }
  const { [more]: elided, ...keys } = shown as Record<string, unknown>;
  const response = got as Record<string, unknown>;
  const unknown = Object.keys(response).filter((key) => !(key in keys));
  return [
    ...(elided === undefined ? unknown.map((key) => `${path}.${key}: not on the page`) : []),
    ...Object.entries(keys).flatMap(([key, each]) =>
      key in response
        ? differences(each, response[key], `${path}.${key}`)
        : [`${path}.${key}: missing`],
    ),
  ];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
