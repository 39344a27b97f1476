import type { Config } from './config.ts';
import { type Diagnosis, ok, warning } from './diagnosis.ts';

/** Settings that diagnoseSetup() checks. */
export type CheckedSettings = Pick<
  Config,
  'origins' | 'mongoUri' | 'backupTo' | 'publicUrl' | 'notices'
>;

/** Checks the settings that a service in use needs, and that its start does not require. */
export function diagnoseSetup(settings: CheckedSettings): Diagnosis[] {
  const { origins, mongoUri, backupTo, publicUrl, notices } = settings;
  const diagnoses = [diagnoseOriginsFile(origins)];
  // Engines have backups of their own.
  if (mongoUri === null) diagnoses.push(diagnoseBackup(backupTo));
  diagnoses.push(diagnosePublicAddress(publicUrl), diagnoseNotices(notices));
  return diagnoses;
}

function diagnoseOriginsFile(origins: Config['origins']): Diagnosis {
  if (origins.size > 0) return ok('origins', [...origins.keys()].join(', '));
  return warning(
    'origins',
    'no site is configured, so every unit of a live job fails',
    'Copy `origins.example.json`, and set `GLEANER_ORIGINS` to the copy.',
    'fetching#point-the-service-at-real-sites',
  );
}

function diagnoseBackup(backupTo: string | null): Diagnosis {
  if (backupTo !== null) return ok('backup', `daily to ${hideSecrets(backupTo)}`);
  return warning(
    'backup',
    'a lost disk loses every job and every balance',
    'Set `GLEANER_BACKUP_TO` to a folder on another disk, or a bucket.',
    'backups#scheduled-backups',
  );
}

function diagnosePublicAddress(publicUrl: string | null): Diagnosis {
  if (publicUrl !== null) return ok('public address', publicUrl);
  return warning(
    'public address',
    'links in results and messages work on this machine only',
    'Set `GLEANER_PUBLIC_URL` to the address that users open.',
    'operate#behind-a-reverse-proxy',
  );
}

/**
 * Returns the origin of a URL, because its path and credentials can be secrets. Returns a folder
 * unchanged.
 */
function hideSecrets(target: string): string {
  if (/^https?:/.test(target)) return new URL(target).origin;
  return target;
}

function diagnoseNotices({ operatorWebhook, email }: Config['notices']): Diagnosis {
  const recipients: string[] = [];
  if (operatorWebhook !== null) recipients.push(hideSecrets(operatorWebhook.url));
  if (email !== null) recipients.push(...email.to);
  if (recipients.length > 0) return ok('messages to operators', recipients.join(', '));
  return warning(
    'messages to operators',
    'jobs that await approval and fields that go missing are only in the console',
    'Set `GLEANER_OPERATOR_WEBHOOK_URL`, or `GLEANER_OPERATOR_EMAIL`.',
    'delivery#notify-operators',
  );
}
