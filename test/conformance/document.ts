import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { RestResponse } from './rest.ts';

/** Validator of responses against the served OpenAPI document. */
export interface Document {
  /** Returns the violations of the document in a response. */
  violations(verb: string, path: string, response: RestResponse): string[];
}

type Tree = Record<string, unknown>;

interface Response {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema?: object }>;
}

/** Downloads the documents of a service: of the paths with `/v1` and of those without. */
export async function readDocument(url: string): Promise<Document> {
  const [long, short] = await Promise.all([
    readOne(`${url}/openapi.json`),
    readOne(`${url}/openapi-short.json`),
  ]);
  return {
    violations: (verb, path, response) =>
      (path.startsWith('/v1/') ? long : short).violations(verb, path, response),
  };
}

async function readOne(url: string): Promise<Document> {
  const document = (await (await fetch(url)).json()) as Tree;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'document' });
  const validators = new Map<string, ValidateFunction>();
  const validator = (reference: string): ValidateFunction => {
    const known = validators.get(reference);
    if (known !== undefined) return known;
    const compiled = ajv.compile({ $ref: `document${reference}` });
    validators.set(reference, compiled);
    return compiled;
  };
  const at = (reference: string) =>
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => (value as Tree | undefined)?.[unescaped(step)], document);

  return {
    violations(verb, path, { status, headers, text }) {
      const operation = `#/paths/${escaped(path)}/${verb.toLowerCase()}`;
      const declared = `${operation}/responses/${status}`;
      const found = at(declared) as (Response & { $ref?: string }) | undefined;
      if (found === undefined) return [`${verb} ${path} does not describe ${status}`];
      const reference = found.$ref ?? declared;
      const response = at(reference) as Response;
      const type = String(headers['content-type'] ?? '').split(';')[0]!;
      const media = [type, '*/*'].find((name) => response.content?.[name] !== undefined);
      if (media === undefined) return [`${verb} ${path} does not describe ${type} with ${status}`];
      // Only the media type of streams is described.
      if (media === '*/*') return [];
      if (media === 'text/csv' || media === 'application/vnd.apache.parquet') return [];
      const schema = `${reference}/content/${escaped(media)}/schema`;
      if (media === 'application/x-ndjson') {
        const validate = validator(`${schema}/contentSchema`);
        const lines = text.split('\n').filter((line) => line !== '');
        return lines
          .filter((line) => !validate(JSON.parse(line)))
          .map((line) => `not as described: ${line}`);
      }
      const validate = validator(schema);
      if (validate(JSON.parse(text))) return [];
      return (validate.errors ?? []).map(
        ({ instancePath, message }) => `${instancePath || '/'} ${message}`,
      );
    },
  };
}

const escaped = (step: string) => encodeURI(step.replaceAll('~', '~0').replaceAll('/', '~1'));
const unescaped = (step: string) => decodeURI(step).replaceAll('~1', '/').replaceAll('~0', '~');
