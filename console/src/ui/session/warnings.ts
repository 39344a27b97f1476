import { ignoredFieldsHeader, warningHeader } from '../../../../src/contract/response-headers.ts';

/** Returns the warnings of a successful response: that of the service, and the fields that it ignored. */
export function readWarnings(headers: Headers): string[] {
  const warning = headers.get(warningHeader);
  const ignored = headers.get(ignoredFieldsHeader);
  return [
    ...(warning === null ? [] : [warning]),
    ...(ignored === null ? [] : [`Unknown fields were ignored: ${decodeURIComponent(ignored)}`]),
  ];
}
