import type { Collections } from '../collections.ts';
import type { OriginStore } from '../origin-state.ts';
import type { KeyStore, LedgerStore } from '../store.ts';
import { auditLogStore, sessionStore, submissionStore, userStore } from './accounts.ts';
import { deliveryStore, destinationStore } from './deliveries.ts';
import { historyStore } from './history.ts';
import { crawlStore, driftStore, operationsStore, pagePlaceStore } from './operations.ts';
import { expiryStore, userRetention } from './retention.ts';
import { scheduleStore } from './schedules.ts';

/** Methods of an engine that the declared collections need. */
type OwnMethods = Pick<KeyStore, 'getApiKey'> &
  Pick<LedgerStore, 'emptyNotes'> &
  Pick<OriginStore, 'expireOrigins'>;

/** Creates the part of a store that is the same for both engines. */
export function declaredStore(collections: Collections, own: OwnMethods) {
  return {
    ...userStore(collections),
    ...sessionStore(collections, own),
    ...auditLogStore(collections),
    ...submissionStore(collections),
    ...crawlStore(collections),
    ...pagePlaceStore(collections),
    ...expiryStore(collections, own),
    ...userRetention(collections, own),
    ...driftStore(collections),
    ...operationsStore(collections),
    ...deliveryStore(collections),
    ...destinationStore(collections),
    ...scheduleStore(collections),
    ...historyStore(collections),
  };
}
