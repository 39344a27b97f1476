import { EventEmitter } from 'node:events';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { shardKeys } from '../../../test/support/engines/shard-keys.ts';
import { storeConformance } from '../conformance.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();

/** Collections with a document per origin or market, which may be read as a whole. */
const small = ['origins', 'drift'];

/**
 * Filters of the suite's commands. The first key of a limited list's order counts as a restriction.
 */
const filters = new Map<string, { collection: string; filter: object }>();

/** Updates and deletions of the suite's commands in sharded collections. */
const writes: { collection: string; filter: object; isMulti: boolean }[] = [];

function noteWrites({ commandName, command }: CommandStartedEvent): void {
  const collection = String(command[commandName]);
  if (!shardKeys.has(collection)) return;
  for (const { q: filter, multi = false } of command.updates ?? [])
    writes.push({ collection, filter, isMulti: multi });
  for (const { q: filter, limit } of command.deletes ?? [])
    writes.push({ collection, filter, isMulti: limit === 0 });
  if (commandName === 'findAndModify')
    writes.push({ collection, filter: command.query, isMulti: false });
}

/** Returns the filters of a command, with the first field that it sorts by. */
function filtersOf(commandName: string, command: CommandStartedEvent['command']): object[] {
  if (command.updates) return command.updates.map((update: { q: object }) => update.q);
  if (command.deletes) return command.deletes.map((removal: { q: object }) => removal.q);
  if (commandName === 'aggregate') return [command.pipeline[0]?.$match ?? {}];
  if (!['find', 'findAndModify'].includes(commandName)) return [];
  if (!command.limit) return [command.filter ?? command.query ?? {}];
  const [sortedFirst] = [...(command.sort ?? [])];
  return [{ ...Object.fromEntries(sortedFirst ? [sortedFirst] : []), ...command.filter }];
}

function note({ commandName, command }: CommandStartedEvent): void {
  for (const filter of filtersOf(commandName, command)) {
    const collection = String(command[commandName]);
    filters.set(`${collection} ${JSON.stringify(shapeOf(filter))}`, { collection, filter });
  }
}

/**
 * Replaces the values of a filter by their types, so that filters which differ in values are equal.
 */
function shapeOf(filter: unknown): unknown {
  if (filter === null || typeof filter !== 'object') return typeof filter;
  if (Array.isArray(filter)) return filter.slice(0, 1).map(shapeOf);
  return Object.fromEntries(Object.entries(filter).map(([key, value]) => [key, shapeOf(value)]));
}

/**
 * Returns the fields that every document matching the filter is restricted by, for each
 * alternative.
 */
function fieldsOf(filter: object): string[][] {
  const { $or, $and, ...rest } = filter as { $or?: object[]; $and?: object[] };
  const own = [...Object.keys(rest), ...($and ?? []).flatMap((part) => fieldsOf(part).flat())];
  return $or === undefined
    ? [own]
    : $or.flatMap((part) => fieldsOf(part).map((more) => [...own, ...more]));
}

describe.skipIf('missing' in mongo)(
  `MongoDB store${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    const emit = vi.spyOn(MongoClient.prototype, 'emit').mockImplementation(function (
      this: MongoClient,
      event: string,
      ...values: unknown[]
    ) {
      if (event === 'commandStarted') {
        note(values[0] as CommandStartedEvent);
        noteWrites(values[0] as CommandStartedEvent);
      }
      return (EventEmitter.prototype.emit as (...all: unknown[]) => boolean).call(
        this,
        event,
        ...values,
      );
    } as never);
    afterAll(async () => {
      emit.mockRestore();
      await mongo.stop();
    });

    storeConformance(async () => {
      const uri = monitored(mongo.fresh());
      const store = openMongoStore({ uri });
      const other = openMongoStore({ uri });
      return {
        store,
        other,
        remove: async () => {
          await other.close();
          await store.close();
        },
      };
    });

    test('every write of a batch names its job, and of a document of a sharded collection its shard key', () => {
      const targeted = writes.filter(
        ({ collection, isMulti }) => collection === 'batches' || !isMulti,
      );
      expect(new Set(targeted.map(({ collection }) => collection)).size).toBeGreaterThan(3);
      const broadcast = targeted.filter(
        ({ collection, filter }) => !Object.hasOwn(filter, shardKeys.get(collection)!),
      );
      expect(broadcast).toEqual([]);
    });

    test('no command reads a whole collection, except for those with a document per origin or market', async () => {
      const uri = mongo.fresh();
      const store = openMongoStore({ uri });
      await store.ping();
      await store.close();
      const client = new MongoClient(uri);
      try {
        const existing = (await client.db().listCollections().toArray()).map(({ name }) => name);
        const first = new Map<string, string[]>();
        for (const name of existing) {
          const indexes = await client.db().collection(name).indexes();
          first.set(
            name,
            indexes.map(({ key }) => Object.keys(key)[0]!),
          );
        }
        expect(filters.size).toBeGreaterThan(100);
        const scans = [...filters].filter(
          ([, { collection, filter }]) =>
            !small.includes(collection) &&
            !fieldsOf(filter).every((fields) =>
              (first.get(collection) ?? ['_id']).some((field) => fields.includes(field)),
            ),
        );
        expect(scans.map(([name]) => name)).toEqual([]);
      } finally {
        await client.close();
      }
    });
  },
);

/** Returns a connection string whose client reports its commands. */
function monitored(uri: string): string {
  return `${uri}${uri.includes('?') ? '&' : '?'}monitorCommands=true`;
}
