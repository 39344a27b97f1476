/** A counter or gauge, with the names of its labels. */
export interface LabelledMetric {
  readonly about: string;
  readonly labels: readonly string[];
  /**
   * All values of every label, in the order of the labels: these series exist at zero from the
   * start.
   */
  readonly values?: readonly (readonly string[])[];
}

/** A distribution of durations, with the upper bounds of its buckets in seconds. */
export interface DurationMetric extends LabelledMetric {
  readonly buckets: readonly number[];
}

/** Counters since the start of the process, worker processes included. */
export const counters = {
  gleaner_jobs_ended_total: {
    about: 'Jobs that reached a terminal state.',
    labels: ['kind', 'market', 'state'],
  },
  gleaner_batch_redeliveries_total: {
    about: 'Claims of batches that an earlier worker had claimed before.',
    labels: [],
    values: [],
  },
  gleaner_units_total: {
    about: 'Units that got an outcome, by fault code; "ok" for success.',
    labels: ['market', 'kind', 'code'],
  },
  gleaner_contradictions_total: {
    about: 'Fields of records whose values on the page contradict each other.',
    labels: ['market', 'field'],
  },
  gleaner_jobs_fields_missing_total: {
    about: 'Ended jobs none of whose records has a field that earlier pages had.',
    labels: ['kind', 'market'],
  },
  gleaner_browser_defects_total: {
    about:
      'Pages in a browser that returned a response from its cache (cached), ' +
      'or not all that its reader expects (pending).',
    labels: ['market', 'defect'],
  },
  gleaner_origin_requests_total: {
    about: 'Requests to origins: succeeded, refused, failed, or inconclusive.',
    labels: ['market', 'outcome'],
  },
  gleaner_credits_total: {
    about: 'Credits posted to the ledger: grant, deduction, charge, or refund.',
    labels: ['type'],
    values: [['grant', 'deduction', 'charge', 'refund']],
  },
  gleaner_deliveries_total: {
    about: 'Attempts to deliver a notification: delivered, retried, or failed.',
    labels: ['outcome'],
    values: [['delivered', 'retried', 'failed']],
  },
  gleaner_schedule_runs_total: {
    about: 'Runs of schedules by result: the state of the ended job, skipped, or not_submitted.',
    labels: ['result'],
  },
  gleaner_sweep_resumed_total: {
    about: 'Interrupted jobs and stalled batches that the sweep resumed, by step.',
    labels: ['step'],
    values: [['submit', 'approval', 'ending', 'batch']],
  },
  gleaner_requests_total: {
    about: 'Requests served: http or rpc, by result: ok, client_error, or server_error.',
    labels: ['protocol', 'result'],
    values: [
      ['http', 'rpc'],
      ['ok', 'client_error', 'server_error'],
    ],
  },
} as const satisfies Record<string, LabelledMetric>;

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Distributions of durations in seconds. */
export const durations = {
  gleaner_job_duration_seconds: {
    about: 'Time from the submit of a job to its end.',
    labels: [],
    buckets: [1, 5, 15, minute, 5 * minute, 15 * minute, hour, 4 * hour, day, 7 * day],
  },
  gleaner_approval_wait_seconds: {
    about: 'Time from the submit of a job to its approval or rejection.',
    labels: [],
    buckets: [minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, day],
  },
  gleaner_batch_schedule_to_start_seconds: {
    about: 'Time from the moment a batch is due to its claim by a worker.',
    labels: [],
    buckets: [0.1, 0.5, 1, 5, 15, minute, 5 * minute, 15 * minute, hour, 6 * hour],
  },
  gleaner_schedule_run_delay_seconds: {
    about: 'Time from the moment a run of a schedule is due to the submit of its job.',
    labels: [],
    buckets: [1, 5, 15, minute, 5 * minute, 15 * minute, hour, 6 * hour],
  },
  gleaner_unit_duration_seconds: {
    about: 'Time to read a unit, retries and waits for the origin included.',
    labels: [],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, minute, 5 * minute, 15 * minute],
  },
} as const satisfies Record<string, DurationMetric>;

/**
 * Bucket bounds for requests, in seconds. A subset of the bounds that OpenTelemetry recommends,
 * because every route has its own histogram.
 */
const requestBuckets = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Distributions of the durations of served requests, in seconds: names and labels of version 1.45.0
 * of OpenTelemetry's semantic conventions. Prometheus has `_` for each dot.
 */
const requestDurations = {
  'http.server.request.duration': {
    about: 'Duration of HTTP requests other than RPC calls.',
    labels: ['http.request.method', 'http.route', 'http.response.status_code', 'error.type'],
    buckets: requestBuckets,
  },
  'rpc.server.call.duration': {
    about: 'Duration of calls over gRPC and Connect.',
    labels: ['rpc.system.name', 'rpc.method', 'rpc.status_code'],
    buckets: requestBuckets,
  },
} as const satisfies Record<string, DurationMetric>;

/** All distributions. */
export const distributions = { ...durations, ...requestDurations };

/** Values that are read when the metrics are collected. */
export const gauges = {
  gleaner_jobs: { about: 'Jobs that have not ended.', labels: ['kind', 'state'] },
  gleaner_batches: { about: 'Batches that are queued or claimed.', labels: ['market', 'state'] },
  gleaner_batch_oldest_seconds: {
    about: 'Age of the oldest queued batch that is due; 0 without one.',
    labels: [],
  },
  gleaner_worker_slots: {
    about: 'Worker processes of this process: busy, idle, or stopped.',
    labels: ['state'],
  },
  gleaner_body_budget_bytes: {
    about: 'Memory for request bodies: used, and its limit.',
    labels: ['state'],
  },
  gleaner_connections: {
    about: 'Connections of the port for http or rpc: open, and their limit.',
    labels: ['port', 'state'],
  },
  gleaner_origin_paused: { about: 'Origins that are paused.', labels: ['market'] },
  gleaner_drift_fields: {
    about:
      'Fields that pages lack more often than before (alarm), ' +
      'and those that all newest pages lack (gone).',
    labels: ['market', 'state'],
  },
  gleaner_backup_last_success_timestamp_seconds: {
    about:
      'Start of the newest complete scheduled backup, in seconds since the epoch; 0 without one.',
    labels: [],
  },
  gleaner_backup_overdue_seconds: {
    about: 'Time since the next scheduled backup was due; 0 while it is not due.',
    labels: [],
  },
  gleaner_audit_disagreements: {
    about: 'Disagreements of balances, ledger, and jobs in the last audit.',
    labels: [],
  },
  gleaner_build_info: {
    about: 'Always 1; the labels describe the process.',
    labels: ['version', 'role'],
  },
} as const satisfies Record<string, LabelledMetric>;

export type RequestProtocol = 'http' | 'rpc';
export type RequestResult = 'ok' | 'client_error' | 'server_error';

export type CounterName = keyof typeof counters;
export type DistributionName = keyof typeof distributions;
export type GaugeName = keyof typeof gauges;

export type CounterLabels<Name extends CounterName> = Readonly<
  Record<(typeof counters)[Name]['labels'][number], string>
>;
export type GaugeLabels<Name extends GaugeName> = Readonly<
  Record<(typeof gauges)[Name]['labels'][number], string>
>;
