import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';
import { mainLives, supervisorLives, untilNot } from './processes.js';

/**
 * Waits for the remains of an earlier start that was killed: its supervisor still ends the server,
 * the workers and the database, which occupy the port and the data until then.
 *
 * @throws Sentence if they do not end
 */
export async function previousGone(home: Home, tell: (line: string) => void): Promise<void> {
  const { processes } = home;
  // A running start reports its address itself; see running.ts.
  if (processes === undefined || mainLives(processes)) return;
  const isLeft = (): boolean => supervisorLives(processes);
  if (!isLeft()) return;
  tell(
    `The last start in ${home.folder} was ended by force: waiting until all that it left has ended.`,
  );
  if (!(await untilNot(isLeft))) throw new Sentence(stillThere(home, processes.supervisor));
}

function stillThere(home: Home, pid: number): string {
  return `Process ${pid} of the last start in ${home.folder} does not end: end it (\`kill -9 ${pid}\`), then start again.`;
}
