import type { DeclaredCollections } from '../stored-documents.ts';

/** Declarations of accounts, their keys and sessions, and the audit log. */
export const accountDeclarations: Pick<
  DeclaredCollections,
  'users' | 'apiKeys' | 'sessions' | 'auditLog'
> = {
  users: {
    fields: {
      id: 'string',
      name: 'string',
      email: 'string',
      role: 'string',
      testOf: 'string?',
      balance: 'integer',
      createdAt: 'number',
      suspendedAt: 'number?',
      deletedAt: 'number?',
      erased: 'boolean',
    },
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [
      { fields: ['role', 'createdAt', 'id'] },
      { fields: ['deletedAt', 'id'], whereSet: 'deletedAt' },
    ],
  },
  apiKeys: {
    fields: {
      id: 'string',
      userId: 'string',
      role: 'string',
      name: 'string',
      hash: 'string',
      prefix: 'string',
      operatorRole: 'string?',
      createdAt: 'number',
      expiresAt: 'number?',
      revokedAt: 'number?',
      lastUsedAt: 'number?',
      scopes: 'object?',
      creditCeiling: 'integer?',
      creditsSpent: 'integer',
    },
    id: ['id'],
    order: ['createdAt', 'id'],
    indexes: [{ fields: ['hash'], unique: true }, { fields: ['userId', 'createdAt', 'id'] }],
    owner: 'userId',
  },
  sessions: {
    fields: {
      hash: 'string',
      userId: 'string',
      keyId: 'string',
      createdAt: 'number',
      expiresAt: 'number',
    },
    id: ['hash'],
    order: ['createdAt', 'hash'],
    expiresBy: 'expiresAt',
    indexes: [{ fields: ['userId', 'createdAt', 'hash'] }, { fields: ['expiresAt'] }],
    owner: 'userId',
    clustered: true,
  },
  auditLog: {
    fields: {
      createdAt: 'number',
      id: 'string',
      actorId: 'string',
      role: 'string',
      keyId: 'string',
      action: 'string',
      target: 'string',
      source: 'string',
      outcome: 'string',
      detail: 'string',
    },
    id: ['id'],
    order: ['createdAt', 'id'],
    expiresBy: 'createdAt',
    durability: 'readable_before_sync',
    indexes: [
      { fields: ['createdAt', 'id'] },
      { fields: ['actorId', 'createdAt', 'id'] },
      { fields: ['target', 'createdAt', 'id'] },
    ],
  },
};
