import { parseArgs } from 'node:util';
import { withCleanup } from '#lib/local-servers';
import { explain, Sentence } from '../../tools/shared/sentence.js';
import { aligned } from '../../tools/shared/table.js';
import { canTry, Ground, kindsToTry, type TriedKind } from './ground.js';
import type { Trial, Verdict } from './trial.js';
import { kills } from './trials/kills.js';
import { provider } from './trials/provider.js';
import { budget, droverTools, edit, permission } from './trials/work.js';

const TRIALS: readonly Trial[] = [edit, permission, droverTools, budget, ...provider, ...kills];

const USAGE = `npm run agents:try [-- --kind KIND] [--only WORDS]

Tries the real programs of coding agents against a stand-in for their models: those of this machine,
and Codex, which npm installs if it is missing. Exits with 1 if one fails.

  --kind KIND    only this kind, which npm installs if it is missing
  --only WORDS   only the trials whose name has these words
`;

const MAX_NOTE = 100;
const note = (text: string): void => void process.stderr.write(`${text} ...\n`);

interface Wish {
  kind: string | undefined;
  trials: readonly Trial[];
}

/** @returns undefined if the user only asked for help */
function readWish(): Wish | undefined {
  const { values } = parseArgs({
    options: {
      kind: { type: 'string' },
      only: { type: 'string', default: '' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const { kind, only, help } = values;
  if (help) return undefined;
  if (kind !== undefined && !canTry(kind)) throw new Sentence(`There is no kind ${kind} to try.`);
  const trials = TRIALS.filter(({ name }) => name.includes(only));
  if (trials.length === 0) throw new Sentence(`No trial has the words "${only}".`);
  return { kind, trials };
}

async function tryOne(ground: Ground, kind: TriedKind, trial: Trial): Promise<Verdict> {
  const began = performance.now();
  const verdict = (ok: boolean, text = ''): Verdict => {
    const seconds = (performance.now() - began) / 1_000;
    return { kind: kind.name, trial: trial.name, ok, note: text, seconds };
  };
  try {
    return verdict(true, await trial.run(ground, kind));
  } catch (error) {
    return verdict(false, error instanceof Error ? error.message : String(error));
  }
}

function tableOf(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ kind, trial, ok, note: text, seconds }) => [
    kind,
    trial,
    ok ? 'ok' : 'FAILED',
    `${seconds.toFixed(1)} s`,
    text.replaceAll(/\s+/g, ' ').slice(0, ok ? MAX_NOTE : undefined),
  ]);
  return aligned([['kind', 'trial', 'result', 'time', 'note'], ...rows]);
}

async function main({ kind: name, trials }: Wish): Promise<number> {
  const verdicts = await withCleanup(async (scope) => {
    const kinds = await kindsToTry(name, note);
    const ground = await Ground.prepare(scope, note);
    const all: Verdict[] = [];
    for (const kind of kinds) {
      for (const trial of trials) {
        if (scope.signal.aborted) throw new Sentence('Stopped.');
        note(`${kind.name} ${trial.name}`);
        const verdict = await tryOne(ground, kind, trial);
        if (!verdict.ok) note(`FAILED: ${verdict.note}`);
        all.push(verdict);
      }
    }
    return all;
  });
  process.stdout.write(tableOf(verdicts));
  return verdicts.every(({ ok }) => ok) ? 0 : 1;
}

try {
  const wish = readWish();
  if (wish === undefined) process.stdout.write(USAGE);
  process.exitCode = wish === undefined ? 0 : await main(wish);
} catch (error) {
  const { code = '' } = error as NodeJS.ErrnoException;
  const isUsage = code.startsWith('ERR_PARSE_ARGS');
  process.stderr.write(isUsage ? `${(error as Error).message}\n${USAGE}` : `${explain(error)}\n`);
  process.exitCode = isUsage ? 2 : 1;
}
// An open connection after a failure must not keep the process alive.
process.exit();
