import { base64Encode } from '@bufbuild/protobuf/wire';

/**
 * Returns a body as the JSON text of a schedule's request: files in base64, and the texts of a form as their
 * values.
 */
export async function requestTextOf(body: string | FormData): Promise<string> {
  if (typeof body === 'string') return body;
  const request: Record<string, string | boolean> = {};
  for (const [name, value] of body.entries())
    request[name] =
      typeof value === 'string' ? textValue(value) : base64Encode(new Uint8Array(await value.arrayBuffer()));
  return JSON.stringify(request);
}

const textValue = (text: string): string | boolean =>
  ['true', 'false'].includes(text) ? text === 'true' : text;
