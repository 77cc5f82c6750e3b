import { randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Sentence } from '../../../tools/shared/sentence.js';

export interface Options {
  durationMs: number;
  seed: number;
  jsonFile: string | undefined;
  /** Prints the schedule and does nothing else. */
  planOnly: boolean;
}

export const USAGE = `npm run chaos -- [--minutes N] [--seed N] [--json FILE] [--plan]

Runs two servers, three workers, a gateway and their databases under load, breaks them by a schedule that
follows from the seed, and checks what must always hold. Exits with 1 when something does not. Leaves nothing.

  --minutes N   how long the faults go on; 2 when left out
  --seed N      of the schedule and the load; a random one when left out
  --json FILE   also write what was done and found
  --plan        print the schedule and end
`;

/**
 * @returns undefined if the user only asked for help. @throws Sentence
 */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parse(args);
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 24 * 60)) throw new Sentence('--minutes is a number up to 1440.');
  const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
  if (!Number.isInteger(seed) || seed < 0) throw new Sentence('--seed is a whole number.');
  const jsonFile = values.json && resolve(process.env['INIT_CWD'] ?? process.cwd(), values.json);
  if (jsonFile) requireWritable(jsonFile);
  return { durationMs: minutes * 60_000, seed, jsonFile, planOnly: values.plan };
}

/** Checks the file before the half hour of work, not after it. */
function requireWritable(file: string): void {
  try {
    writeFileSync(file, '', { flag: 'a' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Sentence(`${file} can't be written to (${code}): name another file.`);
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        minutes: { type: 'string', default: '2' },
        seed: { type: 'string' },
        json: { type: 'string' },
        plan: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw new Sentence(`${(error as Error).message}\n\n${USAGE}`);
  }
}
