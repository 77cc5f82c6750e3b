// Makes a release: the version, the changelog, the commit and its tag, the packages and the image.
// It publishes nothing; at the end it names the commands that do.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureReady } from './ensure.mjs';
import { buildPackages } from './lib/packages.mjs';
import { nextVersion, release as releaseChanges } from './lib/changelog.mjs';
import { root } from './lib/sources.mjs';
import { Sentence } from './lib/step.mjs';

const USAGE = `npm run release -- [VERSION] [--dry-run]

Without VERSION: the next minor version, or the next patch if all entries are fixes.
`;
const IMAGE = 'drover';

const words = process.argv.slice(2);
const isDry = words.includes('--dry-run');
const [named, ...others] = words.filter((word) => word !== '--dry-run');
if (others.length > 0 || named?.startsWith('-')) {
  process.stdout.write(USAGE);
  process.exit(named === '--help' ? 0 : 2);
}

const say = (text) => process.stdout.write(`${text}\n`);
const read = (path) => readFileSync(join(root, path), 'utf8');
const git = (...args) => output('git', ...args);

try {
  await main();
} catch (error) {
  if (!(error instanceof Sentence)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}

async function main() {
  const changelog = read('CHANGELOG.md');
  const manifest = JSON.parse(read('package.json'));
  const version = nextVersion(manifest.version, changelog, named);
  const tag = `v${version}`;
  const date = new Date().toISOString().slice(0, 10);
  const { text, section } = releaseChanges(changelog, version, date);
  const engine = ['docker', 'podman'].find((name) => succeeds(name, 'version'));
  if (git('tag', '--list', tag) !== '')
    throw new Sentence(`The tag ${tag} exists: name a later version.`);
  const isClean = git('status', '--porcelain') === '';
  if (!isClean && !isDry) throw new Sentence('There are uncommitted changes: commit them first.');
  say(`${manifest.version} -> ${version}\n\n${section.trim()}\n`);
  if (isDry) return describe({ version, tag, engine, isClean });

  write('CHANGELOG.md', text);
  const npm = ['npm', 'version', version, '--no-git-tag-version', '--ignore-scripts'];
  must(...npm);
  // The OpenAPI document names the version.
  must('npm', 'run', 'generate', '--silent');
  must('git', 'commit', '--all', '--quiet', '--message', `Release ${version}`);
  must('git', 'tag', '--annotate', tag, '--message', `Drover ${version}`);
  await ensureReady();
  const packages = await buildPackages();
  if (engine === undefined) say('No image: neither Docker nor Podman runs here.');
  else must(engine, ...imageArguments(version, git('rev-parse', 'HEAD')));
  say(`Released ${tag}. Publish it:\n\n  git push origin HEAD ${tag}`);
  for (const file of packages) say(`  npm publish --access public ${file}`);
  if (engine) say(`  ${engine} push ${IMAGE}:${version}`);
}

function describe({ version, tag, engine, isClean }) {
  if (!isClean) say('A release refuses the uncommitted changes of this folder.');
  const image = `${engine ?? 'docker'} ${imageArguments(version, '<commit>').join(' ')}`;
  say(`It would then

  write CHANGELOG.md, package.json, package-lock.json and the generated files
  commit "Release ${version}" and tag it ${tag}
  npm run packages   # dist/packages/drover-{client,cli,worker,server}-${version}.tgz
  ${image}${engine ? '' : '   # left out: no engine runs here'}`);
}

function imageArguments(version, revision) {
  const labels = { VERSION: version, REVISION: revision };
  const args = Object.entries(labels).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ]);
  return ['build', ...args, '--tag', `${IMAGE}:${version}`, '.'];
}

function write(path, text) {
  writeFileSync(join(root, path), text);
}

function succeeds(program, ...args) {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function output(program, ...args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Sentence(`\`${program} ${args.join(' ')}\` failed: ${stderr.trim()}`);
  return stdout.trim();
}

function must(program, ...args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (status !== 0) throw new Sentence(`\`${program} ${args.join(' ')}\` failed.`);
}
