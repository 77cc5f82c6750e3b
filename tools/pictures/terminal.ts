import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { built } from '#lib/kernel';
import { Sentence } from '../shared/sentence.js';

const COLUMNS = 100;
const ENOUGH_MS = 60_000;

/** Runs the command line in its own terminal, as a person sees it. */
export class Terminal {
  private shown = '';

  /**
   * @param env names the server and the caller's credentials
   */
  constructor(private readonly env: Record<string, string>) {}

  /** Types `drover …`, and waits until it ends. */
  async type(line: string): Promise<void> {
    const command = `stty cols ${COLUMNS} rows 50; exec "$NODE" "$DROVER" ${line}`;
    const env = {
      PATH: process.env['PATH'],
      TERM: 'xterm-256color',
      HOME: '/nonexistent',
      NODE: process.execPath,
      DROVER: built('apps/cli/main.js'),
      ...this.env,
    };
    const said = await promisify(execFile)('script', ['-qec', command, '/dev/null'], {
      env,
      timeout: ENOUGH_MS,
    }).catch((error: { stdout?: string; code?: unknown }) => {
      // A failed command is a picture, too. A missing terminal is none.
      if (error.code === 'ENOENT')
        throw new Sentence('There is no `script` here: install util-linux.');
      return { stdout: error.stdout ?? '' };
    });
    this.shown += `\u001b[36m$\u001b[0m \u001b[1mdrover ${line}\u001b[0m\n${said.stdout}\n`;
  }

  get output(): string {
    return this.shown;
  }
}
