/** What can be set by an environment variable. */
interface SettingTable {
  readonly [name: string]: {
    /** Text that is read where the environment has none; null: there is no value then. */
    readonly usual: string | null;
    /** What it means, in a sentence. */
    readonly about: string;
    /** Never shown: a key, or an address that may hold a password. */
    readonly secret?: true;
    /** What a process makes for itself where it is not set. */
    readonly generated?: true;
  };
}

/** Every setting, by name: the one list that the configuration, operators and docs/operate.md go by. */
export const settings = {
  GLEANER_API_KEY: {
    usual: null,
    secret: true,
    about: 'Key that the command line shows as a user.',
  },
  GLEANER_APPROVAL: {
    usual: 'on',
    about: 'Whether operators decide on jobs of the kinds that wait for it: on or off.',
  },
  GLEANER_BROWSER: {
    usual: null,
    about: 'Browser for markets whose pages are opened in one; where it is not set, one is looked for.',
  },
  GLEANER_BROWSER_MEMORY: {
    usual: '1536',
    about: 'Memory that a browser may take before it is started anew, in MiB.',
  },
  GLEANER_BROWSER_PAGES: {
    usual: '4',
    about: 'Pages that a process has open in its browsers at once, at most.',
  },
  GLEANER_CONFIG: {
    usual: null,
    about:
      'File with profiles of the command line; else gleaner/config.json in the folder of configurations.',
  },
  GLEANER_CORE_URL: {
    usual: 'http://127.0.0.1:9090',
    about: 'Where the role gateway finds its core.',
  },
  GLEANER_DATA_DIR: {
    usual: '.gleaner',
    about: 'Folder of the embedded store, the result files and the link secrets.',
  },
  GLEANER_EMAIL_FROM: {
    usual: null,
    about: 'Sender of e-mails to operators, with GLEANER_SMTP_URL and GLEANER_OPERATOR_EMAIL.',
  },
  GLEANER_GRPC_PORT: {
    usual: '9090',
    about: 'Port for gRPC and Connect; 0 takes a free one.',
  },
  GLEANER_HOST: {
    usual: '0.0.0.0',
    about: 'Address to listen on.',
  },
  GLEANER_HTTP_PORT: {
    usual: '8080',
    about: 'Port for REST, the console and files; 0 takes a free one.',
  },
  GLEANER_JOB_WINDOW: {
    usual: '16',
    about:
      'Batches of one job and region under way at once; more where the `concurrency` of the origin needs them.',
  },
  GLEANER_LINK_SECRETS: {
    usual: null,
    secret: true,
    generated: true,
    about:
      'Secrets of signed links, newest first, separated by commas; else they are made in the data folder.',
  },
  GLEANER_LOG_LEVEL: {
    usual: 'info',
    about: 'What is logged: trace, debug, info, warn, error, fatal or silent.',
  },
  GLEANER_MAX_CONNECTIONS: {
    usual: '2000',
    about: 'Maximum open connections of each port; further ones are closed at once.',
  },
  GLEANER_MIN_FREE_DISK: {
    usual: '512',
    about: "MiB free on the data folder's disk below which no work is accepted or begun; 0: no limit.",
  },
  GLEANER_OPERATOR_EMAIL: {
    usual: null,
    about: 'Addresses, separated by commas, that are told of jobs that wait for approval.',
  },
  GLEANER_OPERATOR_KEY: {
    usual: null,
    secret: true,
    generated: true,
    about:
      'Key of the first operator, 8 to 200 characters; default: generated at the first start. A new value revokes the previous key.',
  },
  GLEANER_OPERATOR_WEBHOOK_SECRET: {
    usual: null,
    secret: true,
    about: "Secret that operators' messages are signed with: whsec_ and 24 to 64 bytes as base64.",
  },
  GLEANER_OPERATOR_WEBHOOK_URL: {
    usual: null,
    secret: true,
    about: 'Address, a private one too, that is told of jobs that wait for approval.',
  },
  GLEANER_ORIGINS: {
    usual: null,
    about: 'JSON file that says where the marketplaces are and how gently they are asked.',
  },
  GLEANER_PAGE_MEMORY: {
    usual: null,
    about: 'Decoded pages that a process holds at once, in MiB; else a 32nd of its heap limit.',
  },
  GLEANER_PRICES: {
    usual: '{}',
    about: 'Credits per unit by kind or market.kind, as JSON, over the usual ones.',
  },
  GLEANER_PROFILE: {
    usual: null,
    about: 'Profile of that file that the command line goes by.',
  },
  GLEANER_PUBLIC_URL: {
    usual: null,
    about: 'What signed links start with; else the address of the HTTP port on this machine.',
  },
  GLEANER_RECENT_CRAWL: {
    usual: '24h',
    about: 'How old a page may be that is served in place of a new one where the caller allows it.',
  },
  GLEANER_REQUESTS_PER_SECOND: {
    usual: 'off',
    about: "Requests per second of one user's API key over all processes, or off.",
  },
  GLEANER_RETRIEVE_CACHE: {
    usual: '120s,24h',
    about: 'How long an answer to retrieve is kept while a job runs and after its end, or off.',
  },
  GLEANER_S3_URL: {
    usual: null,
    secret: true,
    about: 'S3-compatible bucket for the result files, with its keys; else they are in the data folder.',
  },
  GLEANER_SMTP_URL: {
    usual: null,
    secret: true,
    about: 'Mail server: smtp://user:password@host:587 or smtps://user:password@host:465.',
  },
  GLEANER_URL: {
    usual: 'http://127.0.0.1:8080',
    about: 'Where the command line finds a running service.',
  },
  GLEANER_USER_AGENT: {
    usual: 'Gleaner/0.1 (self-hosted product-data collector)',
    about: 'User-Agent of page requests; a browser adds it to its own.',
  },
  GLEANER_WEBHOOK_PRIVATE: {
    usual: 'off',
    about: "Whether users' webhooks may be of private networks: on or off.",
  },
  GLEANER_WORKERS: {
    usual: null,
    about: 'Worker processes that serve and worker start, 0 to 64; 0: work in the same process.',
  },
  GLEANER_WORKER_MEMORY: {
    usual: '1024',
    about: 'Heap of each worker process in MiB; one that needs more is ended and started again.',
  },
  GLEANER_WORKING_HOURS: {
    usual: '08:00-18:00+08:00',
    about: 'When jobs of the kinds that keep working hours are begun, or off for always.',
  },
  MONGODB_URI: {
    usual: null,
    secret: true,
    about: 'MongoDB of the distributed stack, with NATS_URL; without them the embedded stack serves.',
  },
  NATS_URL: {
    usual: null,
    secret: true,
    about: 'NATS JetStream of the distributed stack, with MONGODB_URI.',
  },
} as const satisfies SettingTable;

/** Name of a setting. */
export type SettingName = keyof typeof settings;

/** Names of settings that always have a value. */
export type UsualName = {
  [Name in SettingName]: (typeof settings)[Name]['usual'] extends null ? never : Name;
}[SettingName];

/** A setting as it is in force in this process. */
export interface SettingInForce {
  name: string;
  /** "(set)" or "(generated)" for a secret; '' for none. */
  value: string;
  /** Whether the environment names it. */
  set: boolean;
  about: string;
}

/**
 * Every setting with its value in force, by name. `found`: values of settings that were not set and that the
 * process has found by itself.
 */
export function settingsInForce(
  environment: Readonly<Record<string, string | undefined>>,
  found: Partial<Record<SettingName, string | null>>,
): SettingInForce[] {
  return Object.entries<SettingTable[string]>(settings).map(([name, { usual, about, secret, generated }]) => {
    const given = environment[name] || undefined;
    const shown = given ?? found[name as SettingName] ?? usual ?? '';
    const hidden = given !== undefined ? '(set)' : generated ? '(generated)' : '';
    return { name, value: secret ? hidden : shown, set: given !== undefined, about };
  });
}
