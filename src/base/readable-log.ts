import type { PrettyOptions } from 'pino-pretty';

/**
 * Options that format log lines for people: the time of day, the level, the role, the message, and its
 * fields.
 */
export const readableLog = (hasColors: boolean): PrettyOptions => ({
  colorize: hasColors,
  translateTime: 'SYS:HH:MM:ss',
  ignore: 'role',
  messageFormat: '{role}: {msg}',
  singleLine: true,
});
