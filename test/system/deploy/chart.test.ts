import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { settings } from '../../../src/base/settings.ts';
import { gauges } from '../../../src/telemetry/catalog.ts';
import { findEngine, findProgram } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';
import { findPythonPackages, run } from '../clients/tools.ts';

const chart = join(root, 'deploy/helm/gleaner');
const helm = findProgram('helm');
const validator = findProgram('kubectl-validate');
const scorer = findProgram('kube-score');
/** Checks of kube-score that the chart fails on purpose. */
const leftOut = {
  'container-image-pull-policy': 'tags are versions, which do not change',
  'container-resources': 'a limit of processor time delays requests while processors are idle',
  'deployment-has-host-podantiaffinity':
    'the API is spread over nodes, and a worker may share one with others',
  'pod-networkpolicy':
    'workers read any site, and the addresses of the engines differ in each cluster',
};
const checkov = await findEngine(findPythonPackages('checkov-3.3.30', ['checkov==3.3.30']));
/** Checks of checkov that the chart fails on purpose. */
const leftOutOfCheckov = {
  CKV_K8S_11: 'a limit of processor time delays requests while processors are idle',
  CKV_K8S_15: 'tags are versions, which do not change',
  CKV_K8S_21: 'the namespace is that of the release',
  CKV_K8S_31:
    'only workers with a browser run unconfined: its own sandbox needs what the default profile denies',
  CKV_K8S_35:
    'settings of engines are environment variables, which no other user of the pod can read',
  CKV_K8S_43: 'the digest of an image is known after its build: a value of the installation',
};
let folder: string;
// Neither hook runs if every test is skipped.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gleaner-chart-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Every optional part of the chart. */
const everything = {
  existingSecret: 'gleaner',
  settings: { GLEANER_WORKING_HOURS: 'off' },
  origins: '{ /* no marketplace */ }',
  ingress: { enabled: true, host: 'gleaner.example', tlsSecret: 'tls', className: 'nginx' },
  worker: {
    image: { repository: 'gleaner-chromium' },
    seccompProfile: { type: 'Unconfined' },
    autoscaling: { metricLabels: { namespace: 'gleaner' } },
  },
  browser: { enabled: true, replicas: 2, seccompProfile: { type: 'Unconfined' } },
};

