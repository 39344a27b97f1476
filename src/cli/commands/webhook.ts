import type { Command } from 'commander';
import {
  AccountService,
  type Delivery,
  DeliverySchema,
  type Webhook,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand } from './command.ts';
import { count, type Display, type PrintedColumn } from './print.ts';
import { addList, addShow } from './resource.ts';

const deliveryColumns: PrintedColumn<Delivery>[] = [
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

function words({ url, enabled, secret, updatedAt }: Webhook, { pairs, time }: Display): string {
  if (url === '') return 'No webhook is set.\n';
  return pairs([
    ['url', url],
    ['status', enabled ? 'on' : 'off'],
    ['secret', secret],
    ['updated', time(updatedAt)],
  ]);
}

const deliveryWords = ({ deliveryId, state }: Delivery) => `${deliveryId} ${state}\n`;

/** Adds `webhook` and `delivery`. */
export function addWebhookCommands(program: Command): void {
  const { method } = AccountService;
  const webhook = program
    .command('webhook')
    .description('Manage the webhook that receives notifications about your jobs');
  addShow(webhook, {
    usage: 'show',
    about: 'Show the URL and the secret',
    method: method.getWebhook,
    words,
  });
  addShow(webhook, {
    usage: 'set <url>',
    about: "Set the URL ('' removes it)",
    options: [['--off', 'save the URL, but send nothing']],
    method: method.setWebhook,
    words,
    request: ({ off }) => ({ disabled: off === true }),
  });
  addShow(webhook, {
    usage: 'rotate',
    about: 'Create a new secret; the old one stays valid for a day',
    method: method.rotateWebhookSecret,
    words,
  });
  const delivery = program
    .command('delivery')
    .description('See notifications, and send them again');
  addList(delivery, {
    usage: 'list',
    about: 'List notifications of the last 30 days, newest first',
    method: method.listDeliveries,
    operatorMethod: OperatorService.method.listDeliveries,
    columns: deliveryColumns,
    none: 'No notifications.',
  });
  addCommand(delivery, {
    usage: 'test',
    about: 'Send a test notification to your webhook; as an operator, to the channels of operators',
    as: 'either',
    async run({ client, isOperator, list, show }) {
      if (isOperator) {
        const { deliveries } = await client.call(OperatorService.method.testNotification, {});
        const none = 'No webhook or email address is configured.';
        return list(DeliverySchema, deliveries, deliveryColumns, none);
      }
      const sent = await client.call(method.testWebhook, {});
      await show(DeliverySchema, sent, () => deliveryWords(sent));
    },
  });
  addShow(delivery, {
    usage: 'redeliver <delivery-id...>',
    about: 'Send notifications again',
    method: method.redeliverWebhook,
    words: deliveryWords,
  });
}
