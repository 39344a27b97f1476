import type { Command } from 'commander';
import { addAccountCommands } from './account.ts';
import { addApprovalCommands } from './approvals.ts';
import { addAuditLogCommand } from './audit-log.ts';
import { addConfigCommands } from './config.ts';
import { addDestinationCommands } from './destinations.ts';
import { addDownloadCommand } from './download.ts';
import { addJobCommands } from './jobs.ts';
import { addKeyCommands } from './keys.ts';
import { addLogsCommand } from './logs.ts';
import { addOpenCommand } from './open.ts';
import { addOperatorCommands } from './operators.ts';
import { addQualityCommands } from './quality.ts';
import { addResultCommands } from './results.ts';
import { addServiceCommands } from './service.ts';
import { addSubmitCommands } from './submit.ts';
import { addUserCommands } from './users.ts';
import { addWatchCommand } from './watch.ts';
import { addWebhookCommands } from './webhook.ts';

/** Adds the commands that call a running service as a user or an operator. */
export function addClientCommands(program: Command): void {
  program.commandsGroup('For users:');
  addSubmitCommands(program);
  addWatchCommand(program);
  addDownloadCommand(program);
  addResultCommands(program);
  addQualityCommands(program);
  addJobCommands(program);
  addOpenCommand(program);
  addAccountCommands(program);
  addKeyCommands(program);
  addWebhookCommands(program);
  addDestinationCommands(program);
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
