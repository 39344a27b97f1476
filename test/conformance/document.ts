import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RestAnswer } from './rest.ts';

/** What the served OpenAPI document says of answers. */
export interface Document {
  /** What is wrong with an answer of an operation by the document; empty when all is well. */
  complaints(verb: string, path: string, answer: RestAnswer): string[];
}

type Tree = Record<string, unknown>;

interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: object }>;
}

/** Reads the document that a service shows. */
export async function readDocument(url: string): Promise<Document> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Tree;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'document' });
  const validators = new Map<string, ValidateFunction>();
  const validator = (reference: string): ValidateFunction => {
    const known = validators.get(reference);
    if (known !== undefined) return known;
    const made = ajv.compile({ $ref: `document${reference}` });
    validators.set(reference, made);
    return made;
  };
  const at = (reference: string) =>
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => (value as Tree | undefined)?.[unescaped(step)], document);

  return {
    complaints(verb, path, { status, headers, text }) {
      const operation = `#/paths/${escaped(path)}/${verb.toLowerCase()}`;
      const declared = `${operation}/responses/${status}`;
      const found = at(declared) as (Response & { $ref?: string }) | undefined;
      if (found === undefined) return [`${verb} ${path} says nothing of ${status}`];
      const reference = found.$ref ?? declared;
      const response = at(reference) as Response;
      const type = String(headers['content-type'] ?? '').split(';')[0]!;
      const media = [type, '*/*'].find((name) => response.content?.[name] !== undefined);
      if (media === undefined) return [`${verb} ${path} says nothing of ${type} with ${status}`];
      // Streams are described by their media type alone.
      if (media === '*/*') return [];
      const validate = validator(`${reference}/content/${escaped(media)}/schema`);
      if (validate(JSON.parse(text))) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath || '/'} ${message}`);
    },
  };
}

const escaped = (step: string) => encodeURI(step.replaceAll('~', '~0').replaceAll('/', '~1'));
const unescaped = (step: string) => decodeURI(step).replaceAll('~1', '/').replaceAll('~0', '~');
