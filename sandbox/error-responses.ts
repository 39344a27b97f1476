import type { OriginReply } from './origin.ts';

function html(status: number, title: string, text: string): OriginReply {
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: `<!doctype html><html><head><title>${title}</title></head><body><p>${text}</p></body></html>`,
  };
}

function json(status: number, body: string, headers: Record<string, string> = {}): OriginReply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

/**
 * Error responses of the sites with JSON (B, C and F), by the last three digits of the subject
 * (README.md).
 */
export const errorResponses: Readonly<Record<string, OriginReply>> = {
  807: html(403, 'Access Denied', 'You have no permission to see this page. Reference 18.1a2b'),
  808: html(200, 'Just a moment...', 'Please show that you are a person.'),
  809: json(200, '{"sec-cp-challenge":"true","provider":"crypto","chlg_duration":30}'),
  810: json(429, '{"message":"slow down"}', { 'retry-after': '5' }),
  811: html(503, 'Busy', 'Please come back.'),
  812: json(500, '{"message":"something went wrong on our side"}'),
  813: json(200, '{"data":{"products":[{"id":"1","na'),
  814: html(200, 'Spring sale', 'Everything must go.'),
  815: json(200, ''),
  816: json(200, '{"weather":["sun","rain"]}'),
};

/** Returns the error response that a subject selects, if any. */
export function createErrorResponse(subject: string | undefined): OriginReply | undefined {
  const digits = subject?.slice(-3) ?? '';
  return Object.hasOwn(errorResponses, digits) ? errorResponses[digits] : undefined;
}
