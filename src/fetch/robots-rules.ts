import { pathPart } from '../contract/path-part.ts';

/** Rules of a robots.txt for one robot. */
export interface RobotsRules {
  /** Returns true if a path with its query may be fetched. */
  allows(path: string): boolean;
  /** Minimum interval between requests in milliseconds. Undefined if none is declared. */
  crawlDelayMs: number | undefined;
  /** Estimated memory of the rules, in bytes. */
  bytes: number;
}

/** An allow or disallow line. */
interface Rule {
  allow: boolean;
  /** Octets of the normalized pattern; the longest matching rule takes precedence. */
  length: number;
  /** Texts that the path must contain in this order, the first at its start. */
  parts: string[];
  /** True if the path must end with the last part. */
  toEnd: boolean;
}

/** Lines after one or more user-agent lines. */
interface Group {
  robots: Set<string>;
  rules: Rule[];
  crawlDelayMs: number | undefined;
}

/** Maximum bytes parsed; RFC 9309 requires at least this many. */
const maxBytes = 500 * 1024;

/**
 * Normalizes the percent encoding of a path or pattern: upper-case, and only where it is needed.
 */
function normalize(text: string): string {
  return text
    .replace(/[^\x21-\x7e]+/g, (other) => pathPart(other))
    .replace(/%[0-9a-f]{2}/gi, (code) => {
      const plain = String.fromCharCode(Number.parseInt(code.slice(1), 16));
      return /[\w.~-]/.test(plain) ? plain : code.toUpperCase();
    });
}

/**
 * Encodes the characters that are special in patterns, so that a pattern can name them by their
 * codes (section 2.2.3).
 */
const encodeSpecial = (text: string) => text.replaceAll('*', '%2A').replaceAll('$', '%24');

function parseRule(allow: boolean, value: string): Rule | null {
  // An empty pattern matches nothing: "Disallow:" allows everything.
  if (value === '') return null;
  const pattern = normalize(value);
  const toEnd = pattern.endsWith('$');
  const parts = (toEnd ? pattern.slice(0, -1) : pattern).split(/\*+/).map(encodeSpecial);
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

/** Returns the robot of a user-agent line, in lower case. */
function parseRobot(value: string): string {
  return value === '*' || value.startsWith('* ')
    ? '*'
    : (/^[a-z_-]*/i.exec(value)?.[0] ?? '').toLowerCase();
}

/**
 * Parses a robots.txt (RFC 9309) and returns the rules for a robot: the rules of its own groups, or
 * the rules for all robots if it has none. The longest matching rule takes precedence, and allow
 * over disallow. Unknown lines are skipped. The time is linear in the length of the text.
 */
export function parseRobots(body: Uint8Array, robot: string): RobotsRules {
  const decoded = new TextDecoder().decode(body.subarray(0, maxBytes));
  // A truncated rule would have another meaning.
  const text =
    body.length > maxBytes ? decoded.slice(0, decoded.search(/[\r\n][^\r\n]*$/)) : decoded;
  const groups = parseGroups(text);
  const groupsOf = (name: string) => groups.filter(({ robots }) => robots.has(name));
  const robotGroups = groupsOf(robot.toLowerCase());
  const applicableGroups = robotGroups.length > 0 ? robotGroups : groupsOf('*');
  const rules = applicableGroups.flatMap((group) => group.rules);
  const crawlDelayMs = applicableGroups.findLast(
    (group) => group.crawlDelayMs !== undefined,
  )?.crawlDelayMs;
  return {
    crawlDelayMs,
    bytes: rules.reduce((sum, rule) => sum + bytesOf(rule), 0),
    allows: (path) => {
      const normalizedPath = encodeSpecial(normalize(path));
      return (
        normalizedPath === '/robots.txt' || (longestMatch(rules, normalizedPath)?.allow ?? true)
      );
    },
  };
}

/**
 * Returns the rule that decides on a path: the longest one that matches, and allow over disallow.
 */
function longestMatch(rules: readonly Rule[], path: string): Rule | undefined {
  let longest: Rule | undefined;
  for (const rule of rules) {
    const isPreferred =
      !longest || rule.length > longest.length || (rule.length === longest.length && rule.allow);
    if (isPreferred && matches(rule, path)) longest = rule;
  }
  return longest;
}

/** Parses the groups of a robots.txt, without lines before the first one. */
function parseGroups(text: string): Group[] {
  const groups: Group[] = [];
  let inHeader = false;
  for (const line of text.split(/[\r\n]+/)) {
    const [, key = '', rest = ''] = /^\s*([a-z-]+)\s*:([^#]*)/i.exec(line) ?? [];
    const value = rest.trim();
    const group = groups.at(-1);
    switch (key.toLowerCase()) {
      case 'user-agent': {
        if (inHeader) group!.robots.add(parseRobot(value));
        else
          groups.push({ robots: new Set([parseRobot(value)]), rules: [], crawlDelayMs: undefined });
        inHeader = true;
        break;
      }
      case 'allow':
      case 'disallow': {
        inHeader = false;
        const rule = parseRule(key.toLowerCase() === 'allow', value);
        if (rule) group?.rules.push(rule);
        break;
      }
      case 'crawl-delay': {
        const seconds = Number.parseFloat(value);
        if (group && seconds > 0) group.crawlDelayMs = seconds * 1000;
        break;
      }
    }
  }
  return groups;
}
