import { beforeAll, describe, expect, test } from 'vitest';
import { benchmarks, npmScripts, npxPrograms } from './existence/commands.ts';
import { alerts, environmentVariables, metrics, rpcMethods } from './existence/declared-names.ts';
import { createEndpointCheck } from './existence/endpoints.ts';
import { createTextChecks } from './existence/log-texts.ts';
import { findProblems, type NameCheck } from './existence/name-check.ts';
import { githubFiles, markdownPages, parsePage, readPage } from './existence/page.ts';
import { paths } from './existence/paths.ts';
import { createDocumentedProgram } from './program.ts';

const pages = [...markdownPages, ...githubFiles];

let checks: NameCheck[];
beforeAll(async () => {
  const declared = [environmentVariables, metrics, alerts, rpcMethods];
  const texts = createTextChecks(await createDocumentedProgram());
  checks = [
    npmScripts,
    npxPrograms,
    benchmarks,
    paths,
    ...declared,
    await createEndpointCheck(),
    ...texts,
  ];
});

describe('each name exists', () => {
  test.each(pages)('in %s', (path) => {
    expect(findProblems(readPage(path), checks)).toEqual([]);
  });

  test('for names of each kind', () => {
    const found = checks.filter(({ find }) =>
      pages.some((path) => find(readPage(path)).length > 0),
    );
    const kinds = checks
      .map(({ kind }) => kind)
      .filter((kind) => kind !== 'backticks around the log text');
    expect(found.map(({ kind }) => kind)).toEqual(kinds);
  });
});

/** Commands of a checkout that need more than what runs the service. */
const toolCommand =
  /npm run build(?::client)?\b|npm pack\b|node_modules\/\.bin\/buf\b|deploy\/image-check\.mjs/;

describe('npm run setup -- --all', () => {
  const toolPages = markdownPages.filter(
    // dependencies.md describes the tools.
    (path) =>
      path !== 'docs/dependencies.md' &&
      /^docs\/[a-z-]+\.md$/.test(path) &&
      toolCommand.test(readPage(path).text),
  );

  test('is on pages with commands that need tools', () => {
    expect(toolPages).toEqual(
      expect.arrayContaining(['docs/client.md', 'docs/grpc.md', 'docs/operate.md']),
    );
  });

  test.each(toolPages)('comes before the tools in %s', (path) => {
    const { text } = readPage(path);
    const installedAt = text.indexOf('npm run setup -- --all');
    expect(installedAt).toBeGreaterThan(-1);
    expect(installedAt).toBeLessThan(text.search(toolCommand));
  });
});

describe('findProblems()', () => {
  test('reports a name of each kind that does not exist', () => {
    const page = `Run \`npm run release:program\`, \`npx prettify\`, and \`npm run bench -- 3 warp\`.
See \`src/jobs/jobs.ts:12\`, \`src/store/{sqlite,postgres}/open.ts\`, and \`test/nowhere/**\`.
\`\`\`
GLEANER_WORKER_COUNT=2 node deploy/run.mjs
curl "$URL/v1/tasks/7"
\`\`\`
Set \`MONGODB_URL\`. The metric \`gleaner_worker_total\` and \`http.server.request.length\` count them.
\`GleanerWorkersTired\` fires. Call \`JobService.method.eatJob\` or \`GET /v1/account/balance\`.
The log says \`worker tired\`. The console says \`no worker today\`.

| "worker died" in the log | a crash |
`;
    expect(findProblems(parsePage('docs/sample.md', page), checks)).toEqual([
      '1: no npm script "release:program"',
      '1: no program of a dependency "prettify"',
      '1: no benchmark "warp"',
      '2: no file or folder "src/jobs/jobs.ts"',
      '2: no file or folder "src/store/{sqlite,postgres}/open.ts"',
      '2: no file or folder "test/nowhere/**"',
      '4: no file or folder "deploy/run.mjs"',
      '4: no setting "GLEANER_WORKER_COUNT"',
      '7: no setting "MONGODB_URL"',
      '7: no metric "gleaner_worker_total"',
      '7: no metric "http.server.request.length"',
      '8: no alert or class "GleanerWorkersTired"',
      '8: no RPC method "JobService.method.eatJob"',
      '8: no endpoint "GET /v1/account/balance"',
      '5: no endpoint "/v1/tasks/7"',
      '9: no log call with the text "worker tired"',
      '9: no command or text in a source "no worker today"',
      '11: no backticks around the log text "worker died"',
    ]);
  });

  test('accepts names that exist', () => {
    const page = `Run \`npm run chaos\`, \`npx changeset\`, and \`npm run bench -- 3 growth=5\`.
See \`src/jobs/context.ts:12\`, \`src/store/{sqlite,mongo}/open.ts\`, \`src/kinds/<kind>/index.ts\`, and \`dist/main.js\`.
Set \`MONGODB_URI_FILE\` and \`GLEANER_S3_PUBLIC_URL\`. \`gleaner_jobs\` \`http_route\`, and \`nodejs_eventloop_*\` are metrics.
\`GleanerDown\` fires. Call \`JobService.WatchJob\`, \`JobService.method.watchJob\`, \`GET /v1/jobs/<job>/files?cursor=x\`, or \`/v1/jobs\`.
The log says \`worker died\` or \`origins missing\`. Use \`job list\`.
`;
    expect(findProblems(parsePage('docs/sample.md', page), checks)).toEqual([]);
  });

  test('resolves paths from the folder of the page', () => {
    const page = parsePage(
      'gateway/README.md',
      'See `fixture/shop.proto`, `fixture/none.proto`, and `../src`.',
    );
    expect(findProblems(page, checks)).toEqual(['1: no file or folder "fixture/none.proto"']);
  });

  test('reads the commands of a workflow', () => {
    const workflow = parsePage(
      '.github/workflows/ci.yml',
      '- run: bash .ci/runs\n- run: npm run tests\n',
    );
    expect(findProblems(workflow, checks)).toEqual([
      '2: no npm script "tests"',
      '1: no file or folder ".ci/runs"',
    ]);
  });
});
