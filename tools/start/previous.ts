import { Sentence } from '../shared/sentence.js';
import type { Home } from './home.js';
import { mainLives, supervisorLives, untilNot } from './processes.js';

/**
 * Waits for what an earlier start has left behind that was ended by force: its supervisor still puts down the
 * server, the workers and the database, and the port and the data are theirs until then.
 *
 * @throws Sentence when that does not end
 */
export async function previousGone(home: Home, tell: (line: string) => void): Promise<void> {
  const { processes } = home;
  // A live one says itself where it is; see running.ts.
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
