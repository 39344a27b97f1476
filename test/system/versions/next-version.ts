import { type Migration, migrations } from '../../../src/store/mongo/migrate.ts';

/**
 * Loaded into a process before its program (`node --import`), it turns the program into one of an
 * invented next version.
 */
const step: Migration = async (database) => {
  await database.collection('jobs').updateMany({}, { $set: { inventedField: 'next' } });
};
(migrations as Migration[]).push(step);
