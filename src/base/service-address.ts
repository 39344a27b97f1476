/** Hosts that stand for every address of the machine, as URLs write them. */
const everyAddress = new Set(['0.0.0.0', '[::]', '[::ffff:0:0]']);

/** Returns true if a listener on a host accepts connections to every address of the machine. */
export const isEveryAddress = (host: string): boolean => everyAddress.has(hostOf(host));

/** Returns the address at which a port that listens on `host` can be reached from this machine. */
export function serviceAddress(host: string, port: number): string {
  return `http://${isEveryAddress(host) ? '127.0.0.1' : hostOf(host)}:${port}`;
}

/** Returns a host in its normal form within a URL: `[::1]`, and `127.0.0.1` for `127.1`. */
function hostOf(host: string): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host.replace('%', '%25')}]` : host;
  return URL.parse(`http://${name}`)?.hostname ?? name;
}
