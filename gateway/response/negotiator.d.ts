/**
 * The part of negotiator 1.x in use: the published types describe 0.6, which has no `preferred`.
 */
declare module 'negotiator' {
  export default class Negotiator {
    constructor(request: { headers: Record<string, string> });
    encoding(
      available: readonly string[],
      options: { preferred: readonly string[] },
    ): string | undefined;
  }
}
