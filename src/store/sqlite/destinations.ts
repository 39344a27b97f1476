import type { Destination, DestinationStore } from '../destinations.ts';
import type { SqliteEngine } from './engine.ts';
import { destinations } from './shapes.ts';

/** Creates the SQLite implementation of DestinationStore. */
export function destinationStore(engine: SqliteEngine): DestinationStore {
  return {
    createDestination: async (destination) =>
      engine.run(
        `INSERT INTO destinations (${destinations.columns}) VALUES (${destinations.marks}) ON CONFLICT DO NOTHING`,
        ...destinations.values(destination),
      ) === 1,

    putDestination: async (destination) =>
      engine.run(
        `UPDATE OR IGNORE destinations SET (${destinations.columns}) = (${destinations.marks})
         WHERE id = ? AND revision = ?`,
        ...destinations.values(destination),
        destination.id,
        destination.revision - 1,
      ) === 1,

    getDestination: async (id) =>
      engine.document(destinations, `SELECT ${destinations.select} FROM destinations WHERE id = ?`, id),

    listDestinations: async (userId) =>
      engine.documents(
        destinations,
        `SELECT ${destinations.select} FROM destinations WHERE user_id = ? ORDER BY name`,
        userId,
      ),

    deleteDestination: async (id, userId) =>
      engine.run('DELETE FROM destinations WHERE id = ? AND user_id = ?', id, userId) === 1,

    findDestinationsByOtherKey: async (secretsKey, limit) =>
      engine.documents<Destination>(
        destinations,
        `SELECT ${destinations.select} FROM destinations WHERE secrets_key <> ? ORDER BY secrets_key, id LIMIT ?`,
        secretsKey,
        limit,
      ),
  };
}
