import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import type { Target } from './target.ts';

/** Content of the metadata file of a saved body: status, headers, URL, and time of the response. */
type Envelope = Omit<PageResponse, 'body'>;

const envelopeOf = (file: string): string => `${file}.answer.json`;

/** Returns the default path of a target's saved body. */
export function bodyFile(dataDir: string, { market, page, region, input }: Target): string {
  const about = Object.values(input)
    .map(String)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 60);
  const name = [market.name, page, region, about, sha256(JSON.stringify(input)).slice(0, 8)];
  return join(dataDir, 'pages', `${name.filter((part) => part !== '').join('-')}.body`);
}

/** Saves the body of a response, and a metadata file with its status and headers without cookies. */
export async function saveResponse(file: string, response: PageResponse): Promise<void> {
  const { body, ...envelope } = response;
  const { 'set-cookie': _, ...headers } = envelope.headers;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, body);
  await writeFile(envelopeOf(file), `${JSON.stringify({ ...envelope, headers }, null, 2)}\n`);
}

/**
 * Loads a saved response. A body from another source gets status 200 and the time `now`. Throws `not_found`.
 */
export async function loadResponse(file: string, now: number): Promise<PageResponse> {
  const body = await readFile(file).catch((error: Error) => {
    throw new Fault('not_found', `no saved page: ${error.message}`);
  });
  const text = await readFile(envelopeOf(file), 'utf8').catch(() => null);
  if (text === null) return { status: 200, headers: {}, url: 'http://saved.invalid/', at: now, body };
  return { ...(JSON.parse(text) as Envelope), body };
}
