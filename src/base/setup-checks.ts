import type { Config } from '../base/config.ts';
import { type Diagnosis, ok, warning } from './diagnosis.ts';

/** Checks the settings that a service in use needs, and that its start does not require. */
export function diagnoseSetup({ mongoUri, backupTo, publicUrl, notices }: Config): Diagnosis[] {
  const { operatorWebhook, email } = notices;
  return [
    ...(mongoUri === null ? [diagnoseBackup(backupTo)] : []),
    publicUrl === null
      ? warning(
          'public address',
          'none: links in results and messages work on this machine only',
          'Set GLEANER_PUBLIC_URL to the address that users open.',
        )
      : ok('public address', publicUrl),
    operatorWebhook === null && email === null
      ? warning(
          'messages to operators',
          'none: jobs that await approval and fields that go missing are only in the console',
          'Set GLEANER_OPERATOR_WEBHOOK_URL, or GLEANER_OPERATOR_EMAIL (docs/delivery.md).',
        )
      : ok(
          'messages to operators',
          [operatorWebhook?.url, email?.to].filter((to) => to !== undefined).join(', '),
        ),
  ];
}

/** Checks that the embedded stack is backed up. Engines have backups of their own. */
function diagnoseBackup(backupTo: string | null): Diagnosis {
  if (backupTo !== null) return ok('backup', `daily to ${backupTo}`);
  return warning(
    'backup',
    'none: a lost disk loses every job and every balance',
    'Set GLEANER_BACKUP_TO to a folder on another disk, or a bucket (docs/backups.md#back-up).',
  );
}
