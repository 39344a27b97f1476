// Prints the bill of materials of the package and the image: CycloneDX, with the locked version of
// every package that runs. `npm sbom --omit dev` would also omit packages that the service shares
// with its development packages.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './place.mjs';

const read = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));
const { name, version, license, dependencies } = read('package.json');
const lock = read('package-lock.json');
for (const [path, entry] of Object.entries(lock.packages))
  if (entry.dev) delete lock.packages[path];
delete lock.packages[''].devDependencies;

const folder = mkdtempSync(join(tmpdir(), 'gleaner-sbom-'));
// npm names the root after its folder.
const project = join(folder, name);
mkdirSync(project);
writeFileSync(
  join(project, 'package.json'),
  JSON.stringify({ name, version, license, dependencies }),
);
writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock));
const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
const { status } = spawnSync('npm', ['sbom', ...options], { cwd: project, stdio: 'inherit' });
rmSync(folder, { recursive: true, force: true });
process.exit(status ?? 1);
