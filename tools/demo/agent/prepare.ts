import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findKind, findKinds, installKind, KindInstallError } from '#lib/agent-kinds';
import type { CleanupScope } from '#lib/local-servers';
import { projectRoot } from '#lib/kernel';
import { type Answers, chooseAgent, type ProgramKind } from './choose.js';

/** The agent of this run of the demo, which is installed. */
export interface DemoAgent {
  kind: ProgramKind;
  version: string;
  answers: Answers;
  /** The folders of installed agents, for DROVER_AGENTS. */
  folders: string;
}

/** The demo runs without an agent. The reason is a sentence. */
export interface NoAgent {
  reason: string;
}

/** Where `npm start` and `drover agent install` look. */
const OWN_FOLDER = join(projectRoot, '.cache', 'agents');

/**
 * Finds an agent for the demo, or downloads one. On a terminal it asks before.
 *
 * @param say prints a line
 */
export async function prepareAgent(
  scope: CleanupScope,
  say: (line: string) => void,
): Promise<DemoAgent | NoAgent> {
  const folders = process.env['DROVER_AGENTS'] || OWN_FOLDER;
  const where = { searchPath: process.env['PATH'] ?? '', folders: folders.split(':') };
  const found = (await findKinds(where)).flatMap((kind) => (kind.installed ? kind.name : []));
  const { kind, isInstalled, answers } = chooseAgent(found, process.env);
  if (!isInstalled) {
    const reason = await download(kind, { folder: where.folders[0] ?? OWN_FOLDER, scope, say });
    if (reason !== undefined) return { reason };
  }
  const program = await findKind(kind, where);
  if (!program.installed) return { reason: program.missing };
  return { kind, version: program.version, answers, folders };
}

interface Download {
  folder: string;
  scope: CleanupScope;
  say: (line: string) => void;
}

/** @returns why there is no download */
async function download(kind: ProgramKind, { folder, scope, say }: Download) {
  const { version, sizeMb } = kind.program.npm;
  const what = `${kind.title} ${version} from npm, once: ${sizeMb} MiB in ${folder}`;
  const question = `The demo runs a coding agent. Download ${what}? [Y/n] `;
  if (!(await agrees(question, scope))) return `You declined the download of ${kind.title}.`;
  say(`downloading ${what} ...`);
  const installing = installKind(kind, folder).then(
    () => undefined,
    (error: unknown) => {
      if (error instanceof KindInstallError) return error.message;
      throw error;
    },
  );
  // An interrupted installation removes its draft.
  scope.add(() => installing.then(() => undefined));
  return installing;
}

/** Asks on a terminal. Without one, and in CI, nobody can answer. */
async function agrees(question: string, scope: CleanupScope): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY || process.env['CI']) return true;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return !/^n/i.test((await lines.question(question)).trim());
  } catch (error) {
    if ((error as Error).name !== 'AbortError') throw error;
    // The terminal is in raw mode, so its Ctrl-C is no signal.
    process.kill(process.pid, 'SIGINT');
    if (!scope.signal.aborted) await once(scope.signal, 'abort');
    return false;
  } finally {
    lines.close();
  }
}
