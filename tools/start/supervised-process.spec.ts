import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import type { Supervisor } from '#lib/local-servers';
import { SupervisedProcess } from './supervised-process.js';

/** A program that prints its ready line at its start, and ends when it is asked to. */
function life(onLine: (line: string) => void) {
  const end = new AbortController();
  const exited = once(end.signal, 'abort').then(() => ({ code: 0, signal: null }));
  const stop = () => {
    end.abort();
    return exited;
  };
  onLine('{"message":"ready"}');
  return { pid: 1, exited, stop };
}

it('a process that starts during a stop is ended', async () => {
  const lives: ReturnType<typeof life>[] = [];
  let letBegin = (): void => undefined;
  const asked = new AbortController();
  const run = async ({ onLine }: { onLine: (line: string) => void }) => {
    if (lives.length > 0) {
      const begin = new Promise<void>((resolve) => (letBegin = resolve));
      asked.abort();
      await begin;
    }
    lives.push(life(onLine));
    return lives.at(-1);
  };
  const spec = { name: 'server', program: 'main.js', env: {}, stopWithinMs: 1_000 };
  const supervisor = { run } as unknown as Supervisor;
  const program = new SupervisedProcess(
    supervisor,
    spec,
    () => undefined,
    () => undefined,
  );
  await program.start(({ message }) => message === 'ready');
  const second = once(asked.signal, 'abort');
  await program.renew();
  await second;
  const stopped = program.stop();
  letBegin();
  await stopped;
  expect(lives).toHaveLength(2);
  await expect(lives[1]?.exited).resolves.toEqual({ code: 0, signal: null });
});
