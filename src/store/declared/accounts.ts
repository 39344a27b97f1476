import { Fault } from '../../contract/fault.ts';
import type { AuditLogStore } from '../audit-log.ts';
import type { Collections } from '../collections.ts';
import type { SessionStore } from '../sessions.ts';
import type { KeyStore, SubmissionStore, UserStore } from '../store.ts';

/** Creates the store of users. */
export function userStore({ users }: Collections): UserStore {
  return {
    createUser: (user) => users.insert(user),
    getUser: (id) => users.get(id),
    getUsers: (ids) => users.find({ id: { in: ids } }, { order: [] }),
    listUsers: (role, page, text = '') =>
      users.list(
        { role, erased: false, testOf: null },
        page,
        text === '' ? undefined : { fields: ['name', 'email', 'id'], text },
      ),
    suspendUser: async (id, at) => {
      const changed =
        at === null
          ? await users.update({ id, deletedAt: null }, { suspendedAt: null })
          : await users.update({ id, suspendedAt: null }, { suspendedAt: at });
      return changed ?? users.get(id);
    },
  };
}

/** Creates the store of sessions. */
export function sessionStore(
  { sessions, users }: Collections,
  { getApiKey }: Pick<KeyStore, 'getApiKey'>,
): SessionStore {
  return {
    createSession: async (session, max) => {
      await sessions.insert(session);
      const { userId } = session;
      const excess = (await sessions.find({ userId }, { newestFirst: true })).slice(max);
      if (excess.length > 0) await sessions.remove({ hash: { in: excess.map(({ hash }) => hash) } });
    },

    findSession: async (hash) => {
      const session = await sessions.get(hash);
      if (session === null) return null;
      const [key, user] = await Promise.all([getApiKey(session.keyId), users.get(session.userId)]);
      return key && user && { session, key, user };
    },

    deleteSession: async (hash) => {
      await sessions.remove({ hash });
    },

    deleteSessions: (userId) => sessions.remove({ userId }),
  };
}

/** Creates the store of the audit log. */
export function auditLogStore({ auditLog }: Collections): AuditLogStore {
  return {
    appendAuditEntry: async (entry) => {
      // An entry that exists was written by an earlier attempt of this call.
      await auditLog.insert(entry);
    },

    listAuditEntries: ({ since = 0, until = Number.MAX_SAFE_INTEGER, ...filter }, page) =>
      auditLog.list({ ...filter, createdAt: { atLeast: since, below: until } }, page),
  };
}

/** Number of expired keys deleted by each claim. */
const maxExpired = 500;
const maxAttempts = 10;

/** Creates the store of sequences and idempotency keys. */
export function submissionStore({ sequences, submissions }: Collections): SubmissionStore {
  return {
    nextNumber: async (name) => {
      const raised = await sequences.update({ name }, {}, { value: 1 });
      if (raised !== null) return raised.value;
      await sequences.insert({ name, value: 0 });
      return (await sequences.update({ name }, {}, { value: 1 }))!.value;
    },

    claimSubmission: async (submission, expiredBefore) => {
      const { userId, idempotencyKey } = submission;
      await submissions.remove({ createdAt: { below: expiredBefore } }, maxExpired);
      await submissions.remove({ userId, idempotencyKey, createdAt: { below: expiredBefore } });
      for (let attempt = 0; attempt < maxAttempts; attempt++) {
        if (await submissions.insert(submission)) return null;
        const holder = await submissions.get(userId, idempotencyKey);
        if (holder !== null) return holder;
        // Deleted between the two operations: the key is free again.
      }
      throw new Fault('unavailable', `idempotency key ${idempotencyKey} is claimed and released too often`);
    },

    completeSubmission: async (userId, idempotencyKey, response) => {
      await submissions.update({ userId, idempotencyKey, response: null }, { response });
    },

    markSubmissionInterrupted: async (userId, idempotencyKey) => {
      await submissions.update({ userId, idempotencyKey, response: null }, { interrupted: true });
    },

    deleteSubmission: async (userId, idempotencyKey) => {
      await submissions.remove({ userId, idempotencyKey, response: null });
    },
  };
}
