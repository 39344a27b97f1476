import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  AccountService,
  type DeliverySchema,
  type WebhookSchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { originOnly } from '../../contract/redact.ts';
import { queueOperatorTest, queueTest } from '../../delivery/notify/queue.ts';
import { rotateSecret, setWebhook } from '../../delivery/notify/webhook.ts';
import { problemOfTarget } from '../../fetch/target.ts';
import type { JobContext } from '../../jobs/context.ts';
import { redeliver } from '../../store/deliveries.ts';
import type { Delivery, Webhook } from '../../store/documents.ts';
import { defaultPageSize, type Handlers, handle } from './handlers.ts';

/** Returns the handlers of users and operators for webhooks, deliveries and test messages. */
export function webhookHandlers(context: JobContext): Handlers {
  const { store, clock, settings } = context;
  const account = AccountService.method;
  const operator = OperatorService.method;

  const list = async (
    userId: string | undefined,
    { pageSize: limit, pageToken }: { pageSize: number; pageToken: string },
  ) => {
    const page = { limit: limit || defaultPageSize, after: pageToken || null };
    const { items, next } = await store.deliveries.list({ userId }, page);
    return { deliveries: items.map(toDeliveryMessage), nextPageToken: next ?? '' };
  };

  const unary = new Map([
    handle(account.getWebhook, async (_request, { principal }) =>
      toWebhookMessage(await store.webhooks.get(principal.userId)),
    ),
    handle(account.setWebhook, async ({ url = '', disabled }, { principal }) => {
      if (url === '') {
        await store.webhooks.remove({ userId: principal.userId });
        return toWebhookMessage(null);
      }
      const problem = problemOfTarget(url, settings.notices.privateWebhooks);
      if (problem !== null) throw Fault.invalid(['body', 'url'], problem, 'value_error');
      return toWebhookMessage(await setWebhook(context, principal.userId, { url, enabled: !disabled }));
    }),
    handle(account.rotateWebhookSecret, async (_request, { principal }) =>
      toWebhookMessage(await rotateSecret(context, principal.userId)),
    ),
    handle(account.testWebhook, async (_request, { principal }) =>
      toDeliveryMessage(await queueTest(context, principal.userId)),
    ),
    handle(account.listDeliveries, (request, { principal }) => list(principal.userId, request)),
    handle(account.redeliverWebhook, async ({ deliveryId }, { principal }) => {
      const delivery = await redeliver(store, deliveryId.toLowerCase(), clock.now(), principal.userId);
      if (delivery === null) throw new Fault('not_found', `There is no message '${deliveryId}'.`);
      return toDeliveryMessage(delivery);
    }),
    handle(operator.listDeliveries, (request) =>
      list(request.userId === '' ? undefined : request.userId, request),
    ),
    handle(operator.testNotification, async () => ({
      deliveries: (await queueOperatorTest(context)).map(toDeliveryMessage),
    })),
  ]);
  return { unary, stream: new Map() };
}

function toWebhookMessage(webhook: Webhook | null): MessageInitShape<typeof WebhookSchema> {
  if (webhook === null) return {};
  const { url, enabled, secret, updatedAt } = webhook;
  return { url, enabled, secret, updatedAt: timestampFromMs(updatedAt) };
}

function toDeliveryMessage(delivery: Delivery): MessageInitShape<typeof DeliverySchema> {
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
