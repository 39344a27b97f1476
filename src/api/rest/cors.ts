import type { RequestListener } from 'node:http';
import { cors as connect } from '@connectrpc/connect';
import cors from 'cors';
import {
  creditsHeader,
  ignoredFieldsHeader,
  rateHeaderNames,
  requestIdHeader,
  tagHeader,
  timingHeader,
  warningHeader,
} from '../../contract/response-headers.ts';
import { submitOptionFields, submitOptionMetadata } from '../../contract/submit-options.ts';
import { waitMetadata } from '../../contract/wait.ts';
import { sessionHeader } from './mcp-session.ts';

/** Headers of messages of the Model Context Protocol. */
const mcpHeaders = [sessionHeader, 'mcp-method', 'mcp-name', 'mcp-protocol-version'];

/**
 * Lets pages of other origins call the API with an API key (CORS). `origins`: exact origins, or `*`
 * for every origin. Without any, the service sends no CORS headers. Cookies work for the console
 * only: credentials and the header of the CSRF token are never allowed, and the paths of the
 * console have no CORS headers.
 */
export function allowOrigins(origins: readonly string[], serve: RequestListener): RequestListener {
  if (origins.length === 0) return serve;
  const allow = cors({
    origin: origins.includes('*') ? '*' : [...origins],
    credentials: false,
    methods: [...connect.allowedMethods, 'HEAD', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      ...connect.allowedHeaders,
      'authorization',
      'idempotency-key',
      'if-match',
      'if-none-match',
      'if-range',
      ...mcpHeaders,
      'range',
      requestIdHeader,
      waitMetadata,
      ...submitOptionFields.map(submitOptionMetadata),
    ],
    exposedHeaders: [
      ...connect.exposedHeaders,
      ...rateHeaderNames,
      'accept-ranges',
      'allow',
      'content-disposition',
      'content-length',
      'content-range',
      creditsHeader,
      ignoredFieldsHeader,
      'location',
      sessionHeader,
      requestIdHeader,
      'retry-after',
      tagHeader,
      timingHeader,
      warningHeader,
    ],
    // The longest time that Chromium keeps the response to a preflight request.
    maxAge: 7_200,
  });
  return (request, response) => {
    const isPreflight = request.headers['access-control-request-method'] !== undefined;
    const isConsole = /^\/console(?:[/?]|$)/.test(request.url!);
    // Any other OPTIONS request is answered by its route.
    if (isConsole || (request.method === 'OPTIONS' && !isPreflight)) serve(request, response);
    else allow(request, response, () => serve(request, response));
  };
}
