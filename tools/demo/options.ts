import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { explain, Sentence } from '../shared/sentence.js';

export interface Options {
  jsonFile: string | undefined;
  /** Keeps everything running until Ctrl-C, for a look at the dashboard. */
  open: boolean;
  /** Runs a coding agent, and downloads one if none is installed. */
  withAgent: boolean;
}

export const USAGE = `npm run demo [-- --open] [--without-agent] [--json FILE]

Runs a server and three workers on a temporary database, has them work on this folder, kills one of
them in the middle, and checks that nothing was lost. Needs about a minute; leaves nothing behind.

A coding agent then changes a repository: its worker is killed in the middle, the acceptance is red,
then green, and the change is merged. ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY in
the environment: a real model answers it, if an installed agent uses the key. Otherwise a stand-in
answers by a script. If no agent is installed, npm downloads Codex once (404 MiB).

  --open            prints the dashboard's address and how to sign in, and goes on until Ctrl-C
  --without-agent   leaves the coding agent and its download out
  --json FILE       also write what was measured, and the outcome of each invariant
`;

/**
 * @returns undefined if the user only asked for help
 * @throws Sentence
 */
export function readOptions(args: readonly string[]): Options | undefined {
  if (args.includes('--help') || args.includes('-h')) return undefined;
  const rest = [...args];
  let jsonFile: string | undefined;
  let open = false;
  let withAgent = true;
  while (rest.length > 0) {
    const [name = '', value] = (rest.shift() ?? '').split(/=(.*)/s);
    if (name === '--open' && value === undefined) {
      open = true;
      continue;
    }
    if (name === '--without-agent' && value === undefined) {
      withAgent = false;
      continue;
    }
    if (name !== '--json') throw new Sentence(`The demo knows no ${name}: try --help.`);
    const file = value ?? rest.shift();
    if (!file) throw new Sentence('--json needs the name of a file.');
    jsonFile = resolve(process.env['INIT_CWD'] ?? process.cwd(), file);
  }
  if (jsonFile !== undefined) requireWritable(jsonFile);
  return { jsonFile, open, withAgent };
}

/** Checks the file before the minute of work, not after it. */
function requireWritable(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'a' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Sentence(`There is no folder for ${file}: make it first.`);
    if (code === 'EISDIR') throw new Sentence(`${file} is a folder: name a file.`);
    throw new Sentence(explain(error));
  }
}
