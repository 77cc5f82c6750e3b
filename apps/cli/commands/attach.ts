import { createInterface } from 'node:readline';
import { type components, itemsOf } from '#lib/api-client';
import type { Cli } from '../cli.js';
import type { Commands } from '../command.js';
import { EXIT } from '../exit-codes.js';
import { toFailure } from '../failure.js';
import { readLog, readTask } from '../follow.js';
import { sendMessage } from '../messages.js';
import { printEntry, toExitCode } from '../task-output.js';

type Message = components['schemas']['RunMessage'];

/** The first character of a line that interrupts the agent. */
const INTERRUPTS = '!';

const commands: Commands = {
  attach: {
    usage: 'attach <task>',
    summary: 'Follow the conversation of a coding agent and talk to it',
    about:
      'Prints messages of the agent to stdout and its tool calls to stderr, from the beginning, ' +
      'until the task is finished. Each line of the input is a message, which the agent hears after ' +
      'its current turn. A line that begins with ! interrupts the turn. Ctrl-C detaches: the task ' +
      'continues.',
    examples: ['attach 0198c0de-7000-7000-8000-000000000000'],
    run: async (cli, [id = '']) => {
      await readTask(cli.drover, id);
      return attach(cli, id);
    },
  },
};

export default commands;

async function attach(cli: Cli, id: string): Promise<number> {
  const leaving = new AbortController();
  const detach = (): void => leaving.abort();
  process.on('SIGINT', detach);
  const lines = createInterface({ input: process.stdin });
  const sent: Message[] = [];
  let sending = Promise.resolve();
  // One after another, so that the messages keep their order.
  lines.on('line', (line) => void (sending = sending.then(() => sendLine(cli, id, line, sent))));
  const drover = cli.patient;
  try {
    for await (const entry of readLog(drover, id, { follow: true, signal: leaving.signal })) {
      printEntry(cli, entry);
    }
    await sending;
    await noteUndelivered(cli, sent);
    return await toExitCode(cli, await readTask(drover, id));
  } catch (error) {
    if (!leaving.signal.aborted) throw error;
    cli.out.note(`drover: task ${id} continues. Attach again with \`drover attach ${id}\`.`);
    return EXIT.ok;
  } finally {
    lines.close();
    process.stdin.destroy();
    process.off('SIGINT', detach);
  }
}

/** A refused message is noted, and the conversation continues. */
async function sendLine(cli: Cli, id: string, line: string, sent: Message[]): Promise<void> {
  const isInterrupt = line.startsWith(INTERRUPTS);
  const text = (isInterrupt ? line.slice(INTERRUPTS.length) : line).trim();
  if (text === '') return;
  const deliver = isInterrupt ? 'interrupt' : 'turn_end';
  try {
    sent.push(await sendMessage(cli.patient, id, { text, deliver }));
  } catch (error) {
    const { message, advice } = toFailure(error);
    cli.out.note(`drover: message not sent: ${message}\n${advice}`);
  }
}

/** A message that came when the agent had finished its last turn reached nobody. */
async function noteUndelivered(cli: Cli, sent: readonly Message[]): Promise<void> {
  const ids = new Set(sent.map(({ id }) => id));
  for (const runId of new Set(sent.map((message) => message.runId))) {
    const pages = itemsOf((from) =>
      cli.patient.get('/api/v1/runs/{runId}/messages', {
        params: { path: { runId }, query: from },
      }),
    );
    for await (const { id, state, text } of pages) {
      if (!ids.has(id) || state !== 'undelivered') continue;
      cli.out.note(`drover: the agent ended before it received "${text}"`);
    }
  }
}
