import type { DescMethod } from '@bufbuild/protobuf';

/** Who calls. `poor` has 3 credits, `unknown` a key that nobody was given, `revoked` one that was taken away. */
export type CallerName = 'user' | 'other' | 'poor' | 'operator' | 'unknown' | 'revoked' | 'nobody';

/** A file part of a form. */
export interface FilePart {
  file: string | Uint8Array;
}

/**
 * What is sent. `params` are those of the path; what the path does not name is its query. In `params` and in
 * the bodies' texts, `{job name}` stands for the id of a prepared job, `{job name/0}` for the token of its first
 * item, `{store}` for the address of a store of marketplace F, `{spare key}` for the id of a further key of the
 * caller `user`, `{message}` for that of a message to the webhook of the caller `other`.
 */
export interface Request {
  caller?: CallerName;
  params?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: { type: string | null; bytes: string | Uint8Array };
  /** Sent as multipart/form-data. */
  form?: Readonly<Record<string, string | FilePart>>;
  headers?: Readonly<Record<string, string>>;
}

/** Place and FastAPI's type of one problem of a 422. */
export type ProblemRow = readonly [loc: readonly (string | number)[], type: string];

/** One request and everything that its answer must be. */
export interface Case extends Request {
  title: string;
  /** Where it is not the endpoint's own. */
  verb?: string;
  status: number;
  /** The whole body: literal values and matchers, no further key allowed. Absent: not looked at. */
  answer?: unknown;
  /** Media type of a good answer that is not JSON; it is read as one line of JSON. */
  type?: string;
  /** Every problem of a 422, in any order. */
  problems?: readonly ProblemRow[];
  /** Headers that the answer must have. */
  answerHeaders?: Readonly<Record<string, unknown>>;
  /** The matter exists in REST alone. */
  restOnly?: boolean;
}

/** What a field of a request takes (interface, "Resources and their fields"). */
export type FieldRule = (
  | { is: 'id'; digits: boolean }
  | { is: 'text' }
  | { is: 'choice'; of: readonly string[]; absent: string }
  | { is: 'integer'; least: number; most?: number }
) & { optional?: boolean };

/** What a submit takes, and what it costs. */
export type Submit = { price: number } & (
  | { takes: 'items'; most: number; fields: Readonly<Record<string, FieldRule>> }
  | { takes: 'urls'; most: number }
  | { takes: 'one'; fields: Readonly<Record<string, FieldRule>> }
  | { takes: 'form' }
);

/** Verbs of endpoints. */
export type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** One endpoint of the interface. */
export interface Endpoint {
  verb: Verb;
  /** All verbs of its path, in the order declared, where there are several. */
  verbs?: readonly Verb[];
  /** In the guide's form. */
  path: string;
  /** Null for paths that are REST alone. */
  method: DescMethod | null;
  /** Its cases of its own; the first is the good request that all other cases vary. */
  cases: readonly [Case, ...Case[]];
  submit?: Submit;
  /** Named by a job or task in its path. `foreign`: a prepared job of the same caller, of another kind, where
   *  the endpoint is about one kind alone. */
  names?: { param: string; id: 'uuid' | 'integer'; foreign?: string };
}

/** A job that cases refer to, made before they run. */
export interface Prepared extends Pick<Request, 'body' | 'form'> {
  /** Path of the submit. */
  submit: string;
  decide?: 'approve' | 'reject';
  /** Whether it is waited for until it has ended. */
  ends: boolean;
}

/** One marketplace. */
export interface Marketplace {
  name: string;
  jobs: Readonly<Record<string, Prepared>>;
  endpoints: readonly Endpoint[];
}
