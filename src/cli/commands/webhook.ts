import type { Command } from 'commander';
import {
  AccountService,
  type Delivery,
  DeliverySchema,
  type Webhook,
  WebhookSchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count, type Display } from './print.ts';

/** Columns of notifications. */
export const deliveryColumns: Column<Delivery>[] = [
  { name: 'NOTIFICATION', text: ({ deliveryId }) => deliveryId },
  { name: 'TYPE', text: ({ type }) => type },
  { name: 'STATUS', text: (delivery) => delivery.state, paint: (text, { state }) => state(text) },
  { name: 'ATTEMPTS', text: ({ attempts }) => count(attempts), isNumber: true },
  {
    name: 'RESPONSE',
    text: ({ responseStatus }) => (responseStatus === 0 ? '' : String(responseStatus)),
    isNumber: true,
  },
  { name: 'CREATED', text: ({ createdAt }, { time }) => time(createdAt) },
  { name: 'NEXT ATTEMPT', text: ({ nextAttemptAt }, { time }) => time(nextAttemptAt) },
  { name: 'TO', text: ({ target }) => target },
  { name: 'ERROR', text: ({ error }) => error },
];

const words =
  ({ url, enabled, secret, updatedAt }: Webhook) =>
  ({ pairs, time }: Display) =>
    url === ''
      ? 'No webhook is set.\n'
      : pairs([
          ['url', url],
          ['status', enabled ? 'on' : 'off'],
          ['secret', secret],
          ['updated', time(updatedAt)],
        ]);

/** Adds `webhook`. */
export function addWebhookCommands(program: Command): void {
  const { getWebhook, setWebhook, rotateWebhookSecret, testWebhook, listDeliveries, redeliverWebhook } =
    AccountService.method;
  const webhook = program
    .command('webhook')
    .description('Manage the webhook that receives notifications about your jobs');
  addCommand(webhook, {
    usage: 'show',
    about: 'Show the URL and the secret',
    async run(session) {
      const found = await session.user().call(getWebhook, {}, { signal: session.signal });
      await session.show(WebhookSchema, found, words(found));
    },
  });
  addCommand<{ off?: true }>(webhook, {
    usage: 'set <url>',
    about: "Set the URL ('' removes it)",
    options: [['--off', 'save the URL, but send nothing']],
    async run(session, { off }, url: string) {
      const request = { url, disabled: off === true };
      const set = await session.user().call(setWebhook, request, { signal: session.signal });
      await session.show(WebhookSchema, set, words(set));
    },
  });
  addCommand(webhook, {
    usage: 'rotate',
    about: 'Create a new secret; the old one stays valid for a day',
    async run(session) {
      const set = await session.user().call(rotateWebhookSecret, {}, { signal: session.signal });
      await session.show(WebhookSchema, set, words(set));
    },
  });
  addCommand(webhook, {
    usage: 'test',
    about: 'Send a test notification',
    async run(session) {
      const delivery = await session.user().call(testWebhook, {}, { signal: session.signal });
      await session.show(DeliverySchema, delivery, () => `${delivery.deliveryId} ${delivery.state}\n`);
    },
  });
  addCommand<{ limit?: string }>(webhook, {
    usage: 'log',
    about: 'List notifications of the last 30 days, newest first',
    options: [limitOption],
    async run(session, { limit }) {
      const max = integer('--limit', limit, 50);
      const pages = session
        .user()
        .pages(listDeliveries, { pageSize: pageSize(max) }, { signal: session.signal });
      const deliveries = await take(pages, (page) => page.deliveries, max);
      await session.list(DeliverySchema, deliveries, deliveryColumns, 'No notifications.');
    },
  });
  addCommand(webhook, {
    usage: 'redeliver <notification-id>',
    about: 'Send a notification again',
    async run(session, _options, deliveryId: string) {
      const delivery = await session
        .user()
        .call(redeliverWebhook, { deliveryId }, { signal: session.signal });
      await session.show(DeliverySchema, delivery, () => `${delivery.deliveryId} ${delivery.state}\n`);
    },
  });
}
