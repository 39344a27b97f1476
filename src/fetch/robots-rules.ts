/** What a robots.txt asks of one robot. */
export interface RobotsRules {
  /** Whether a path with its query may be fetched. */
  allows(path: string): boolean;
  /** Wait between requests that it asks for; undefined without. */
  crawlDelayMs: number | undefined;
  /** Estimated memory of the rules, in bytes. */
  bytes: number;
}

/** One allow or disallow line. */
interface Rule {
  allow: boolean;
  /** The pattern as written, in octets: the most specific rule counts. */
  length: number;
  /** What the path must hold, in this order, from its start on. */
  parts: string[];
  /** The last part must be the path's end. */
  toEnd: boolean;
}

/** Lines of one or more groups. */
interface Group {
  rules: Rule[];
  crawlDelayMs: number | undefined;
}

/** Bytes that are read; RFC 9309 asks for at least so many. */
const mostBytes = 500 * 1024;

/** Paths and patterns alike: UTF-8 in percent encoding, upper-case, and what needs none without. */
function normalized(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (other) => encodeURIComponent(other.toWellFormed()))
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const plain = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(plain) ? plain : code.toUpperCase();
    });
}

function ruleOf(allow: boolean, value: string): Rule | null {
  // An empty pattern matches nothing: "Disallow:" allows all.
  if (value === '') return null;
  const pattern = normalized(value);
  const toEnd = pattern.endsWith('$');
  const parts = (toEnd ? pattern.slice(0, -1) : pattern).split(/\*+/);
  return { allow, length: pattern.length, parts, toEnd };
}

/** Estimates the memory of a rule, in bytes. */
function bytesOf({ length, parts }: Rule): number {
  return 128 + 2 * length + 32 * parts.length;
}

function matches({ parts, toEnd }: Rule, path: string): boolean {
  const [start = '', ...rest] = parts;
  if (!path.startsWith(start)) return false;
  let at = start.length;
  const last = toEnd ? rest.pop() : undefined;
  if (toEnd && last === undefined) return at === path.length;
  for (const part of rest) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return last === undefined || (path.endsWith(last) && path.length - last.length >= at);
}

/** The robot that a user-agent line names, in lower case. */
function robotOf(value: string): string {
  return value === '*' || value.startsWith('* ') ? '*' : (/^[a-z_-]*/i.exec(value)?.[0] ?? '').toLowerCase();
}

/**
 * Reads a robots.txt (RFC 9309) for the robot that calls itself `robot`: groups that name it, else those
 * for all. The most specific rule counts, and allowing before disallowing. What is not understood is
 * skipped. Takes time in proportion to the text, whatever it holds.
 */
export function parseRobots(body: Uint8Array, robot: string): RobotsRules {
  const read = new TextDecoder().decode(body.subarray(0, mostBytes));
  // Half a rule would be another rule.
  const text = body.length > mostBytes ? read.slice(0, read.search(/[\r\n][^\r\n]*$/)) : read;
  const groups = new Map<string, Group>();
  let current: Group[] = [];
  let naming = false;
  for (const line of text.split(/[\r\n]+/)) {
    const [, key = '', rest = ''] = /^\s*([a-z-]+)\s*:([^#]*)/i.exec(line) ?? [];
    const value = rest.trim();
    switch (key.toLowerCase()) {
      case 'user-agent': {
        if (!naming) current = [];
        naming = true;
        const name = robotOf(value);
        const group = groups.get(name) ?? { rules: [], crawlDelayMs: undefined };
        groups.set(name, group);
        current.push(group);
        break;
      }
      case 'allow':
      case 'disallow': {
        naming = false;
        const rule = ruleOf(key.toLowerCase() === 'allow', value);
        if (rule) for (const group of current) group.rules.push(rule);
        break;
      }
      case 'crawl-delay': {
        const seconds = Number.parseFloat(value);
        if (seconds > 0) for (const group of current) group.crawlDelayMs = seconds * 1000;
        break;
      }
    }
  }
  const { rules, crawlDelayMs } = groups.get(robot.toLowerCase()) ??
    groups.get('*') ?? { rules: [], crawlDelayMs: undefined };
  return {
    crawlDelayMs,
    bytes: rules.reduce((sum, rule) => sum + bytesOf(rule), 0),
    allows: (path) => {
      const asked = normalized(path);
      // It says itself whom it allows.
      if (asked === '/robots.txt') return true;
      let most: Rule | undefined;
      for (const rule of rules) {
        const better = !most || rule.length > most.length || (rule.length === most.length && rule.allow);
        if (better && matches(rule, asked)) most = rule;
      }
      return most?.allow ?? true;
    },
  };
}
