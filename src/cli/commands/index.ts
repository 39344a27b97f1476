import type { Command } from 'commander';
import { addAccountCommands } from './account.ts';
import { addApprovalCommands } from './approvals.ts';
import { addAuditLogCommand } from './audit-log.ts';
import { addConfigCommands } from './config.ts';
import { addDownloadCommand } from './download.ts';
import { addHistoryCommands } from './history.ts';
import { addJobCommands } from './jobs.ts';
import { addKeyCommands } from './keys.ts';
import { addLogsCommand } from './logs.ts';
import { addOpenCommand } from './open.ts';
import { addOperatorCommands } from './operators.ts';
import { addPriceCommand } from './prices.ts';
import { addResultCommands } from './results.ts';
import { addRuleCommands } from './rules.ts';
import { addScheduleCommands } from './schedules.ts';
import { addServiceCommands } from './service.ts';
import { addSubmitCommands } from './submit.ts';
import { addUserCommands } from './users.ts';
import { addWatchCommand } from './watch.ts';
import { addWebhookCommands } from './webhook.ts';

/** Adds the commands that call a running service as a user or an operator. */
export function addClientCommands(program: Command): void {
  program.commandsGroup('For users:');
  addSubmitCommands(program);
  addScheduleCommands(program);
  addPriceCommand(program);
  addWatchCommand(program);
  addDownloadCommand(program);
  addResultCommands(program);
  addHistoryCommands(program);
  addRuleCommands(program);
  addJobCommands(program);
  addOpenCommand(program);
  addAccountCommands(program);
  addKeyCommands(program);
  addWebhookCommands(program);
  program.commandsGroup('For operators:');
  addApprovalCommands(program);
  addUserCommands(program);
  addOperatorCommands(program);
  addServiceCommands(program);
  addAuditLogCommand(program);
  addLogsCommand(program);
  program.commandsGroup('This command line:');
  addConfigCommands(program);
}
