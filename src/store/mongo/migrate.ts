import type { Collection, Db } from 'mongodb';
import type { Clock } from '../../base/clock.ts';
import { IncompleteMoveError, NewerDataError } from '../../base/data-refused-error.ts';
import { Fault } from '../../contract/fault.ts';
import { unlessDuplicate } from './duplicates.ts';
import { createIndexes, type SchemaDocument } from './schema.ts';

/** A change of the database. It is repeated after a crash, so it must be idempotent. */
export type Migration = (database: Db) => Promise<void>;

/**
 * Migrations from an empty database to the current schema, in order. The stored version is the
 * number of applied ones. Never edit a released migration; append a new one. Processes of the
 * versions since `compatibleFrom` may be running meanwhile and afterwards, so a migration must not
 * change what these read.
 */
export const migrations: readonly Migration[] = [createIndexes];

/**
 * Lowest schema version whose programs can use data of the current one. Raise it only with a
 * migration that removes or replaces what such a program reads or writes, at the earliest one
 * release after the last program that needs it.
 */
export const compatibleFrom = 1;

/** Options for migrate(). */
export interface MigrateOptions {
  /** Name of the database in error messages. */
  address: string;
  steps: readonly Migration[];
  /** Lowest schema version whose programs can use the migrated data. */
  compatibleFrom: number;
  /** Id of this process. */
  holder: string;
  /** Returns the server's time in milliseconds since the epoch. */
  time(): Promise<number>;
  clock: Clock;
  /** True to accept a database with an incomplete move. */
  isImport?: boolean;
}

/** Duration of a lease, which is renewed while a migration runs, in milliseconds. */
const leaseMs = 30_000;
/** Maximum wait for the migrations of another process, in milliseconds. */
const maxWaitMs = 10_000;
const pollMs = 100;

/**
 * Applies the missing migrations, unless another process does so. Returns the version of the
 * schema, which may be newer than the program if it is compatible. Throws a NewerDataError if a
 * newer program wrote the database, an IncompleteMoveError unless `isImport`, and fault
 * `unavailable` if another process is still migrating it after 10 seconds.
 */
export async function migrate(database: Db, options: MigrateOptions): Promise<number> {
  const { address, steps, holder, time, clock, isImport = false } = options;
  const schema: Collection<SchemaDocument> = database.collection('schema');
  const waitUntil = clock.steady() + maxWaitMs;
  for (;;) {
    const found = await readSchema(schema);
    if (isTooNew(found, steps.length))
      throw new NewerDataError(address, found.version, steps.length);
    if (found.movingFrom !== undefined && !isImport)
      throw new IncompleteMoveError(address, found.movingFrom);
    if (found.version >= steps.length) return found.version;
    const now = await time();
    const { matchedCount: claimed } = await schema.updateOne(
      { _id: 'schema', version: found.version, leaseUntil: { $lte: now } },
      { $set: { holder, leaseUntil: now + leaseMs } },
    );
    if (claimed === 1) await applySteps(database, schema, found.version, options);
    else if (clock.steady() < waitUntil) await clock.sleep(pollMs);
    else
      throw new Fault(
        'unavailable',
        `${address} is being migrated to schema version ${steps.length}`,
        {
          component: 'store',
        },
      );
  }
}

/** Returns true if a program with the schema version `supported` cannot use the data. */
const isTooNew = (
  { version, compatibleFrom = version }: SchemaDocument,
  supported: number,
): boolean => version > supported && compatibleFrom > supported;

/** Returns the state of the schema, which is created in an unversioned database. */
async function readSchema(schema: Collection<SchemaDocument>): Promise<SchemaDocument> {
  const found = await schema.findOne({ _id: 'schema' });
  if (found !== null) return found;
  const created: SchemaDocument = {
    _id: 'schema',
    version: 0,
    holder: '',
    leaseUntil: 0,
  };
  await unlessDuplicate(() => schema.insertOne(created));
  return (await schema.findOne({ _id: 'schema' })) ?? created;
}

/** Applies the steps after `version` while this process has the lease, and releases it. */
async function applySteps(
  database: Db,
  schema: Collection<SchemaDocument>,
  version: number,
  { steps, compatibleFrom, holder, time, clock }: MigrateOptions,
): Promise<void> {
  const renewing = new AbortController();
  const renewal = (async () => {
    for (;;) {
      await clock.sleep(leaseMs / 3, renewing.signal);
      await schema.updateOne(
        { _id: 'schema', holder },
        { $set: { leaseUntil: (await time()) + leaseMs } },
      );
    }
    // A renewal that fails is repeated by the process that takes over.
  })().catch(() => {});
  try {
    for (const [index, step] of steps.entries()) {
      if (index < version) continue;
      await step(database);
      const reached = { version: index + 1, compatibleFrom: Math.min(compatibleFrom, index + 1) };
      // Names the version before, in case a process that took over an expired lease was faster.
      await schema.updateOne({ _id: 'schema', version: index }, { $set: reached });
    }
  } finally {
    renewing.abort(new Error('migrated'));
    await renewal;
    await schema.updateOne({ _id: 'schema', holder }, { $set: { holder: '', leaseUntil: 0 } });
  }
}
