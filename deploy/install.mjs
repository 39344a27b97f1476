// Installs what a checkout runs on, each set of npm packages when it is first needed: the service,
// the build of the console, and the tests and checks. A stamp in each node_modules records its
// contents. Runs on Node 20 or newer; everything else runs on the Node that this installs.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchPackageFile, packageFiles, run } from './package-files.mjs';
import { isAlive, isRecentNode, node, root } from './place.mjs';

const consoleFolder = join(root, 'console');

/**
 * Sets of packages: the folder of their lock file, whether they include its development packages,
 * and the size on disk.
 */
const sets = {
  service: { title: 'the service', folder: root, withDevelopment: false, megabytes: 150 },
  tests: {
    title: 'the service, its tests, and checks',
    folder: root,
    withDevelopment: true,
    megabytes: 590,
  },
  build: {
    title: 'the build of the console',
    folder: consoleFolder,
    withDevelopment: false,
    megabytes: 220,
  },
  types: {
    title: 'the build of the console, and its types',
    folder: consoleFolder,
    withDevelopment: true,
    megabytes: 230,
  },
};

/** Returns true if the service is installed, or everything that tests and checks need. */
export const isSetUp = ({ all }) =>
  missingOf(all ? [sets.tests, sets.types] : [sets.service]).length === 0 && existsSync(node);

/** Installs what runs the service unless it is installed. Ends the process if that fails. */
export const installService = () => installOrExit([sets.service]);

/** Installs everything that tests and checks need. Ends the process if that fails. */
export const installAll = () => installOrExit([sets.tests, sets.types]);

async function installOrExit(required) {
  try {
    await exclusively(() => install(required));
  } catch (error) {
    console.error(`${error.message}\nThe set-up failed. Is the package registry reachable?`);
    process.exit(1);
  }
}

/**
 * Runs `build` with the packages that build the console. They are larger than the service, so they
 * are removed afterwards, except in a folder that is set up for tests. Rejects if they cannot be
 * installed.
 */
export const withConsolePackages = (build) =>
  exclusively(async () => {
    const isTemporary = missingOf([sets.types]).length > 0;
    await install([sets.build]);
    try {
      return await build();
    } finally {
      if (isTemporary)
        rmSync(join(consoleFolder, 'node_modules'), { recursive: true, force: true });
    }
  });

const lockOf = ({ folder }) => readFileSync(join(folder, 'package-lock.json'), 'utf8');
const stampOf = ({ folder }) => join(folder, 'node_modules', '.gleaner-setup');

/** Returns the contents of the stamp of an installed set. */
function contentOf(set) {
  const digest = createHash('sha256')
    .update(lockOf(set))
    .update(packageFiles.node.version)
    .digest('hex');
  return `${digest} ${set.withDevelopment ? 'with' : 'without'} development packages\n`;
}

/**
 * Returns the sets that are not installed as their lock files say, neither alone nor within a
 * larger set.
 */
function missingOf(required) {
  return required.filter((set) => !has(set) && !has({ ...set, withDevelopment: true }));
}

/** True if exactly this set is installed. */
const has = (set) =>
  existsSync(stampOf(set)) && readFileSync(stampOf(set), 'utf8') === contentOf(set);

async function install(required) {
  const missing = missingOf(required);
  if (missing.length === 0 && existsSync(node)) return;
  checkVersion();
  await report(describe(missing), () =>
    Promise.all([...missing.map(installPackages), fetchNode()]),
  );
  // npm removes the link with the other packages of the service.
  if (!existsSync(node)) linkNode();
}

function checkVersion() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20)
    throw new Error(`Gleaner needs Node 20 or newer to set itself up; this is ${process.version}.`);
}

/**
 * Returns what is installed, and how much, such as "265 packages of the service (about 150 MB)".
 */
function describe(missing) {
  const parts = missing.map((set) => {
    const entries = Object.entries(JSON.parse(lockOf(set)).packages);
    const count = entries.filter(
      ([path, { dev }]) => path !== '' && (set.withDevelopment || !dev),
    ).length;
    return `${count} packages of ${set.title} (about ${set.megabytes} MB)`;
  });
  if (ownNodeFile() && !existsSync(ownNode()))
    parts.push(`Node ${packageFiles.node.version} (121 MB)`);
  return parts.join(', ') || 'the link to Node';
}

/** Runs an installation. Prints its title, the elapsed time while it runs, and how long it took. */
async function report(title, work) {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  console.error(`Setting up: ${title}. This takes about half a minute.`);
  const timer = setInterval(() => console.error(`Setting up: ${seconds()} s so far …`), 10_000);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  console.error(`Setting up: installed in ${seconds()} s.`);
}

async function installPackages(set) {
  const options = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
  // `npm ci` would remove the packages first, also from under a service that runs on them.
  const isExtension = set.withDevelopment && has({ ...set, withDevelopment: false });
  const command = isExtension ? ['install', '--no-save'] : ['ci'];
  const omitted = set.withDevelopment ? [] : ['--omit=dev'];
  await run('npm', [...command, ...options, ...omitted], set.folder);
  writeFileSync(stampOf(set), contentOf(set));
}

const ownNode = () => {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  return join(root, '.cache', `node-${packageFiles.node.version}`, name);
};

/**
 * Returns the package of the checkout's own Node. Undefined if this process runs on that version,
 * or if no package has it for this platform.
 */
function ownNodeFile() {
  const { version, platforms } = packageFiles.node;
  if (process.versions.node === version) return undefined;
  return platforms[`${process.platform}-${process.arch}`];
}

/**
 * Fetches the checkout's own Node. Where no package has one, a recent Node that runs this is
 * enough.
 */
async function fetchNode() {
  const { version } = packageFiles.node;
  const file = ownNodeFile();
  if (file !== undefined) await fetchPackageFile({ ...file, version }, ownNode());
  else if (!isRecentNode())
    throw new Error(
      `Gleaner runs on Node 24.12 or newer; this is ${process.version}. ` +
        `No package has one for ${process.platform} on ${process.arch}: install it from nodejs.org.`,
    );
}

/** Lets the programs of node_modules/.bin run on the Node of the checkout. */
function linkNode() {
  const target = ownNodeFile() === undefined ? process.execPath : ownNode();
  mkdirSync(dirname(node), { recursive: true });
  rmSync(node, { force: true });
  if (process.platform === 'win32') writeFileSync(node, `@"${target}" %*\r\n`);
  else symlinkSync(target, node);
}

/** Runs `work` while no other process sets this checkout up. */
async function exclusively(work) {
  const path = join(root, '.cache', 'setup.pid');
  mkdirSync(dirname(path), { recursive: true });
  for (let tries = 0; !takeLock(path); tries++) {
    if (tries === 0)
      console.error('Setting up: waiting for another process that sets up this folder …');
    await sleep(200);
  }
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * Creates the lock file. Returns false if a living process has it; removes that of an ended one.
 */
function takeLock(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!isHeld(path)) rmSync(path, { force: true });
  return false;
}

function isHeld(path) {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // The file is empty for a moment after its creation.
    return pid === 0 || isAlive(pid);
  } catch {
    // Released in the meantime.
    return true;
  }
}
