// Checks the images where containers cannot be built: performs the steps of deploy/Dockerfile in
// clean Debian systems below .cache/image, and runs the result as the container would run, with a
// read-only root file system.
//   node_modules/.bin/node deploy/image-check.mjs [service|service-chromium]
// Needs Linux, root, debootstrap, and a Debian mirror. The base image is a minimal Debian with the
// Node of the checkout, whose version the Dockerfile must name, and the npm of this machine.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, matchesGlob, posix } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { packageFiles } from './package-files.mjs';
import { node, root } from './place.mjs';

const work = join(root, '.cache/image');
const base = join(work, 'base');
const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8');
const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
const { version } = packageFiles.node;
const target = process.argv[2] ?? 'service';
/** Port for metrics and probes in the range that systems do not assign. */
const opsPort = String(20_000 + (process.pid % 10_000));

function say(text) {
  console.log(`image: ${text}`);
}

function stop(text) {
  console.error(`image: ${text}`);
  process.exit(1);
}

/** Runs a program. Ends this process if the program fails. */
function run(program, parameters, options = {}) {
  const { status, error } = spawnSync(program, parameters, { stdio: 'inherit', ...options });
  if (status !== 0) stop(`${program} failed: ${error?.message ?? `exit code ${status}`}`);
}

/** Creates a minimal Debian with Node, npm, and the user `node`, as in the base image. */
function createBase(image) {
  const [, wanted, suite] = /^node:(\d+\.\d+\.\d+)-(\w+)-slim$/.exec(image) ?? [];
  if (wanted !== version)
    stop(`${image} is not node:${version}-<suite>-slim, the Node of deploy/package-files.json`);
  const debian = join(work, suite);
  if (!existsSync(debian)) {
    say(`debootstrap ${suite}`);
    const unfinished = `${debian}-${process.pid}`;
    mkdirSync(work, { recursive: true });
    const mirror = process.env.DEBIAN_MIRROR === undefined ? [] : [process.env.DEBIAN_MIRROR];
    const options = [
      '--variant=minbase',
      '--include=ca-certificates',
      suite,
      unfinished,
      ...mirror,
    ];
    run('debootstrap', options, { stdio: ['ignore', 'ignore', 2] });
    renameSync(unfinished, debian);
  }
  rmSync(base, { recursive: true, force: true });
  run('cp', ['-a', debian, base]);
  const local = join(base, 'usr/local');
  cpSync(realpathSync(node), join(local, 'bin/node'));
  const npm = join(dirname(realpathSync(which('npm'))), '..');
  cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    run('ln', ['-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name)]);
  run('chroot', [
    base,
    'useradd',
    '--uid',
    '1000',
    '--create-home',
    '--shell',
    '/bin/bash',
    'node',
  ]);
}

function which(program) {
  return spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
}

/** Copies files of the project, as far as .dockerignore allows, or of an earlier stage. */
function copy(stage, instruction, stages) {
  const parameters = instruction.getArguments().map((argument) => argument.getValue());
  const [flag] = instruction.getFlags();
  const from = flag === undefined ? root : stages[flag.getValue()].folder;
  const names = parameters;
  const into = names.pop();
  for (const name of names) {
    if (flag === undefined && !ignored.includes(`!${name.split('/')[0]}`))
      stop(`.dockerignore excludes ${name}`);
    const isFile = into === './' || into.endsWith('/');
    const to = join(stage.folder, posix.resolve(stage.workdir, isFile ? join(into, name) : into));
    const isCopied = (path) =>
      flag !== undefined ||
      !ignored.some(
        (pattern) =>
          !/^[!*]$|^!/.test(pattern) && matchesGlob(path.slice(root.length + 1), pattern),
      );
    cpSync(join(from, name), to, { recursive: true, filter: isCopied, verbatimSymlinks: true });
  }
}

/**
 * Runs a command in the file system of a stage, with the network and the packages' registry of this
 * machine.
 */
function runIn(stage, command) {
  const certificates = 'etc/ssl/certs/ca-certificates.crt';
  for (const file of ['etc/resolv.conf', 'etc/hosts'])
    if (existsSync(`/${file}`)) cpSync(realpathSync(`/${file}`), join(stage.folder, file));
  cpSync(
    realpathSync(process.env.SSL_CERT_FILE ?? `/${certificates}`),
    join(stage.folder, certificates),
  );
  const registry = spawnSync('npm', ['config', 'get', 'registry'], {
    encoding: 'utf8',
  }).stdout.trim();
  const environment = {
    ...stage.environment,
    npm_config_registry: registry,
    NODE_EXTRA_CA_CERTS: `/${certificates}`,
    DEBIAN_FRONTEND: 'noninteractive',
  };
  const script = `mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" env -i "$@"`;
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  run('unshare', [
    '--mount',
    '--pid',
    '--fork',
    'sh',
    '-c',
    script,
    stage.folder,
    ...settings,
    'sh',
    '-c',
    `cd ${stage.workdir} && ${command}`,
  ]);
}

const steps = {
  WORKDIR: (stage, step) => {
    stage.workdir = step.getArgumentsContent();
    mkdirSync(join(stage.folder, stage.workdir), { recursive: true });
  },
  ENV: (stage, step) => {
    for (const property of step.getProperties())
      stage.environment[property.getName()] = property.getValue();
  },
  COPY: copy,
  RUN: (stage, step) => runIn(stage, step.getArgumentsContent()),
  USER: (stage, step) => Object.assign(stage, { user: step.getArgumentsContent() }),
  ENTRYPOINT: (stage, step) =>
    Object.assign(stage, { entrypoint: JSON.parse(step.getArgumentsContent()) }),
  HEALTHCHECK: (stage, step) => {
    const text = step.getArgumentsContent();
    stage.healthcheck = JSON.parse(text.slice(text.indexOf('[')));
  },
  VOLUME: (stage, step) => stage.volumes.push(step.getArgumentsContent()),
  CMD: () => {},
  EXPOSE: () => {},
  LABEL: () => {},
};

/** Performs the steps up to the target, and returns its stage. */
function build() {
  const stages = {};
  let stage;
  for (const step of DockerfileParser.parse(dockerfile).getInstructions()) {
    const keyword = step.getKeyword();
    if (keyword === 'FROM') {
      if (stage?.name === target) break;
      const image = step.getImage();
      const name = step.getBuildStage();
      if (stages[image] === undefined) createBase(image);
      const parent = stages[image] ?? {
        folder: base,
        workdir: '/',
        environment: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
        volumes: [],
      };
      const folder = join(work, name);
      say(`stage ${name}`);
      rmSync(folder, { recursive: true, force: true });
      run('cp', ['-a', parent.folder, folder]);
      stage = { ...structuredClone(parent), name, folder };
      stages[name] = stage;
      continue;
    }
    if (steps[keyword] === undefined) stop(`${keyword} is not known`);
    if (keyword === 'RUN' || keyword === 'COPY')
      say(`  ${keyword} ${step.getArgumentsContent().replace(/\\\n\s*/g, '')}`);
    steps[keyword](stage, step, stages);
  }
  return stage;
}

/**
 * Runs commands one after the other in a stage as a container does: as its user, with its
 * environment only, the root file system read-only, and empty volumes and /tmp. $service is the
 * process id of the entry point.
 */
function runContainer({ folder, workdir, environment, user, volumes }, script, parameters) {
  const [uid, gid] = user.split(':');
  const mounts = ['/tmp', ...volumes]
    .map((path) => `mount -t tmpfs -o uid=${uid},gid=${gid},mode=0700 tmpfs "$0${path}"`)
    .join(' && ');
  // Programs in a chroot cannot create user namespaces, which the sandbox of Chromium needs: hence
  // pivot_root.
  const enter = `mkdir -p "$0/.old" && mount --bind "$0" "$0" && ${mounts} && mount -t proc proc "$0/proc" \\
    && mount --rbind /dev "$0/dev" && mount --bind /etc/resolv.conf "$0/etc/resolv.conf" \\
    && mount -o remount,bind,ro "$0" && cd "$0" && pivot_root . .old && umount -l /.old \\
    && cd ${workdir} && exec setpriv --reuid ${uid} --regid ${gid} --clear-groups --inh-caps=-all --no-new-privs \\
      env -i "$@"`;
  // This machine may use the ports.
  const ports = { GLEANER_HTTP_PORT: '0', GLEANER_GRPC_PORT: '0', GLEANER_OPS_PORT: opsPort };
  const settings = Object.entries({ ...environment, ...ports }).map(
    ([name, value]) => `${name}=${value}`,
  );
  run('unshare', [
    '--mount',
    '--pid',
    '--fork',
    'sh',
    '-c',
    enter,
    folder,
    ...settings,
    'sh',
    '-euc',
    script,
    'sh',
    ...parameters,
  ]);
}

if (process.getuid?.() !== 0) stop('needs root, to enter clean file systems');
for (const program of ['debootstrap', 'unshare', 'pivot_root', 'setpriv'])
  if (which(program) === '') stop(`${program} is not installed`);

const built = build();
const quote = (words) => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
const entrypoint = quote(built.entrypoint);
say(`run ${target}: the root file system is read-only`);
runContainer(
  built,
  `test "$(id -u)" = 10001; ! touch /app/x 2>/dev/null; touch /data/x /tmp/x
  ${entrypoint} serve & service=$!
  for attempt in $(seq 100); do ${quote(built.healthcheck)} && break; sleep 0.2; done
  ${quote(built.healthcheck)}
  ${entrypoint} doctor --offline
  kill -TERM $service; wait $service`,
  [],
);
say('health check, doctor, and stop: ok');
if (built.environment.GLEANER_BROWSER !== undefined) {
  const page = 'data:text/html,<title>ok</title>';
  runContainer(
    built,
    `"$GLEANER_BROWSER" --headless --disable-gpu --dump-dom '${page}' | grep -q '<title>ok'`,
    [],
  );
  say('the browser opens a page in its sandbox: ok');
}
runContainer(built, `${entrypoint} demo`, []);
say(`the demo passes in ${target}`);
