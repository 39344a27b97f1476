import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Fault } from '../../base/fault.ts';
import { sha256 } from '../../base/id.ts';
import type { PageAnswer } from '../../fetch/page.ts';
import type { Target } from './target.ts';

/** What is kept of an answer beside its body, in a file of its own. */
type Envelope = Omit<PageAnswer, 'body'>;

const envelopeOf = (file: string): string => `${file}.answer.json`;

/** Where the body of a target's page is saved unless said otherwise. */
export function bodyFile(dataDir: string, { market, page, region, input }: Target): string {
  const about = Object.values(input)
    .map(String)
    .join('-')
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 60);
  const name = [market.name, page, region, about, sha256(JSON.stringify(input)).slice(0, 8)];
  return join(dataDir, 'pages', `${name.filter((part) => part !== '').join('-')}.body`);
}

/** Saves an answer: its body as it came, and beside it what else there was of it, without cookies. */
export async function saveAnswer(file: string, answer: PageAnswer): Promise<void> {
  const { body, ...envelope } = answer;
  const { 'set-cookie': _, ...headers } = envelope.headers;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, body);
  await writeFile(envelopeOf(file), `${JSON.stringify({ ...envelope, headers }, null, 2)}\n`);
}

/** An answer as it was saved. A body alone, from elsewhere, was answered with 200 at `now`. Faults: `not_found`. */
export async function loadAnswer(file: string, now: number): Promise<PageAnswer> {
  const body = await readFile(file).catch((error: Error) => {
    throw new Fault('not_found', `There is no saved page: ${error.message}`);
  });
  const text = await readFile(envelopeOf(file), 'utf8').catch(() => null);
  if (text === null) return { status: 200, headers: {}, url: 'http://saved.invalid/', at: now, body };
  return { ...(JSON.parse(text) as Envelope), body };
}
