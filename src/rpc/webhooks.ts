import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  AccountService,
  type DeliverySchema,
  type WebhookSchema,
} from '../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../contract/fault.ts';
import { originOnly } from '../contract/redact.ts';
import { problemOfTarget } from '../fetch/target.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { queueOperatorTest, queueTest } from '../notify/queue.ts';
import { rotateSecret, setWebhook } from '../notify/webhook.ts';
import type { Delivery, Webhook } from '../store/documents.ts';
import { defaultPageSize, type Handlers, handle } from './handlers.ts';

/** Dependencies of this module. */
type WebhooksContext = Pick<JobContext, 'clock' | 'newId' | 'settings'> &
  StoreUse<'createDelivery' | 'deleteWebhook' | 'getWebhook' | 'listDeliveries' | 'putWebhook' | 'redeliver'>;

/** Returns the handlers of users and operators for webhooks, deliveries and test messages. */
export function webhookHandlers(context: WebhooksContext): Handlers {
  const { store, clock, newId } = context;
  const settings = context.settings.notices;
  const notices = { store, clock, newId, settings };
  const account = AccountService.method;
  const operator = OperatorService.method;

  const list = async (
    userId: string | undefined,
    { pageSize: limit, pageToken }: { pageSize: number; pageToken: string },
  ) => {
    const page = { limit: limit || defaultPageSize, after: pageToken || null };
    const { items, next } = await store.listDeliveries(userId, page);
    return { deliveries: items.map(deliveryShape), nextPageToken: next ?? '' };
  };

  const unary = new Map([
    handle(account.getWebhook, async (_request, { principal }) =>
      webhookShape(await store.getWebhook(principal.userId)),
    ),
    handle(account.setWebhook, async ({ url = '', disabled }, { principal }) => {
      if (url === '') {
        await store.deleteWebhook(principal.userId);
        return webhookShape(null);
      }
      const problem = problemOfTarget(url, settings.privateWebhooks);
      if (problem !== null) throw Fault.invalid(['body', 'url'], problem, 'value_error');
      return webhookShape(await setWebhook(notices, principal.userId, { url, enabled: !disabled }));
    }),
    handle(account.rotateWebhookSecret, async (_request, { principal }) =>
      webhookShape(await rotateSecret(notices, principal.userId)),
    ),
    handle(account.testWebhook, async (_request, { principal }) =>
      deliveryShape(await queueTest(notices, principal.userId)),
    ),
    handle(account.listDeliveries, (request, { principal }) => list(principal.userId, request)),
    handle(account.redeliverWebhook, async ({ deliveryId }, { principal }) => {
      const delivery = await store.redeliver(deliveryId.toLowerCase(), clock.now(), principal.userId);
      if (delivery === null) throw new Fault('not_found', `There is no message '${deliveryId}'.`);
      return deliveryShape(delivery);
    }),
    handle(operator.listDeliveries, (request) =>
      list(request.userId === '' ? undefined : request.userId, request),
    ),
    handle(operator.testNotification, async () => ({
      deliveries: (await queueOperatorTest(notices)).map(deliveryShape),
    })),
  ]);
  return { unary, stream: new Map() };
}

function webhookShape(webhook: Webhook | null): MessageInitShape<typeof WebhookSchema> {
  if (webhook === null) return {};
  const { url, enabled, secret, updatedAt } = webhook;
  return { url, enabled, secret, updatedAt: timestampFromMs(updatedAt) };
}

function deliveryShape(delivery: Delivery): MessageInitShape<typeof DeliverySchema> {
  const { id, type, channel, target, state, attempts, error, body } = delivery;
  const { jobId, userId, createdAt, nextAttemptAt, endedAt, responseStatus } = delivery;
  return {
    deliveryId: id,
    type,
    channel,
    // The path of a webhook can be a credential, and deliveries are for readers, too.
    target: channel === 'webhook' ? originOnly(target) : target,
    state,
    attempts,
    error,
    body,
    jobId: jobId ?? '',
    userId: userId ?? '',
    responseStatus: responseStatus ?? 0,
    createdAt: timestampFromMs(createdAt),
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: timestampFromMs(nextAttemptAt) }),
    ...(endedAt === null ? {} : { endedAt: timestampFromMs(endedAt) }),
  };
}
