import { lineWriter } from '#lib/kernel';
import { withCleanup } from '#lib/local-servers';
import { explain, Sentence } from '../shared/sentence.js';
import { readRequest, type Request, USAGE } from './arguments.js';
import { status, stop } from './control.js';
import { startDaemon, tellLauncher } from './daemon.js';

const write = lineWriter(1);
const complain = lineWriter(2);

const tell = (line: string): void => {
  write(`${line}\n`);
  void tellLauncher({ kind: 'line', text: line });
};

async function act(request: Request): Promise<number> {
  switch (request.kind) {
    case 'help':
      write(USAGE);
      return 0;
    case 'wrong':
      throw new Sentence(request.sentence);
    case 'stop':
      await stop(tell, request.finishSeconds);
      return 0;
    case 'status':
      return status(tell);
    case 'start':
      return start(request);
  }
}

function start({ workers, daemon }: Request & { kind: 'start' }): Promise<number> {
  if (daemon) return startDaemon(['--workers', String(workers)], tell);
  const onReady = (): void => void tellLauncher({ kind: 'ready' });
  return withCleanup(async (scope) => {
    // This import loads half of Drover: a second that `stop`, `status` and the launcher of a daemon
    // save.
    const { run } = await import('./run.js');
    return run({ scope, tell, workers, onReady });
  });
}

try {
  process.exit(await act(readRequest(process.argv.slice(2))));
} catch (error) {
  const text = explain(error);
  complain(`${text}\n`);
  await tellLauncher({ kind: 'complaint', text });
  process.exit(1);
}
