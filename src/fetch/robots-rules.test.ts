import { describe, expect, test } from 'vitest';
import { expectLinear } from '../../test/support/time/cost.ts';
import { parseRobots } from './robots-rules.ts';

const rules = (text: string, robot = 'Gleaner') => parseRobots(Buffer.from(text), robot);
const allows = (text: string, path: string, robot?: string) => rules(text, robot).allows(path);

describe('the group of a robot', () => {
  const text = `
    User-agent: other
    Disallow: /other
    User-agent: *
    Disallow: /all
    User-Agent: GLEANER
    Disallow: /mine`;

  test('is matched by name, ignoring case', () => {
    expect(allows(text, '/mine')).toBe(false);
    expect(allows(text, '/all')).toBe(true);
    expect(allows(text, '/other')).toBe(true);
  });

  test('falls back to the group for all robots, and else allows everything', () => {
    expect(allows(text, '/all', 'stranger')).toBe(false);
    expect(allows(text, '/mine', 'stranger')).toBe(true);
    expect(allows('User-agent: other\nDisallow: /', '/')).toBe(true);
    expect(allows('', '/')).toBe(true);
  });

  test('may name several robots, and may be split', () => {
    const parts =
      'user-agent: a\nSitemap: /s\n\nuser-agent: gleaner # us\nDisallow: /1\nuser-agent: b\nDisallow: /2\nuser-agent: gleaner\nDisallow: /3';
    expect(['/1', '/2', '/3'].map((path) => allows(parts, path))).toEqual([false, true, false]);
    expect(allows(parts, '/1', 'a')).toBe(false);
  });

  test('ends at the next user-agent line after a rule, and at no other line', () => {
    const text =
      'User-agent: a\n\n# both\nUser-agent: gleaner\n\nSitemap: https://x.example/map.xml\nCrawl-delay: 1\nHost: x.example\n\nDisallow: /1\n\nAllow: /1/2\nUser-agent: b\nDisallow: /3';
    expect(['/1', '/1/2', '/3'].map((path) => allows(text, path))).toEqual([false, true, true]);
    expect(['/1', '/1/2', '/3'].map((path) => allows(text, path, 'a'))).toEqual([
      false,
      true,
      true,
    ]);
  });

  test('is combined of all groups of the robot, but not with that for all robots', () => {
    const text =
      'User-agent: *\nDisallow: /a\nUser-agent: gleaner\nDisallow: /b\nUser-agent: *\nDisallow: /c\nUser-agent: GLEANER\nAllow: /b/x\nDisallow: /d';
    const paths = ['/a', '/b', '/b/x', '/c', '/d'];
    expect(paths.map((path) => allows(text, path))).toEqual([true, false, true, true, false]);
    expect(paths.map((path) => allows(text, path, 'x'))).toEqual([false, true, true, false, true]);
  });

  test('allows everything if it has no rule', () => {
    const others = 'User-agent: *\nDisallow: /\n';
    expect(allows(`${others}User-agent: gleaner\nDisallow:`, '/')).toBe(true);
    expect(allows(`${others}User-agent: gleaner`, '/')).toBe(true);
  });

  test('is matched by the product name, ignoring its version', () => {
    expect(allows('User-agent: Gleaner/2.1 (x)\nDisallow: /', '/')).toBe(false);
    expect(allows('User-agent: Gleaner2\nDisallow: /', '/')).toBe(false);
    expect(allows('User-agent: GleanerBot\nDisallow: /', '/')).toBe(true);
    expect(allows('User-agent: Glean\nDisallow: /', '/')).toBe(true);
  });
});

describe('parseRobots()', () => {
  test.each([
    ['Allow: /p\nDisallow: /', '/page', true],
    ['Allow: /p\nDisallow: /', '/other', false],
    ['Allow: /folder\nDisallow: /folder', '/folder/page', true],
    ['Disallow: /folder\nAllow: /folder', '/folder/page', true],
    ['Disallow: /a/b\nAllow: /a\nDisallow: /', '/a/b/c', false],
    ['Disallow: /a/b\nAllow: /a\nDisallow: /', '/a/c', true],
    ['Disallow: /a*\nAllow: /a/', '/a/b', true],
    ['Allow: /%7Ea\nDisallow: /~a', '/~a', true],
    ['Allow: /~ab\nDisallow: /%7E%61', '/~ab', true],
    ['aLLOW: /p\nDISALLOW: /', '/page', true],
    ['Disallow: # nothing', '/', true],
    ['Disallow: /a # not /b', '/b', true],
    ['Disallow /a', '/a', true],
    ['\n\nNoindex: /b\nDisallow:/a', '/a', false],
    ['\n\nNoindex: /b\nDisallow:/a', '/b', true],
    ['Allow: /page\nDisallow: /*.htm', '/page.htm', false],
    ['Allow: /page\nDisallow: /*.ph', '/page.php5', true],
    ['Allow: /$\nDisallow: /', '/', true],
    ['Allow: /$\nDisallow: /', '/page.htm', false],
    ['Disallow:\nDisallow: /a', '/b', true],
    ['Disallow: /robots.txt\nDisallow: /', '/robots.txt', true],
  ])('applies %j to %s: %s', (lines, path, expected) => {
    expect(allows(`User-agent: *\n${lines}`, path)).toBe(expected);
  });
});

