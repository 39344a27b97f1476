import { Fault } from '../../src/contract/fault.ts';

/** Throws the fault `unsupported_media` for a body that is not JSON in UTF-8. */
export function requireJson(contentType: string | undefined): void {
  const [type, ...parameters] = (contentType ?? '').toLowerCase().split(';');
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([^"\s]*)"?\s*$/.exec(parameter)?.[1])
    .find(Boolean);
  if (
    !/^application\/([a-z0-9.!#$&^_-]+\+)?json$/.test(type!.trim()) ||
    (charset !== undefined && !/^utf-?8$/.test(charset))
  ) {
    throw unsupported(contentType, 'application/json');
  }
}

/** Throws the fault `unsupported_media` for a body that is not a form. */
export function requireForm(contentType: string | undefined): void {
  if (!/^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? ''))
    throw unsupported(contentType, 'multipart/form-data');
}

function unsupported(given: string | undefined, wanted: string): Fault {
  const what = given === undefined ? 'Content-Type is missing' : `Content-Type ${given} is not supported`;
  return new Fault('unsupported_media', `${what}: send ${wanted}`);
}
