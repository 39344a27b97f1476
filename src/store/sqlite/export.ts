import { DatabaseSync } from 'node:sqlite';
import { collectionNames, declarations } from '../collections.ts';
import type { DeclarationOf } from '../declaration.ts';
import type { ContentKind, StoreContents, StoreExport } from '../store-export.ts';
import type { CollectionName, StoredDocuments } from '../stored-documents.ts';
import type { RowReader, Value } from './connection.ts';
import { busyTimeoutMs, guarded } from './engine.ts';
import { visible } from './jobs.ts';
import { ledger } from './ledger.ts';
import { batchMapping, wholeBatches } from './progress.ts';
import { readVersion, schemaVersion } from './schema.ts';
import { columnOf, mapRows, mapWhole, type RowMapping } from './sql.ts';

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

interface OriginRow {
  origin: string;
  nextFree: number;
  revision: number;
  pausedUntil: number;
  reason: string;
  failures: number;
  since: number;
  probing: boolean;
}

const originDeclaration: DeclarationOf<OriginRow> = {
  name: 'origins',
  fields: {
    origin: 'string',
    reason: 'string',
    nextFree: 'number',
    pausedUntil: 'number',
    since: 'number',
    revision: 'integer',
    failures: 'integer',
    probing: 'boolean',
  },
  id: ['origin'],
  order: ['since', 'origin'],
};
const originRows = mapRows<OriginRow>(originDeclaration);

const voidKeyDeclaration: DeclarationOf<StoreContents['voidLedgerKeys']> = {
  name: 'voidLedgerKeys',
  fields: {
    key: 'string',
    at: 'number',
  },
  id: ['key'],
  order: ['at', 'key'],
};
const voidKeys = mapRows<StoreContents['voidLedgerKeys']>(voidKeyDeclaration);

const origins: ContentSource<StoreContents['origins']> = {
  ...wholeTable('origins', originRows),
  read: (row) => {
    const { origin, nextFree, pausedUntil, ...pause } = originRows.read(row);
    return { origin, nextFree, pause: { ...pause, until: pausedUntil } };
  },
};

const batchesWithUnits: ContentSource<StoreContents['batches']> = {
  columns: { batches: batchMapping.columns, batch_units: '"batch_id", "units"' },
  sql: `${wholeBatches.sql} WHERE job_id IN (${visibleJobs})`,
  read: wholeBatches.read,
};

/** Conditions of the documents that are copied, by their kind. */
const conditions: Partial<Record<CollectionName, string>> = {
  jobs: `WHERE ${visible}`,
  // The deliveries of a deleted job are deleted before its row.
  deliveries: `WHERE job_id IS NULL OR job_id NOT IN (SELECT id FROM jobs WHERE NOT (${visible}))`,
};

const {
  users,
  jobs,
  processes: _,
  ...declared
} = Object.fromEntries(
  collectionNames.map((name) => {
    const mapping = mapWhole<never>(declarations[name]);
    return [name, wholeTable(columnOf(name), mapping, conditions[name])];
  }),
) as unknown as { [K in CollectionName]: ContentSource<StoredDocuments[K]> };

/** Sources of all kinds. Users come before their entries, and jobs before their batches. */
export const contentSources: { readonly [K in ContentKind]: ContentSource<StoreContents[K]> } = {
  users,
  ledger: wholeTable('ledger', ledger),
  voidLedgerKeys: wholeTable('void_ledger_keys', voidKeys),
  jobs,
  batches: batchesWithUnits,
  origins,
  ...declared,
};

/** Tables and columns (`table.column`) that are not read, with the reason. */
export const omittedContents: Readonly<Record<string, string>> = {
  processes: 'heartbeats of processes that have ended',
  unit_keys: 'an index of the units',
  installation: 'the id, which the end of a copy stores',
  'origins.holdings': 'permits of processes that have ended',
  'origins.held_until': 'permits of processes that have ended',
};

/**
 * Opens the data file of a stopped service for reading. The schema must be this program's version.
 * The caller holds the lock of the folder (lock.ts).
 */
export function openExport(path: string): StoreExport {
  const database = guarded(
    path,
    () => new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs }),
  );
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

/**
 * Returns the schema version of a data file, and the one of this program. Does not migrate the
 * file.
 */
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