describe('a pattern', () => {
  test.each([
    ['/fish', '/fish', true],
    ['/fish', '/fish.html', true],
    ['/fish', '/fishheads/yummy.html', true],
    ['/fish', '/Fish', false],
    ['/fish', '/catfish', false],
    ['/fish*', '/fishheads', true],
    ['/fish/', '/fish', false],
    ['/*.php', '/folder/any.php.file', true],
    ['/*.php$', '/file.php', true],
    ['/*.php$', '/file.php?a=1', false],
    ['/*.php$', '/php.php/x.php', true],
    ['/fish*.php', '/fishheads/cat.php?x', true],
    ['/fish*.php', '/Fish.PHP', false],
    ['/*/*sort_by*', '/collections/a?sort_by=b', true],
    ['/a**b', '/axxb', true],
    ['/a$b', '/a$b', true],
    ['/a*a$', '/a', false],
    ['/é', '/%C3%A9', true],
    ['/%c3%a9', '/é', true],
    ['/%7Ejoe', '/~joe/index', true],
    ['/a%2fb', '/a/b', false],
    ['/a b', '/a%20b', true],
    ['/foo/bar?baz=quz', '/foo/bar?baz=quz', true],
    ['/foo/bar/%62%61%7A', '/foo/bar/baz', true],
    ['/foo/bar/ツ', '/foo/bar/%E3%83%84', true],
    ['/file-with-a-%2A.html', '/file-with-a-*.html', true],
    ['/file-with-a-%2A.html', '/file-with-a-b.html', false],
    ['/foo-%24', '/foo-$', true],
    ['/foo-%24', '/foo-bar', false],
    ['/foo-%24$', '/foo-$/', false],
    ['fish', '/fish', false],
    ['*fish', '/a/fish', true],
  ])('%s is matched against %s: %s', (pattern, path, matched) => {
    expect(allows(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(!matched);
  });
});

describe('an unusual file', () => {
  test('may contain any line ends, a byte order mark, spaces, and comments', () => {
    const text = '\uFEFFUser-agent : *\r  # why\r\n DISALLOW :\t/a # b\rdisallow: /b';
    expect(['/a', '/b', '/c'].map((path) => allows(text, path))).toEqual([false, false, true]);
  });

  test('allows everything if it is not a robots.txt', () => {
    expect(allows('<!doctype html><html><body>Disallow: / everything</body></html>', '/x')).toBe(
      true,
    );
    expect(parseRobots(Buffer.from([0xff, 0xfe, 0x00, 0x3a]), 'x').allows('/')).toBe(true);
  });

  test('ignores rules that belong to no robot', () => {
    expect(allows('Disallow: /', '/')).toBe(true);
  });

  test('may declare a crawl delay', () => {
    expect(rules('User-agent: *\nCrawl-delay: 1.5').crawlDelayMs).toBe(1_500);
    expect(rules('User-agent: gleaner\nCrawl-delay: 2\nDisallow: /x').crawlDelayMs).toBe(2_000);
    for (const odd of ['x', '-1', '0', '']) {
      expect(rules(`User-agent: *\nCrawl-delay: ${odd}`).crawlDelayMs).toBeUndefined();
    }
  });

  test('is parsed up to half a megabyte, in linear time', () => {
    const path = `/${'a'.repeat(2_000)}`;
    const text = `User-agent: *\n${`Disallow: /${'*a'.repeat(500)}b\n`.repeat(1_000)}`;
    expectLinear(() => expect(allows(text, path)).toBe(true), [text]);
    const robots = `${'User-agent: a\n'.repeat(15_000)}User-agent: *\n${'allow:/\n'.repeat(30_000)}`;
    expectLinear(() => expect(rules(robots).bytes).toBe(30_000 * 162), [robots]);
    const head = 'User-agent: *\n#';
    const last = '\nDisallow: /a\n';
    const full = head + 'x'.repeat(500 * 1024 - head.length - last.length) + last;
    expect(allows(full, '/a')).toBe(false);
    expect(allows(`${full}Disallow: /b`, '/a')).toBe(false);
    expect(allows(`${full}Disallow: /b`, '/b')).toBe(true);
    expect(allows(full.replace('x', 'xxx'), '/a')).toBe(true);
    const late = `User-agent: *\n${'#'.repeat(500 * 1024)}\nDisallow: /`;
    expect(allows(late, '/')).toBe(true);
  });
});
