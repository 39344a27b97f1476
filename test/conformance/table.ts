import type { DescMethod } from '@bufbuild/protobuf';

/**
 * Callers. `poor` has 3 credits, `unknown` a key that does not exist, `revoked` a revoked key,
 * `nobody` no key. `reader`, `submitter`, and `limited` are other keys of `user`: with the scope
 * read, with the scope submit, and with a ceiling of 3 credits.
 */
export type CallerName =
  | 'user'
  | 'other'
  | 'poor'
  | 'operator'
  | 'unknown'
  | 'revoked'
  | 'nobody'
  | 'reader'
  | 'submitter'
  | 'limited';

/** A file part of a form. */
export interface FilePart {
  file: string | Uint8Array;
}

/**
 * A request. `params` fill the placeholders of the path; the others become the query. Placeholders
 * in `params` and bodies: `{job name}` is the id of a prepared job, `{job name/0}` the token of its
 * first item, `{store}` the address of a store of marketplace F, `{spare key}` the id of the second
 * key of the caller `user`, `{rule}` the id of a rule of `user`, `{message}` the id of a message to
 * the webhook of the caller `other`, and `{schedule}` the id of an active schedule of the caller
 * `user`.
 */
export interface Request {
  caller?: CallerName;
  params?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent unchanged. */
  raw?: { type: string | null; bytes: string | Uint8Array };
  /** Sent as multipart/form-data. */
  form?: Readonly<Record<string, string | FilePart>>;
  headers?: Readonly<Record<string, string>>;
  /**
   * Options of a submission: query parameters in REST, metadata in RPC. Problems of them are
   * located in the query.
   */
  options?: Readonly<Record<string, string>>;
}

/** Location and type of a problem of a 422, in FastAPI's format. */
export type ProblemRow = readonly [loc: readonly (string | number)[], type: string];

/** A request and its expected response. */
export interface Case extends Request {
  title: string;
  /** By default the endpoint's verb. */
  verb?: string;
  status: number;
  /** Fault code if it is not the usual one of the status. */
  code?: string;
  /** The complete body as literal values and matchers. If absent, the body is not checked. */
  response?: unknown;
  /**
   * Media type of a successful response that is not JSON. Its body is parsed as one line of JSON.
   */
  type?: string;
  /** Every problem of a 422, in any order. */
  problems?: readonly ProblemRow[];
  /** Expected headers. */
  responseHeaders?: Readonly<Record<string, unknown>>;
  /** True for cases that RPC cannot express. */
  restOnly?: boolean;
}

/** Rule for the values of a request field. */
export type FieldRule = (
  | { is: 'id'; digits: boolean }
  | { is: 'text' }
  | { is: 'choice'; of: readonly string[]; absent: string }
  | { is: 'integer'; least: number; most?: number }
) & { optional?: boolean };

/** Request body of a submission, and the price per unit. */
export type Submit = { price: number } & (
  | { takes: 'items'; most: number; fields: Readonly<Record<string, FieldRule>> }
  | { takes: 'urls'; most: number }
  | { takes: 'one'; fields: Readonly<Record<string, FieldRule>> }
  | { takes: 'form' }
);

/** Verbs of endpoints. */
export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One documented endpoint. */
export interface Endpoint {
  verb: Verb;
  /** All verbs of the path in order of declaration, if there are several. */
  verbs?: readonly Verb[];
  /** Path with `/v1`. */
  path: string;
  /** Null for paths without an RPC method. */
  method: DescMethod | null;
  /** Cases of this endpoint. Generated cases vary the first one, a valid request. */
  cases: readonly [Case, ...Case[]];
  submit?: Submit;
  /**
   * Job or task id in the path. `foreign` is a job of another kind, for endpoints that accept one
   * kind only.
   */
  names?: { param: string; id: 'uuid' | 'integer'; foreign?: string };
}

/** A job that cases refer to, prepared before they run. */
export interface Prepared extends Pick<Request, 'body' | 'form' | 'options'> {
  /** Path of the submission. */
  submit: string;
  decide?: 'approve' | 'reject';
  /** True to wait until the job has ended, and is compared if it is tracked. */
  ends: boolean;
}

/** Endpoints of a marketplace or of another group. */
export interface Marketplace {
  name: string;
  jobs: Readonly<Record<string, Prepared>>;
  endpoints: readonly Endpoint[];
}
