import type { Command } from 'commander';
import {
  AccountService,
  type Delivery,
  DeliverySchema,
  type Webhook,
  WebhookSchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count, pairs, state, time } from './print.ts';

/** Columns of messages and what became of them. */
export const deliveryColumns: Column<Delivery>[] = [
  { name: 'MESSAGE', text: ({ deliveryId }) => deliveryId },
  { name: 'TYPE', text: ({ type }) => type },
  { name: 'STATE', text: (delivery) => delivery.state, paint: state },
  { name: 'TRIES', text: ({ attempts }) => count(attempts), isNumber: true },
  {
    name: 'ANSWER',
    text: ({ responseStatus }) => (responseStatus === 0 ? '' : String(responseStatus)),
    isNumber: true,
  },
  { name: 'MADE (UTC)', text: ({ createdAt }) => time(createdAt) },
  { name: 'NEXT TRY', text: ({ nextAttemptAt }) => time(nextAttemptAt) },
  { name: 'TO', text: ({ target }) => target },
  { name: 'ERROR', text: ({ error }) => error },
];

const words = ({ url, enabled, secret, updatedAt }: Webhook): string =>
  url === ''
    ? 'There is no webhook.\n'
    : pairs([
        ['address', url],
        ['state', enabled ? 'on' : 'off'],
        ['secret', secret],
        ['set', time(updatedAt)],
      ]);

/** Adds `webhook`. */
export function addWebhookCommands(program: Command): void {
  const { getWebhook, setWebhook, rotateWebhookSecret, testWebhook, listDeliveries, redeliverWebhook } =
    AccountService.method;
  const webhook = program.command('webhook').description('where messages about your jobs go');
  addCommand(webhook, {
    usage: 'show',
    about: 'show the address and the secret',
    async run(session) {
      const found = await session.user().call(getWebhook, {}, { signal: session.signal });
      await session.show(WebhookSchema, found, () => words(found));
    },
  });
  addCommand<{ off?: true }>(webhook, {
    usage: 'set <url>',
    about: "set the address; '' removes it",
    options: [['--off', 'send nothing for now']],
    async run(session, { off }, url: string) {
      const request = { url, disabled: off === true };
      const set = await session.user().call(setWebhook, request, { signal: session.signal });
      await session.show(WebhookSchema, set, () => words(set));
    },
  });
  addCommand(webhook, {
    usage: 'rotate',
    about: 'make a new secret; messages are signed with the old one, too, for a day',
    async run(session) {
      const set = await session.user().call(rotateWebhookSecret, {}, { signal: session.signal });
      await session.show(WebhookSchema, set, () => words(set));
    },
  });
  addCommand(webhook, {
    usage: 'test',
    about: 'send a message of the type test',
    async run(session) {
      const delivery = await session.user().call(testWebhook, {}, { signal: session.signal });
      await session.show(DeliverySchema, delivery, () => `${delivery.deliveryId} ${delivery.state}\n`);
    },
  });
  addCommand<{ limit?: string }>(webhook, {
    usage: 'log',
    about: 'list messages of the last 30 days, newest first',
    options: [limitOption],
    async run(session, { limit }) {
      const most = integer('--limit', limit, 50);
      const pages = session
        .user()
        .pages(listDeliveries, { pageSize: pageSize(most) }, { signal: session.signal });
      const deliveries = await take(pages, (page) => page.deliveries, most);
      await session.list(DeliverySchema, deliveries, deliveryColumns, 'There are no messages.');
    },
  });
  addCommand(webhook, {
    usage: 'redeliver <message-id>',
    about: 'send a message again',
    async run(session, _options, deliveryId: string) {
      const delivery = await session
        .user()
        .call(redeliverWebhook, { deliveryId }, { signal: session.signal });
      await session.show(DeliverySchema, delivery, () => `${delivery.deliveryId} ${delivery.state}\n`);
    },
  });
}
