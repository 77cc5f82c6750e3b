import { existsSync } from 'node:fs';
import { Sentence } from '../shared/sentence.js';
import { Home, homeFolder, type Processes } from './home.js';
import { areRunning, mainLives, supervisorLives, untilNot } from './processes.js';
import { answers } from './running.js';
import { FINISH_SIGNAL, finishing, STOPPING } from './workers.js';

/** Exit codes of `status`; 3 and 4 as init scripts use them. */
const STATUS = { runs: 0, runsNot: 3, doesNotAnswer: 4 } as const;

type Tell = (line: string) => void;

/**
 * `npm start -- stop`: ends everything that runs in the folder, and returns when all of it has
 * ended.
 *
 * @param finishSeconds the time for running tasks to finish first
 * @throws Sentence if it does not end
 */
export async function stop(tell: Tell, finishSeconds = 0): Promise<void> {
  const folder = homeFolder();
  const processes = existsSync(folder) ? new Home(folder).processes : undefined;
  const isLeft = (known: Processes): boolean => areRunning(known) || supervisorLives(known);
  if (processes === undefined || !isLeft(processes)) return tell(`Nothing runs in ${folder}.`);
  const lives = (): boolean => mainLives(processes) || supervisorLives(processes);
  let isGone = false;
  if (finishSeconds > 0 && areRunning(processes)) {
    process.kill(processes.main, FINISH_SIGNAL);
    tell(finishing(finishSeconds));
    isGone = await untilNot(lives, finishSeconds * 1_000);
  }
  if (!isGone) {
    if (areRunning(processes)) process.kill(processes.main, 'SIGTERM');
    tell(STOPPING);
    isGone = await untilNot(lives);
  }
  if (!isGone) {
    const { main, supervisor } = processes;
    throw new Sentence(`It does not end: end it by force (\`kill -9 ${main} ${supervisor}\`).`);
  }
  tell('Drover has stopped; the data stays.');
}

/** `npm start -- status`: returns the exit code. */
export async function status(tell: Tell): Promise<number> {
  const folder = homeFolder();
  const home = existsSync(folder) ? new Home(folder) : undefined;
  const processes = home?.processes;
  if (home === undefined || processes === undefined || !areRunning(processes)) {
    tell(`Drover does not run in ${folder}.`);
    return STATUS.runsNot;
  }
  const { address } = home;
  // Another clone's server can answer at the address of the last start until this one's server
  // listens.
  const isServed = processes.programs['server'] !== undefined && address !== undefined;
  if (!isServed || !(await answers(address))) {
    tell(
      `Drover is being started or stopped in ${folder}, or its server does not answer: ${home.logFile('server')} says more.`,
    );
    return STATUS.doesNotAnswer;
  }
  tell(described(address, processes, folder));
  return STATUS.runs;
}

function described(address: string, processes: Processes, folder: string): string {
  const { main, supervisor, since, programs } = processes;
  const all = Object.entries({ start: main, supervisor, ...programs });
  const workers = all.filter(([name]) => name.startsWith('worker-'));
  return `Drover runs at         ${address}
Since                  ${since}
Workers                ${workers.length}
Processes              ${all.map(([name, pid]) => `${name} ${pid}`).join(', ')}
Data and logs          ${folder}`;
}
