import { request as open } from 'node:http';
import type { CallerName, FilePart, Request } from './table.ts';

/** A REST response. */
export interface RestResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  json(): any;
}

/** The part of a Stage that requests need. */
export interface Target {
  deployment: { url: string };
  keys: Readonly<Record<CallerName, string | null>>;
  fill(text: string): string;
}

/** Returns a path without `/v1`, the form of the reference. */
export const referenceForm = (path: string): string => path.replace(/^\/v1(?=\/)/, '');

/** Fills in the parameters of a path. Those without a placeholder become the query. */
function pathOf(
  target: Target,
  path: string,
  params: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (!path.includes(`{${name}}`)) query.set(name, target.fill(value));
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(target.fill(params[name] ?? '')),
  );
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/**
 * Sends a request of a table. Reads the response even if the server refuses the body before reading
 * it.
 */
export async function sendRest(
  target: Target,
  verb: string,
  path: string,
  request: Request,
): Promise<RestResponse> {
  const { caller = 'user' } = request;
  const params = { ...request.params, ...request.options };
  const key = target.keys[caller];
  const { type, bytes } = await bodyOf(target, request);
  const headers = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(type === null ? {} : { 'content-type': type }),
    ...(bytes.length > 0 || verb === 'POST' ? { 'content-length': String(bytes.length) } : {}),
    ...request.headers,
  };
  return exchange(
    new URL(pathOf(target, path, params), target.deployment.url),
    verb,
    headers,
    bytes,
  );
}

async function bodyOf(
  target: Target,
  request: Request,
): Promise<{ type: string | null; bytes: Uint8Array }> {
  const { body, raw, form } = request;
  if (raw !== undefined) {
    const { type, bytes } = raw;
    return { type, bytes: typeof bytes === 'string' ? Buffer.from(target.fill(bytes)) : bytes };
  }
  if (form !== undefined) {
    const response = new Response(formOf(form));
    return {
      type: response.headers.get('content-type'),
      bytes: new Uint8Array(await response.arrayBuffer()),
    };
  }
  if (body === undefined) return { type: null, bytes: new Uint8Array() };
  return { type: 'application/json', bytes: Buffer.from(target.fill(JSON.stringify(body))) };
}

function formOf(parts: Readonly<Record<string, string | FilePart>>): FormData {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts)) {
    if (typeof part === 'string') form.set(name, part);
    else form.set(name, new Blob([part.file as string], { type: 'text/csv' }), 'products.csv');
  }
  return form;
}

function exchange(
  url: URL,
  method: string,
  headers: Record<string, string>,
  bytes: Uint8Array,
): Promise<RestResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = open(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          json: () => JSON.parse(text),
        });
        outgoing.destroy();
      });
    });
    outgoing.on('error', reject);
    outgoing.end(bytes);
  });
}
