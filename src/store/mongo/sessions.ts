import type { SessionStore } from '../sessions.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import { readKey, readUser } from './shapes.ts';

/** Creates the MongoDB implementation of SessionStore. */
export function sessionStore(engine: MongoEngine): SessionStore {
  return {
    createSession: ({ hash, ...rest }, max) =>
      engine.run(async ({ sessions }) => {
        await unlessDuplicate(() => sessions.insertOne({ _id: hash, ...rest }));
        const excess = await sessions
          .find({ userId: rest.userId }, { projection: { _id: 1 } })
          .sort({ createdAt: -1, _id: -1 })
          .skip(max)
          .toArray();
        if (excess.length > 0) await sessions.deleteMany({ _id: { $in: excess.map(({ _id }) => _id) } });
      }),

    findSession: (hash) =>
      engine.run(async ({ sessions, apiKeys, users }) => {
        const document = await sessions.findOne({ _id: hash });
        if (document === null) return null;
        const [key, user] = await Promise.all([
          apiKeys.findOne({ _id: document.keyId }),
          users.findOne({ _id: document.userId }),
        ]);
        if (key === null || user === null) return null;
        const { _id, ...rest } = document;
        return { session: { hash: _id, ...rest }, key: readKey(key, user), user: readUser(user) };
      }),

    deleteSession: (hash) =>
      engine.run(async ({ sessions }) => {
        await sessions.deleteOne({ _id: hash });
      }),

    deleteSessions: (userId) =>
      engine.run(async ({ sessions }) => (await sessions.deleteMany({ userId })).deletedCount),
  };
}
