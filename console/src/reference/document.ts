import { pathPart } from '../../../src/contract/path-part.ts';

/** A JSON schema, as the documents of this service use them. */
export interface ShownSchema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, ShownSchema>>;
  required?: readonly string[];
  items?: ShownSchema;
  anyOf?: readonly ShownSchema[];
  allOf?: readonly ShownSchema[];
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  maximum?: number;
  minimum?: number;
  maxItems?: number;
  maxLength?: number;
}

/** ShownParameter of an operation in its path, its query, or its headers. */
export interface ShownParameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: ShownSchema;
  example?: unknown;
}

type Content = Readonly<Record<string, { schema: ShownSchema; example?: unknown }>>;

/** An operation, as OpenAPI describes it. */
export interface Operation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  security?: readonly unknown[];
  parameters?: readonly ShownParameter[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { $ref?: string; description?: string; content?: Content }>>;
  'x-codeSamples'?: readonly { label: string; source: string }[];
}

/** The parts of an OpenAPI document that the page shows. */
export interface ApiDocument {
  info: { title: string; version: string; description: string };
  servers: readonly { url: string }[];
  tags: readonly { name: string; description?: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/** An operation with its address. */
export interface ApiCall extends Operation {
  verb: string;
  path: string;
}

/** Returns the operations of each tag, in the order of the document. */
export function callsByTag({
  tags,
  paths,
}: ApiDocument): { name: string; text: string; calls: ApiCall[] }[] {
  const calls = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([verb, operation]) => ({
      ...operation,
      verb: verb.toUpperCase(),
      path,
    })),
  );
  return tags.map(({ name, description = '' }) => ({
    name,
    text: description,
    calls: calls.filter((call) => call.tags.includes(name)),
  }));
}

/** Returns what a reference within the document points to, or the value itself. */
export function resolve<T extends { $ref?: string }>(document: ApiDocument, value: T): T {
  if (value.$ref === undefined) return value;
  const steps = value.$ref.split('/').slice(1);
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document) as T;
}

/** A field of a request or a response. */
export interface ShownField {
  /** Path from the top: `items[].asin`. */
  name: string;
  type: string;
  isRequired: boolean;
  text: string;
}

/** Describes the type of a schema with its limits: "string, up to 200 characters". */
export function typeText(document: ApiDocument, schema: ShownSchema): string {
  const resolved = resolve(document, schema);
  const { anyOf, type, items, format, maxItems, maxLength, minimum, maximum } = resolved;
  if (resolved.enum) return resolved.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf) return [...new Set(anyOf.map((each) => typeText(document, each)))].join(' or ');
  const names = [type ?? 'any'].flat().join(' or ');
  const limits = [
    format,
    maxItems === undefined ? '' : `up to ${maxItems.toLocaleString('en-US')} entries`,
    maxLength === undefined ? '' : `up to ${maxLength.toLocaleString('en-US')} characters`,
    minimum !== undefined && minimum > 0 ? `at least ${minimum.toLocaleString('en-US')}` : '',
    maximum === undefined ? '' : `up to ${maximum.toLocaleString('en-US')}`,
  ];
  const ofItems = items === undefined ? '' : ` of ${typeText(document, items)}`;
  return [`${names}${ofItems}`, ...limits].filter(Boolean).join(', ');
}

/** Deepest level of fields that are listed. */
const maxDepth = 3;

/** Returns the fields of a schema and of the objects in it, in the order of the document. */
export function fieldsOf(
  document: ApiDocument,
  schema: ShownSchema,
  prefix = '',
  depth = 0,
): ShownField[] {
  const { properties, items, anyOf, required = [] } = resolve(document, schema);
  if (items) return fieldsOf(document, items, `${prefix}[]`, depth);
  if (properties === undefined)
    return (anyOf ?? []).slice(0, 1).flatMap((each) => fieldsOf(document, each, prefix, depth));
  return Object.entries(properties).flatMap(([name, property]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const text = property.description ?? resolve(document, property).description ?? '';
    const field = {
      name: path,
      type: typeText(document, property),
      isRequired: required.includes(name),
      text,
    };
    return [field, ...(depth + 1 < maxDepth ? fieldsOf(document, property, path, depth + 1) : [])];
  });
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the options of curl that send a body. */
function bodyOptions(type: string, example: unknown): string[] {
  if (type !== 'multipart/form-data')
    return [`-H 'Content-Type: ${type}'`, `-d ${quoted(JSON.stringify(example))}`];
  return Object.entries(example as object).map(([name, value]) => {
    const field = name === 'file' ? 'file=@products.csv' : `${name}=${value}`;
    return `-F ${quoted(field)}`;
  });
}

/** Returns a curl command of a call with the examples of the document. `key`: '' for a variable. */
export function curlOf({ servers }: ApiDocument, call: ApiCall, key: string): string {
  const path = call.path.replace(/\{(\w+)\}/g, (placeholder, name) => {
    const example = call.parameters?.find((parameter) => parameter.name === name)?.example;
    return example === undefined ? placeholder : pathPart(String(example));
  });
  const [type, content] = Object.entries(call.requestBody?.content ?? {})[0] ?? [];
  const body = content === undefined ? [] : bodyOptions(type!, content.example);
  const method =
    call.verb === 'GET' || (call.verb === 'POST' && body.length > 0) ? '' : ` -X ${call.verb}`;
  const header =
    key === '' ? '"Authorization: Bearer $KEY"' : quoted(`Authorization: Bearer ${key}`);
  const authorization = call.security?.length === 0 ? [] : [`-H ${header}`];
  return [`curl${method} ${quoted(servers[0]!.url + path)}`, ...authorization, ...body].join(
    ' \\\n  ',
  );
}
