import { Fault } from '../contract/fault.ts';

/** Settings of ports. */
export type PortSetting = 'GLEANER_HTTP_PORT' | 'GLEANER_GRPC_PORT' | 'GLEANER_OPS_PORT';

/** Returns why a port cannot be opened, by the code of the system's error, and the remedy. */
export function describeListenError(
  code: string,
  host: string,
  port: number,
  setting: PortSetting,
): { message: string; remedy: string } {
  if (code === 'EADDRINUSE')
    return {
      message: `${port} is in use`,
      remedy: `Stop the other program, or set ${setting} to a free port.`,
    };
  return {
    message: `${host}:${port} cannot be opened (${code})`,
    remedy: `Change ${setting} or GLEANER_HOST.`,
  };
}

/**
 * Waits for a server to listen. Throws `unavailable`, which names the setting, if the port cannot be opened.
 */
export async function listening<T>(
  opened: Promise<T>,
  { host, port, setting }: { host: string; port: number; setting: PortSetting },
): Promise<T> {
  try {
    return await opened;
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException;
    if (code === undefined || (syscall !== 'listen' && syscall !== 'getaddrinfo')) throw thrown;
    const { message, remedy } = describeListenError(code, host, port, setting);
    throw new Fault('unavailable', `${setting}=${port}: ${message}. ${remedy}`, { cause: thrown });
  }
}
