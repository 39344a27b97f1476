import { DatabaseSync } from 'node:sqlite';
import type { ContentKind, StoreContents, StoreExport } from '../contents.ts';
import type { DriftRecord, Unit, Webhook } from '../documents.ts';
import type { RowReader, Value } from './connection.ts';
import { busyTimeoutMs, guarded } from './engine.ts';
import { visible } from './removing.ts';
import { readVersion, schemaVersion } from './schema.ts';
import {
  apiKeys,
  auditLog,
  batches,
  deletedJobs,
  deliveries,
  destinations,
  itemChanges,
  jobs,
  ledger,
  mapRows,
  observations,
  originMinutes,
  type RowMapping,
  rules,
  scheduleRuns,
  schedules,
  sessions,
  submissions,
  trackedItems,
  trackingRuns,
  users,
} from './shapes.ts';

/** Source of the documents of a kind. */
interface ContentSource<T> extends RowReader<T> {
  /** Columns read, by table. */
  readonly columns: Readonly<Record<string, string>>;
  /** Query without parameters. */
  readonly sql: string;
}

const visibleJobs = `SELECT id FROM jobs WHERE ${visible}`;

/** Creates the source of a table whose rows are documents. */
function wholeTable<T>(table: string, mapping: RowMapping<T>, condition = ''): ContentSource<T> {
  return {
    columns: { [table]: mapping.columns },
    sql: `SELECT ${mapping.select} FROM ${table} ${condition}`,
    read: mapping.read,
  };
}

const originRows = mapRows<{
  origin: string;
  nextFree: number;
  change: number;
  pausedUntil: number;
  reason: string;
  strikes: number;
  since: number;
  probing: boolean;
}>(['origin', 'nextFree', 'change', 'pausedUntil', 'reason', 'strikes', 'since', 'probing'], [], ['probing']);

const origins: ContentSource<StoreContents['origins']> = {
  ...wholeTable('origins', originRows),
  read: (row) => {
    const { origin, nextFree, pausedUntil, strikes, ...pause } = originRows.read(row);
    return { origin, nextFree, pause: { ...pause, until: pausedUntil, failures: strikes } };
  },
};

const batchesWithUnits: ContentSource<StoreContents['batches']> = {
  columns: { batches: batches.columns, batch_units: 'batch_id, units' },
  sql: `SELECT ${batches.select}, units FROM batches JOIN batch_units ON batch_id = id WHERE job_id IN (${visibleJobs})`,
  read: (row) => {
    const { total: _, ...batch } = batches.read(row.slice(0, -1));
    return { ...batch, units: JSON.parse(row.at(-1) as string) as Unit[] };
  },
};

/** Sources of all kinds. Users come before their entries, and jobs before their batches. */
export const contentSources: { readonly [K in ContentKind]: ContentSource<StoreContents[K]> } = {
  users: wholeTable('users', users),
  apiKeys: wholeTable('api_keys', apiKeys),
  sessions: wholeTable('sessions', sessions),
  auditLog: wholeTable('audit_log', auditLog),
  ledger: wholeTable('ledger', ledger),
  voidLedgerKeys: wholeTable('void_ledger_keys', mapRows<StoreContents['voidLedgerKeys']>(['key', 'at'])),
  jobs: wholeTable('jobs', jobs, `WHERE ${visible}`),
  deletedJobs: wholeTable('deleted_jobs', deletedJobs),
  batches: batchesWithUnits,
  sequences: wholeTable('sequences', mapRows<StoreContents['sequences']>(['name', 'value'])),
  submissions: wholeTable('submissions', submissions),
  origins,
  crawls: wholeTable('crawls', mapRows<StoreContents['crawls']>(['key', 'at', 'body'])),
  drift: wholeTable('drift', mapRows<DriftRecord>(['market', 'page', 'revision', 'state'])),
  originMinutes: wholeTable('origin_minutes', originMinutes),
  webhooks: wholeTable(
    'webhooks',
    mapRows<Webhook>(
      ['userId', 'url', 'enabled', 'secret', 'previousSecret', 'previousUntil', 'updatedAt', 'revision'],
      [],
      ['enabled'],
    ),
  ),
  deliveries: wholeTable(
    'deliveries',
    deliveries,
    // Those of a deleted job are deleted before its row.
    `WHERE job_id IS NULL OR job_id NOT IN (SELECT id FROM jobs WHERE NOT (${visible}))`,
  ),
  destinations: wholeTable('destinations', destinations),
  schedules: {
    columns: { schedules: `${schedules.columns}, request` },
    sql: `SELECT ${schedules.select}, request FROM schedules`,
    read: (row) => ({ ...schedules.read(row.slice(0, -1)), request: row.at(-1) as string }),
  },
  scheduleRuns: wholeTable('schedule_runs', scheduleRuns),
  trackingRuns: wholeTable('tracking_runs', trackingRuns),
  trackedItems: wholeTable('tracked_items', trackedItems),
  observations: wholeTable('observations', observations),
  itemChanges: wholeTable('item_changes', itemChanges),
  rules: wholeTable('rules', rules),
};

/** Tables and columns (`table.column`) that are not read, with the reason. */
export const omittedContents: Readonly<Record<string, string>> = {
  processes: 'heartbeats of processes that have ended',
  unit_keys: 'an index of the units',
  'origins.holdings': 'permits of processes that have ended',
  'origins.held_until': 'permits of processes that have ended',
};

/**
 * Opens the data file of a stopped service for reading. The schema must be that of this program. The caller holds the
 * lock of the folder (lock.ts).
 */
export function openExport(path: string): StoreExport {
  const database = guarded(path, () => new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs }));
  return {
    kinds: Object.keys(contentSources) as ContentKind[],
    *read(kind) {
      const { sql, read } = contentSources[kind];
      const statement = database.prepare(sql);
      statement.setReturnArrays(true);
      for (const row of statement.iterate()) yield read(row as unknown as Value[]);
    },
    close: () => database.close(),
  };
}

/** Returns the schema version of a data file, and the one of this program. Does not migrate the file. */
export function readSchemaVersion(path: string): { found: number; supported: number } {
  return guarded(path, () => {
    const database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    try {
      return { found: readVersion(database), supported: schemaVersion };
    } finally {
      database.close();
    }
  });
}
