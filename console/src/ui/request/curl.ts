import type { JobType } from '../../../../src/contract/job-types.ts';
import { splitRequest } from '../../../../src/contract/rest-form.ts';
import { bodyOf, type Draft, fileOf } from './draft.ts';
import { readRequestShape } from './fields.ts';
import { optionQuery, withQuery } from './options.ts';

/** Maximum units whose request is part of the command; others are read from a file. */
const maxInlineUnits = 100;

/** Quotes a text for a POSIX shell. */
const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns the file that the command of a draft reads; null if the command contains the whole
 * request.
 */
export function requestFile({ endpoint, method }: JobType, draft: Draft): File | null {
  const shape = readRequestShape(method.input);
  if (shape.fields.some(({ type }) => type === 'file')) return fileOf(shape, draft);
  if (draft.units.length <= maxInlineUnits) return null;
  const { body } = splitRequest(endpoint.path, bodyOf(shape, draft));
  return new File([JSON.stringify(body)], 'request.json', { type: 'application/json' });
}

/** Returns the curl command that submits a draft to the service at `origin`. */
export function curlText(origin: string, jobType: JobType, draft: Draft): string {
  const { endpoint, method } = jobType;
  const shape = readRequestShape(method.input);
  const { path, body } = splitRequest(endpoint.path, bodyOf(shape, draft));
  const url = origin + withQuery(path, optionQuery(draft.options) ?? '');
  const fileName = shape.fields.find(({ type }) => type === 'file')?.name;
  const file = requestFile(jobType, draft);
  if (fileName !== undefined) return curlCommand(url, [`-F ${fileName}=@${file?.name}`]);
  return jsonCommand(url, file ? `@${file.name}` : JSON.stringify(body));
}

/** Returns the curl command that sends JSON, or the file that `@` names. */
export const jsonCommand = (url: string, data: string): string =>
  curlCommand(url, [
    "-H 'Content-Type: application/json'",
    `--data ${data.startsWith('@') ? data : quote(data)}`,
  ]);

const curlCommand = (url: string, options: readonly string[]): string =>
  [`curl ${quote(url)}`, '-H "Authorization: Bearer $KEY"', ...options].join(' \\\n  ');
