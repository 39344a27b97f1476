import { newId } from '../../base/id.ts';
import type { TrackedValues } from '../../base/tracked-values.ts';
import type { Webhook } from '../documents.ts';
import type {
  ItemChange,
  ItemKey,
  Observation,
  Rule,
  TrackedItem,
  TrackingRun,
} from '../history.ts';
import { aTime } from './samples.ts';

/** Values of an item. */
export const someValues = (fields: Partial<TrackedValues> = {}): TrackedValues => ({
  title: 'Lamp ☃',
  price: 12.5,
  currency: 'EUR',
  stock: 3,
  available: true,
  sold: 0,
  rating: null,
  variants: [{ id: '1', name: 'S', price: 12.5, stock: 3 }],
  ...fields,
});

/** An item of a user. */
export const anItemKey = (fields: Partial<ItemKey> = {}): ItemKey => ({
  userId: newId(),
  market: 'mkta',
  region: 'id',
  key: '30000000001',
  ...fields,
});

/** A run that is due. */
export const aRun = (fields: Partial<TrackingRun> = {}): TrackingRun => ({
  jobId: newId(),
  userId: newId(),
  market: 'mkta',
  kind: 'pdp_bulk',
  series: 'daily',
  at: aTime,
  dueAt: aTime,
  revision: 0,
  queueState: 'waiting',
  stage: 'items',
  nextBatch: 0,
  counts: { new: 0, changed: 0, missing: 0, back: 0, unchanged: 0 },
  messages: 0,
  failedAt: null,
  isSkipped: false,
  doneAt: null,
  ...fields,
});

/** An item that was read once. */
export const anItem = (fields: Partial<TrackedItem> = {}): TrackedItem => ({
  id: newId(),
  ...anItemKey(),
  series: '',
  values: someValues(),
  readAt: aTime,
  isPresent: true,
  units: { unit: aTime },
  unreadUnits: [],
  firstAt: aTime,
  changedAt: aTime,
  changedJob: 'job 1',
  seenAt: aTime,
  seenJob: 'job 1',
  foundJob: 'job 1',
  foundBatch: 0,
  rules: { 'a-rule': { revision: 1, isTrue: true, reference: 12.5, currency: 'EUR' } },
  revision: 1,
  ...fields,
});

/** The only observation of an item. */
export const anObservation = (fields: Partial<Observation> = {}): Observation => ({
  ...anItemKey(),
  at: aTime,
  jobId: newId(),
  values: someValues(),
  changed: ['title', 'price'],
  endedAt: null,
  ...fields,
});

/** A change of a job at a place in the order of its changes. */
export const aChange = (
  jobId: string,
  place: number,
  fields: Partial<ItemChange> = {},
): ItemChange => ({
  id: `${jobId}/${String(place).padStart(8, '0')}/x`,
  jobId,
  ...anItemKey(),
  type: 'changed',
  at: aTime,
  title: 'Lamp',
  before: { price: 12.5 },
  after: { price: 10, variants: null },
  ...fields,
});

/** A rule that applies to every item of its user. */
export const aRule = (fields: Partial<Rule> = {}): Rule => ({
  id: newId(),
  userId: newId(),
  name: 'Cheaper',
  condition: 'price_falls_by',
  threshold: 5,
  field: '',
  market: '',
  region: '',
  key: '',
  series: '',
  channel: 'webhook',
  enabled: true,
  createdAt: aTime,
  updatedAt: aTime,
  revision: 1,
  ...fields,
});

/** An enabled webhook, to which rules send messages. */
export const aWebhook = (fields: Partial<Webhook> = {}): Webhook => ({
  userId: newId(),
  url: 'https://receiver.test/hook',
  enabled: true,
  secret: 'whsec_AAAA',
  previousSecret: null,
  previousUntil: null,
  updatedAt: 0,
  revision: 1,
  ...fields,
});