/** Renders the chart. Throws the message of helm. */
function render(values: object): string {
  const file = join(folder, 'values.json');
  writeFileSync(file, JSON.stringify(values));
  const result = spawnSync(helm!, ['template', 'test', chart, '--values', file], {
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(result.stderr);
  return result.stdout;
}

// biome-ignore lint/suspicious/noExplicitAny: resources of every kind.
type Resource = any;
const resourcesOf = (values: object): Resource[] =>
  parseAllDocuments(render(values))
    .map((document) => document.toJS() as Resource)
    .filter((resource) => resource !== null);
const find = (resources: Resource[], kind: string, name: string): Resource =>
  resources.find((one) => one.kind === kind && one.metadata.name === `test-gleaner${name}`);

const reason = helm === null ? ' [helm is not installed: run deploy/engines.sh]' : '';
describe.skipIf(helm === null)(`the Helm chart${reason}`, () => {
  test('has the version of the package and passes the linter', () => {
    const { version, appVersion } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
    const options = ['lint', '--strict', '--set', 'existingSecret=gleaner', chart];
    const { status, stdout } = spawnSync(helm!, options, { encoding: 'utf8' });
    expect(status, stdout).toBe(0);
  });

  test.skipIf(validator === null).each([
    ['its defaults', { existingSecret: 'gleaner' }],
    ['every option', everything],
    [
      'no option',
      {
        existingSecret: 'gleaner',
        migration: { enabled: false },
        worker: { autoscaling: { enabled: false } },
      },
    ],
  ])('renders resources that are valid in Kubernetes with %s', (_what, values) => {
    const file = join(folder, 'rendered.yaml');
    writeFileSync(file, render(values));
    const { status, stdout, stderr } = spawnSync(validator!, [file], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
  });

  test.skipIf(scorer === null)('is scored by kube-score without a finding that applies', () => {
    const file = join(folder, 'rendered.yaml');
    writeFileSync(file, render(everything));
    const { stdout } = spawnSync(scorer!, ['score', file, '-o', 'json'], { encoding: 'utf8' });
    const objects = JSON.parse(stdout) as {
      checks: { check: { id: string }; skipped: boolean; grade: number }[];
    }[];
    const checks = objects.flatMap((object) => object.checks).filter(({ skipped }) => !skipped);
    expect(checks.length).toBeGreaterThan(40);
    const found = new Set(checks.flatMap(({ check, grade }) => (grade < 10 ? [check.id] : [])));
    expect([...found].sort()).toEqual(Object.keys(leftOut).sort());
  });

  test.skipIf('missing' in checkov)(
    'is checked by checkov without a finding that applies',
    async () => {
      const file = join(folder, 'rendered.yaml');
      writeFileSync(file, render(everything));
      const options = [
        '--framework',
        'kubernetes',
        '--skip-download',
        '--soft-fail',
        '--output',
        'json',
      ];
      const env = { PYTHONPATH: (checkov as { folder: string }).folder };
      const { stdout } = await run('python3', ['-m', 'checkov.main', '--file', file, ...options], {
        cwd: folder,
        env,
      });
      const { summary, results } = JSON.parse(stdout) as {
        summary: { passed: number; parsing_errors: number };
        results: { failed_checks: { check_id: string }[] };
      };
      expect(summary.parsing_errors).toBe(0);
      expect(summary.passed).toBeGreaterThan(200);
      const found = new Set(results.failed_checks.map(({ check_id }) => check_id));
      expect([...found].sort()).toEqual(Object.keys(leftOutOfCheckov));
    },
  );

  test('runs every pod as an unprivileged user on a read-only root file system', () => {
    const pods = resourcesOf(everything).flatMap(({ spec }) =>
      spec?.template ? [spec.template.spec] : [],
    );
    expect(pods).toHaveLength(4);
    for (const { securityContext, containers, automountServiceAccountToken } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
      expect(automountServiceAccountToken).toBe(false);
      for (const container of containers)
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  test('scales the workers by a metric that the service exports', () => {
    const resources = resourcesOf({ existingSecret: 'gleaner' });
    const { metrics, scaleTargetRef } = find(resources, 'HorizontalPodAutoscaler', '-worker').spec;
    expect(gauges).toHaveProperty(metrics[0].external.metric.name);
    expect(scaleTargetRef.name).toBe('test-gleaner-worker');
    // Otherwise each upgrade resets the number of pods.
    expect(find(resources, 'Deployment', '-worker').spec).not.toHaveProperty('replicas');
    const fixed = resourcesOf({
      existingSecret: 'gleaner',
      worker: { replicas: 5, autoscaling: { enabled: false } },
    });
    expect(find(fixed, 'Deployment', '-worker').spec.replicas).toBe(5);
    expect(find(fixed, 'HorizontalPodAutoscaler', '-worker')).toBeUndefined();
  });

  test('migrates before an upgrade, and probes the operations port', () => {
    const resources = resourcesOf(everything);
    const { metadata, spec } = find(resources, 'Job', '-migration');
    expect(metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    expect(spec.template.spec.containers[0].args.slice(0, 1)).toEqual(['migrate']);
    for (const name of ['api', 'worker']) {
      const [container] = find(resources, 'Deployment', `-${name}`).spec.template.spec.containers;
      expect(container.readinessProbe.httpGet).toEqual({ path: '/ready', port: 'ops' });
      expect(container.livenessProbe.httpGet).toEqual({ path: '/health', port: 'ops' });
      expect(container.env).toContainEqual({ name: 'GLEANER_OPS_PORT', value: '9464' });
      for (const { name } of container.env)
        if (!name.startsWith('OTEL_')) expect(settings).toHaveProperty(name);
      expect(find(resources, 'PodDisruptionBudget', `-${name}`)).toBeDefined();
    }
  });

  test('gives each component its secrets only', () => {
    const resources = resourcesOf(everything);
    const containerOf = (kind: string, name: string) =>
      find(resources, kind, name).spec.template.spec.containers[0];
    expect(containerOf('Deployment', '-api').envFrom).toEqual([{ secretRef: { name: 'gleaner' } }]);
    const secretsOf = ({ env, envFrom }: Resource) => {
      expect(envFrom).toBeUndefined();
      return env
        .filter((one: Resource) => one.valueFrom)
        .map((one: Resource) => one.valueFrom.secretKeyRef.key);
    };
    expect(secretsOf(containerOf('Job', '-migration'))).toEqual(['MONGODB_URI', 'NATS_URL']);
    const ofWorkers = secretsOf(containerOf('Deployment', '-worker'));
    expect(ofWorkers).toEqual(
      expect.arrayContaining(['MONGODB_URI', 'NATS_URL', 'GLEANER_LINK_SECRETS']),
    );
    for (const name of [
      'GLEANER_OPERATOR_KEY',
      'GLEANER_SMTP_URL',
      'GLEANER_OPERATOR_WEBHOOK_SECRET',
    ])
      expect(ofWorkers).not.toContain(name);
  });

  test('opens the ports of the API only, and the operations port to pods that read metrics', () => {
    const resources = resourcesOf(everything);
    const portsOf = (name: string) =>
      find(resources, 'NetworkPolicy', name).spec.ingress.map(({ from, ports }: Resource) => ({
        from,
        ports: ports.map(({ port }: Resource) => port),
      }));
    const metrics = { from: [{ podSelector: {} }], ports: ['ops'] };
    expect(portsOf('-worker')).toEqual([metrics]);
    expect(portsOf('-api')).toEqual([{ from: undefined, ports: ['http', 'grpc'] }, metrics]);
    const without = resourcesOf({ existingSecret: 'gleaner', networkPolicy: { enabled: false } });
    expect(find(without, 'NetworkPolicy', '-api')).toBeUndefined();
  });

  test('gives the workers an image and a sandbox of their own, and links the address of the ingress', () => {
    const resources = resourcesOf(everything);
    const [worker, api] = ['worker', 'api'].map(
      (name) => find(resources, 'Deployment', `-${name}`).spec.template,
    );
    expect(worker.spec.containers[0].image).toBe(`gleaner-chromium:${manifest.version}`);
    expect(worker.spec.securityContext.seccompProfile).toEqual({ type: 'Unconfined' });
    expect(api.spec.containers[0].image).toBe(`gleaner:${manifest.version}`);
    const url = { name: 'GLEANER_PUBLIC_URL', value: 'https://gleaner.example' };
    expect(api.spec.containers[0].env).toContainEqual(url);
    expect(find(resources, 'ConfigMap', '-origins').data['origins.json']).toBe(everything.origins);
  });

  test('runs browsers that only workers reach, and that reach only public addresses', () => {
    const resources = resourcesOf(everything);
    const { replicas, template } = find(resources, 'Deployment', '-browser').spec;
    const [browser] = template.spec.containers;
    expect([replicas, browser.image]).toEqual([2, `gleaner-chromium:${manifest.version}`]);
    // Secrets would be those of the pages, too.
    expect([browser.env, browser.envFrom]).toEqual([undefined, undefined]);
    const { ports } = find(resources, 'Service', '-browser').spec;
    const url = `http://test-gleaner-browser:${ports[0].port}`;
    const [worker] = find(resources, 'Deployment', '-worker').spec.template.spec.containers;
    expect(worker.env).toContainEqual({ name: 'GLEANER_BROWSER_URL', value: url });
    const { ingress, egress } = find(resources, 'NetworkPolicy', '-browser').spec;
    const [from] = ingress[0].from;
    expect(from.podSelector.matchLabels['app.kubernetes.io/component']).toBe('worker');
    const [, { to }] = egress;
    expect(to[0].ipBlock.except).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16']));
    const without = resourcesOf({ existingSecret: 'gleaner' });
    expect(find(without, 'Deployment', '-browser')).toBeUndefined();
    const [plain] = find(without, 'Deployment', '-worker').spec.template.spec.containers;
    expect(plain.env.map(({ name }: Resource) => name)).not.toContain('GLEANER_BROWSER_URL');
  });

  test.each([
    ['a missing Secret', {}, 'existingSecret'],
    ['an unknown value', { existingSecret: 'a', workers: {} }, 'workers'],
    [
      'a secret among the settings',
      { existingSecret: 'a', settings: { MONGODB_URI: 'x' } },
      'MONGODB_URI',
    ],
    [
      'a setting of the chart',
      { existingSecret: 'a', settings: { GLEANER_OPS_PORT: '1' } },
      'GLEANER_OPS_PORT',
    ],
    ['an ingress without a host', { existingSecret: 'a', ingress: { enabled: true } }, 'host'],
  ])('rejects %s', (_what, values, name) => {
    expect(() => render(values)).toThrow(name);
  });
});
