import type { Command } from 'commander';
import { addAccountCommands } from './account.ts';
import { addAuditLogCommand } from './audit-log.ts';
import { addConfigCommands } from './config.ts';
import { addDestinationCommands } from './destination.ts';
import { addDriftCommands } from './drift.ts';
import { addItemCommands } from './item.ts';
import { addJobCommands } from './job.ts';
import { addKeyCommands } from './key.ts';
import { addKindCommands } from './kind.ts';
import { addLogsCommand } from './logs.ts';
import { addMcpCommand } from './mcp.ts';
import { addOpenCommand } from './open.ts';
import { addOperatorCommands } from './operator.ts';
import { addRuleCommands } from './rule.ts';
import { addScheduleCommands } from './schedule.ts';
import { addStatusCommand } from './status.ts';
import { addUserCommands } from './user.ts';
import { addWebhookCommands } from './webhook.ts';

/** Adds the commands that call a running service as a user or an operator. */
export function addClientCommands(program: Command): void {
  program.commandsGroup('For users:');
  addKindCommands(program);
  addJobCommands(program);
  addScheduleCommands(program);
  addItemCommands(program);
  addRuleCommands(program);
  addWebhookCommands(program);
  addDestinationCommands(program);
  addAccountCommands(program);
  addKeyCommands(program);
  addOpenCommand(program);
  addMcpCommand(program);
  program.commandsGroup('For operators:');
  addStatusCommand(program);
  addDriftCommands(program);
  addUserCommands(program);
  addOperatorCommands(program);
  addAuditLogCommand(program);
  addLogsCommand(program);
  program.commandsGroup('This command line:');
  addConfigCommands(program);
}
