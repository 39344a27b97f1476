import type { DeclaredCollections } from '../stored-documents.ts';

/** Declarations of what processes share about pages, origins, and themselves. */
export const operationDeclarations: Pick<
  DeclaredCollections,
  'crawls' | 'pagePlaces' | 'drift' | 'processes' | 'originMinutes'
> = {
  crawls: {
    fields: {
      key: 'string',
      at: 'number',
      body: 'bytes',
    },
    id: ['key'],
    order: ['at', 'key'],
    expiresBy: 'at',
    indexes: [{ fields: ['at'] }],
    upsert: { versionedBy: ['at'] },
    durability: 'relaxed',
  },
  pagePlaces: {
    fields: {
      id: 'string',
      path: 'string',
      offset: 'integer',
      length: 'integer',
    },
    // The id begins with the job's id.
    id: ['id'],
    order: ['id', 'offset'],
    durability: 'relaxed',
    clustered: true,
  },
  drift: {
    fields: {
      market: 'string',
      page: 'string',
      state: 'string',
      revision: 'integer',
    },
    id: ['market', 'page'],
    order: ['market', 'page'],
    durability: 'relaxed',
  },
  processes: {
    fields: {
      id: 'string',
      role: 'string',
      host: 'string',
      version: 'string',
      paused: 'string',
      pid: 'integer',
      memoryBytes: 'integer',
      batches: 'integer',
      unitsDone: 'integer',
      clockSkewMs: 'integer',
      workers: 'integer',
      startedAt: 'number',
      seenAt: 'number',
    },
    id: ['id'],
    order: ['startedAt', 'id'],
    expiresBy: 'seenAt',
    indexes: [{ fields: ['seenAt'] }],
    durability: 'relaxed',
  },
  originMinutes: {
    fields: {
      minute: 'number',
      milliseconds: 'number',
      origin: 'string',
      market: 'string',
      region: 'string',
      requests: 'integer',
      refused: 'integer',
      failed: 'integer',
    },
    id: ['minute', 'origin', 'market', 'region'],
    order: ['minute', 'origin', 'market', 'region'],
    expiresBy: 'minute',
    counters: ['requests', 'refused', 'failed', 'milliseconds'],
    durability: 'relaxed',
    clustered: true,
  },
};
