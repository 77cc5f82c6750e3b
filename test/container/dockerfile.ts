import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, posix, relative } from 'node:path';

const context = join(import.meta.dirname, '../..');

/** The result of a Dockerfile's last stage. */
export interface Image {
  /** The folder that serves as `/`. */
  root: string;
  workdir: string;
  env: Record<string, string>;
  cmd: string[];
}

interface Stage extends Image {
  name: string;
}

interface Step {
  word: string;
  rest: string;
}

/**
 * Runs the steps of the Dockerfile in their order, as an engine does: with a folder for each stage
 * instead of a container, and this machine's node instead of the image's.
 */
export function buildImage(folder: string): Image {
  const stages = new Map<string, Stage>();
  let stage: Stage | undefined;
  for (const step of readSteps()) {
    if (step.word === 'FROM') {
      const name = / AS (\w+)$/.exec(step.rest)?.[1] ?? 'last';
      stage = { name, root: join(folder, name), workdir: '/', env: {}, cmd: [] };
      mkdirSync(stage.root, { recursive: true });
      stages.set(name, stage);
    } else if (stage) perform(step, stage, stages);
  }
  if (stage === undefined) throw new Error('The Dockerfile has no stage.');
  return stage;
}

function readSteps(): Step[] {
  const text = readFileSync(join(context, 'Dockerfile'), 'utf8').replace(/^#.*\n/gm, '');
  const lines = text.replace(/\\\n\s*/g, '').split('\n');
  return lines.filter(Boolean).map((line) => {
    const [, word = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return { word, rest };
  });
}

function perform({ word, rest }: Step, stage: Stage, stages: Map<string, Stage>): void {
  switch (word) {
    case 'WORKDIR':
      stage.workdir = rest;
      return void mkdirSync(join(stage.root, rest), { recursive: true });
    case 'ENV':
      return void Object.assign(stage.env, Object.fromEntries([rest.split('=')]));
    case 'CMD':
      stage.cmd = JSON.parse(rest) as string[];
      return;
    case 'COPY':
      return copy(rest.split(' '), stage, stages);
    case 'RUN':
      // The step would change this machine instead of the image.
      if (/\bapt-get\b/.test(rest)) return;
      return rest === 'npm ci' ? install(stage) : shell(rest, stage);
    case 'ARG':
    case 'HEALTHCHECK':
    case 'LABEL':
    case 'USER':
    case 'EXPOSE':
    case 'VOLUME':
      return;
    default:
      throw new Error(`This step of the Dockerfile cannot be run here: ${word} ${rest}`);
  }
}

function copy(words: string[], stage: Stage, stages: Map<string, Stage>): void {
  const from = words.find((word) => word.startsWith('--from='))?.slice('--from='.length);
  const paths = words.filter((word) => !word.startsWith('--'));
  const target = paths.pop() ?? '.';
  const place = join(stage.root, posix.resolve(stage.workdir, target));
  for (const path of paths) {
    const source = from ? join(stages.get(from)?.root ?? from, path) : join(context, path);
    // A copied folder is its content.
    const to = statSync(source).isDirectory() ? place : join(place, basename(path));
    mkdirSync(place, { recursive: true });
    if (from) linkTree(source, to);
    else cpSync(source, to, { recursive: true, filter: isOfContext });
  }
}

const ignored = readFileSync(join(context, '.dockerignore'), 'utf8').split('\n').filter(Boolean);

/** Patterns are top-level names here, or `*.ending`. */
function isOfContext(path: string): boolean {
  const name = relative(context, path);
  return !ignored.some((pattern) =>
    pattern.startsWith('*')
      ? name.endsWith(pattern.slice(1)) && !name.includes('/')
      : name === pattern,
  );
}

/** This step installed the clone with the same lock. */
function install(stage: Stage): void {
  const modules = join(stage.root, stage.workdir, 'node_modules');
  mkdirSync(modules);
  linkTree(join(context, 'node_modules'), modules);
}

/**
 * Links the files if both folders are on one disk, because no later step changes a file in place.
 */
function linkTree(from: string, to: string): void {
  const source = statSync(from).isDirectory() ? `${from}/.` : from;
  try {
    execFileSync('cp', ['-al', source, to], { stdio: 'ignore' });
  } catch {
    execFileSync('cp', ['-a', source, to]);
  }
}

/** Absolute paths are relative to the stage, and its users are this user. */
function shell(command: string, stage: Stage): void {
  const here = command
    .replace(/(?<= )\/(?=\w)/g, `${stage.root}/`)
    .replaceAll('node:node', `${process.getuid?.()}:${process.getgid?.()}`);
  execFileSync('sh', ['-ec', here], {
    cwd: join(stage.root, stage.workdir),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      npm_config_prefer_offline: 'true',
      ...stage.env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}
