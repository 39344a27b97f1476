/** An invalid setting. Startup stops with this message. */
export class ConfigError extends Error {}
