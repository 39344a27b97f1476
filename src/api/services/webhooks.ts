import type { MessageInitShape } from '@bufbuild/protobuf';
import {
  AccountService,
  DeliverySchema,
  WebhookSchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Clock, timeOfDay } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { originOnly } from '../../contract/redact.ts';
import { problemOfTarget } from '../../fetch/target.ts';
import type { JobContext } from '../../jobs/context.ts';
import { queueOperatorTest, queueTest } from '../../notify/queue.ts';
import { rotateSecret, setWebhook } from '../../notify/webhook.ts';
import { redeliver } from '../../store/deliveries.ts';
import type { Delivery, Webhook } from '../../store/documents.ts';
import { type Handlers, handle, isEnabled, pageOf } from './handlers.ts';
import { toMessage } from './to-message.ts';

/** Returns the handlers of users and operators for webhooks, deliveries and test messages. */
export function webhookHandlers(context: JobContext): Handlers {
  const { store, clock, settings } = context;
  const account = AccountService.method;
  const operator = OperatorService.method;
  const toMessage = (delivery: Delivery) => toDeliveryMessage(clock, delivery);

  const list = async (userId: string | undefined, request: Parameters<typeof pageOf>[0]) => {
    const { items, next } = await store.deliveries.list({ userId }, pageOf(request));
    return { deliveries: items.map(toMessage), nextPageToken: next ?? '' };
  };

  const unary = new Map([
    handle(account.getWebhook, async (_request, { principal }) =>
      toWebhookMessage(await store.webhooks.get(principal.userId)),
    ),
    handle(account.setWebhook, async (request, { principal }) => {
      const { url = '' } = request;
      const enabled = isEnabled(request);
      if (url === '') {
        await store.webhooks.remove({ userId: principal.userId });
        return toWebhookMessage(null);
      }
      const problem = problemOfTarget(url, settings.notices.privateWebhooks);
      if (problem !== null) throw Fault.invalid(['body', 'url'], problem, 'value_error');
      return toWebhookMessage(await setWebhook(context, principal.userId, { url, enabled }));
    }),
    handle(account.rotateWebhookSecret, async (_request, { principal }) =>
      toWebhookMessage(await rotateSecret(context, principal.userId)),
    ),
    handle(account.testWebhook, async (_request, { principal }) =>
      toMessage(await queueTest(context, principal.userId)),
    ),
    handle(account.listDeliveries, (request, { principal }) => list(principal.userId, request)),
    handle(account.redeliverWebhook, async ({ deliveryId }, { principal }) => {
      const delivery = await redeliver(
        store,
        deliveryId.toLowerCase(),
        clock.steady(),
        principal.userId,
      );
      if (delivery === null) throw new Fault('not_found', `There is no message '${deliveryId}'.`);
      return toMessage(delivery);
    }),
    handle(operator.listDeliveries, (request) =>
      list(request.userId === '' ? undefined : request.userId, request),
    ),
    handle(operator.testNotification, async () => ({
      deliveries: (await queueOperatorTest(context)).map(toMessage),
    })),
  ]);
  return { unary, stream: new Map() };
}

const webhookOf = toMessage(WebhookSchema);
const deliveryOf = toMessage(DeliverySchema);

const toWebhookMessage = (webhook: Webhook | null) => webhookOf(webhook ?? {});

function toDeliveryMessage(
  clock: Clock,
  delivery: Delivery,
): MessageInitShape<typeof DeliverySchema> {
  const { id: deliveryId, channel, target, nextAttemptAt } = delivery;
  return deliveryOf({
    ...delivery,
    deliveryId,
    // The path of a webhook can be a credential, and deliveries are for readers, too.
    target: channel === 'webhook' ? originOnly(target) : target,
    nextAttemptAt: nextAttemptAt === null ? null : timeOfDay(clock, nextAttemptAt),
  });
}
