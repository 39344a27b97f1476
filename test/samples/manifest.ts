import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Json } from '../../src/base/json.ts';

const json = z.json() as unknown as z.ZodType<Json>;

const sample = z.object({
  file: z.string(),
  market: z.string(),
  region: z.string().default(''),
  page: z.enum(['product', 'variants', 'search', 'shop', 'catalogue']),
  content_type: z.string(),
  request: z.record(z.string(), json).default({}),
  index: z.int().min(0).optional(),
  wrap: z.string().optional(),
  outcome: z.enum(['record', 'list', 'fault']),
  fault: z.enum(['blocked', 'not_found', 'unreadable']).optional(),
  expect: z.record(z.string(), json).optional(),
  any: z.record(z.string(), z.array(json)).optional(),
  match: z.record(z.string(), z.string()).optional(),
  min: z.record(z.string(), z.number()).optional(),
  null: z.array(z.string()).optional(),
  absent: z.array(z.string()).optional(),
  optional: z.boolean().default(false),
});

const manifest = z.object({ samples: z.array(sample) });

/** A captured page and the expectations for its reader's result. */
export type Sample = z.infer<typeof sample>;

/** Expectations about values. */
export type Expectations = Pick<Sample, 'expect' | 'any' | 'match' | 'min' | 'null' | 'absent'>;

/** Reads the manifest.json of a folder. Throws an Error that names the invalid entry and field. */
export async function readManifest(folder: string): Promise<Sample[]> {
  const path = join(folder, 'manifest.json');
  const parsed = manifest.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data.samples;
}

/**
 * Returns the body of a sample's page: the file's bytes, one element of its array, or that element
 * inside the wrapping text (rule 2 of the manifest).
 */
export function bodyOf(entry: Pick<Sample, 'index' | 'wrap' | 'file'>, bytes: Buffer): Buffer {
  if (entry.index === undefined && entry.wrap === undefined) return bytes;
  let text = bytes.toString('utf8');
  if (entry.index !== undefined) {
    const elements: unknown = JSON.parse(text);
    if (!Array.isArray(elements) || entry.index >= elements.length) {
      throw new Error(`${entry.file}: no element ${entry.index} in a JSON array`);
    }
    text = JSON.stringify(elements[entry.index]);
  }
  return Buffer.from(entry.wrap === undefined ? text : entry.wrap.split('$body').join(text));
}
