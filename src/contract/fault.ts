/**
 * Every code of a fault with its retry rule: see docs/faults.md. `never`: a retry has the same
 * result. `soon`: retry after a short back-off. `later`: the other side asks for a longer pause.
 */
export const faultCodes = {
  // Errors of callers.
  unauthenticated: 'never',
  forbidden: 'never',
  insufficient_credits: 'never',
  max_credits_exceeded: 'never',
  not_found: 'never',
  conflict: 'never',
  invalid: 'never',
  malformed: 'never',
  too_large: 'never',
  unsupported_media: 'never',
  rate_limited: 'later',
  link_invalid: 'never',
  results_deleted: 'never',
  // Errors of the service's own components.
  starting: 'soon',
  unavailable: 'soon',
  storage_damaged: 'never',
  disk_full: 'later',
  internal: 'never',
  // Fetch outcomes of a marketplace's page.
  page_not_found: 'never',
  page_blocked: 'later',
  page_login: 'later',
  page_private: 'never',
  page_region: 'never',
  page_throttled: 'later',
  page_empty: 'soon',
  page_unreadable: 'soon',
  page_mismatch: 'soon',
  page_failed: 'soon',
  page_too_large: 'never',
  page_too_complex: 'never',
  page_timeout: 'soon',
  network: 'soon',
  proxy_failed: 'soon',
  origin_missing: 'never',
  address_refused: 'never',
  robots_disallowed: 'never',
  origin_paused: 'later',
  browser_missing: 'never',
  browser_failed: 'soon',
  // Outcomes of units that were not fetched.
  page_not_kept: 'never',
  not_queued: 'never',
  work_abandoned: 'never',
  terminated: 'never',
  rejected: 'never',
} as const;

export type FaultCode = keyof typeof faultCodes;

/**
 * Log levels for faults of calls. Faults with other codes are returned to the caller and not
 * logged.
 */
export const faultLogLevels: Readonly<Partial<Record<FaultCode, 'error' | 'warn'>>> = {
  internal: 'error',
  storage_damaged: 'error',
  unavailable: 'warn',
};

/** One problem of an invalid request, in FastAPI's terms: see docs/errors.md. */
export interface Problem {
  /** Starts with `body`, `path`, `query` or `header`. */
  loc: (string | number)[];
  msg: string;
  /** FastAPI's type of the problem: `missing`, `string_type`, `too_long`, … */
  type: string;
}

/** Problems that summarizeProblems() names. */
const maxSummarized = 3;

/** Returns the first three problems as one line: `items[3].country: … ; and 4 more problems`. */
export function summarizeProblems(problems: readonly Pick<Problem, 'loc' | 'msg'>[]): string {
  const summaries = problems
    .slice(0, maxSummarized)
    .map(({ loc, msg }) => `${fieldPath(loc)}: ${msg}`);
  const more = problems.length - summaries.length;
  if (more > 0) summaries.push(`and ${more} more ${more === 1 ? 'problem' : 'problems'}`);
  return summaries.join('; ');
}

/**
 * Returns the field of a problem as a path: `items[3].country`; the part of the request if the
 * problem concerns all of it.
 */
export function fieldPath([part, ...steps]: readonly (string | number)[]): string {
  const path = steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return path === '' ? String(part) : path.replace(/^\./, '');
}

/** Cost and balance in credits. */
export interface Quota {
  required: number;
  current: number;
}

export interface FaultDetails {
  /** Every problem of an invalid request, up to 100. */
  problems?: Problem[];
  quota?: Quota;
  /** Retry delay requested by the other side, in milliseconds. */
  retryAfterMs?: number;
  /** Response headers of the error, lower-case names. */
  headers?: Readonly<Record<string, string>>;
  /**
   * The component that is unavailable. Clients receive its name only; the message is for the log.
   */
  component?: Component;
  /** True if a retry has the same result, regardless of the code's rule. */
  final?: boolean;
  /**
   * True if the call may have taken effect: its connection to the core was lost. The client gets no
   * response.
   */
  unknownOutcome?: boolean;
  cause?: unknown;
}

/** A component of the service that can be unavailable. */
export type Component = 'store' | 'queue' | 'file store' | 'core' | 'disk';

/** The message for clients while a component is unavailable. */
export function unavailableMessage(component: Component) {
  if (component === 'disk') return 'The disk is almost full.';
  return `The ${component} is unavailable.`;
}

/**
 * The one error class of the service: a code, a message for clients, and a retry rule that follows
 * from the code.
 */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly problems: Problem[];
  readonly quota: Quota | undefined;
  readonly retryAfterMs: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly component: Component | undefined;
  readonly final: boolean;
  readonly unknownOutcome: boolean;

  constructor(code: FaultCode, message: string, details: FaultDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = 'Fault';
    this.code = code;
    this.problems = details.problems ?? [];
    this.quota = details.quota;
    this.retryAfterMs = details.retryAfterMs;
    this.headers = details.headers ?? {};
    this.component = details.component;
    this.final = details.final ?? false;
    this.unknownOutcome = details.unknownOutcome ?? false;
  }

  /** The message for a client: without addresses and paths of the service's own engines. */
  get clientMessage(): string {
    if (this.component === undefined) return this.message;
    return unavailableMessage(this.component);
  }

  /**
   * True if an engine of the service failed, which says nothing about the work that met the fault.
   */
  get isOutage(): boolean {
    return this.code === 'unavailable' || this.component !== undefined;
  }

  /** Whether and when to retry. */
  get retry(): 'never' | 'soon' | 'later' {
    return this.final ? 'never' : faultCodes[this.code];
  }

  /** Returns a thrown fault, or an `internal` one with any other thrown value as its cause. */
  static from(thrown: unknown): Fault {
    if (thrown instanceof Fault) return thrown;
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return new Fault('internal', message, { cause: thrown });
  }

  /** Creates an `invalid` fault of one problem. */
  static invalid(loc: Problem['loc'], msg: string, type: string): Fault {
    return new Fault('invalid', `${loc.join('.')}: ${msg}`, { problems: [{ loc, msg, type }] });
  }
}
