/** Labels of the types of messages. */
const labels: Readonly<Record<string, string>> = {
  'job.ended': 'Job ended',
  'job.rejected': 'Job rejected',
  'job.held': 'Deliveries held',
  'job.results': 'Result file',
  'job.awaiting_approval': 'Job awaits approval',
  'job.approval_expiring': 'Approval expires soon',
  'schedule.awaiting_approval': 'Schedule awaits approval',
  'schedule.approval_expiring': 'Schedule approval expires soon',
  'schedule.approved': 'Schedule approved',
  'schedule.rejected': 'Schedule rejected',
  'schedule.paused': 'Schedule paused',
  'item.changed': 'Item changed',
  test: 'Test message',
};

/** Formats the type of a message: "Job ended". Unknown types are returned unchanged. */
export const messageTypeText = (type: string): string => labels[type] ?? type;
