// Programs that outlive a test file. They belong to the process that runs Jest, so that files of
// one worker, and a worker that replaces another, find the same ones. They end with the run.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../../dist/', import.meta.url));
const LINES_KEPT = 2_000;

/** The shared programs by name. */
const programs = new Map();
/** The program that a test file uses, and the number of lines that it had written before. */
const uses = new Map();

/**
 * Listens on its own port. `GET /<name>?file=<test file>` returns the facts of a running program.
 * `PUT` starts it: the body has `program` (below dist), `env` and `facts`. The answer is its facts
 * and its listening line.
 *
 * @param supervisor ends the programs when this process ends in any way
 */
export async function sharePrograms(supervisor) {
  const server = createServer((request, response) => {
    // No later request of a test file can meet a closing connection.
    response.setHeader('connection', 'close');
    answer(supervisor, request).then(
      (facts) => response.writeHead(facts ? 200 : 404).end(JSON.stringify(facts ?? {})),
      (error) => response.writeHead(500).end(error.message),
    );
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

async function answer(supervisor, request) {
  const { pathname: name, searchParams } = new URL(request.url, 'http://127.0.0.1');
  if (request.method === 'PUT') {
    programs.set(name, await start(supervisor, JSON.parse(await text(request))));
  }
  const program = programs.get(name);
  if (program) uses.set(searchParams.get('file'), { program, from: program.written });
  return program?.facts;
}

async function start(supervisor, { program, env, facts }) {
  const started = { lines: [], written: 0 };
  let listening;
  const listens = new Promise((resolve) => (listening = resolve));
  const running = await supervisor.run({
    file: process.execPath,
    args: [DIST + program],
    cwd: DIST,
    env,
    stopSignal: 'SIGTERM',
    stopWithinMs: 2_000,
    onLine: (line) => {
      started.lines.push(line);
      started.written += 1;
      if (started.lines.length > LINES_KEPT) started.lines.shift();
      if (line.includes('"message":"listening"')) listening(JSON.parse(line));
    },
  });
  const ended = running.exited.then(() => {
    for (const [name, { facts: known }] of programs) {
      if (known.pid === running.pid) programs.delete(name);
    }
  });
  const line = await Promise.race([listens, ended]);
  if (!line) throw new Error(`${program} ended at once:\n${started.lines.join('\n')}`);
  return Object.assign(started, { facts: { ...facts, ...line }, stop: () => running.stop() });
}

/** Returns the lines that a program wrote while the test file used it. */
export function linesDuring(file) {
  const use = uses.get(file);
  if (!use) return [];
  const { lines, written } = use.program;
  return lines.slice(Math.max(0, lines.length - (written - use.from)));
}
