import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#lib/kernel';
import {
  type LateParts,
  MAX_OUTPUT_BYTES,
  OPEN_INPUT,
  type RuntimeDriver,
  type RuntimeSession,
  type SessionSpec,
  SpawnError,
} from '../drivers/driver.js';
import { OutputTail } from '../output/output-tail.js';
import { Redactor } from '../output/redactor.js';

/**
 * The parts of a driver's surroundings that the suite needs. A session's programs must include
 * `sh`.
 */
export interface DriverHarness {
  /**
   * Creates the driver again, as after a restart: it finds the sessions that the others started.
   */
  make: () => RuntimeDriver;
  /**
   * The number of living processes with this word in their command line, counted without the
   * driver.
   */
  countProcesses: (word: string) => Promise<number>;
  /** An argument for `sleep` that no other process has in its command line. */
  uniqueSeconds: () => string;
  dispose: () => Promise<void>;
}

const SECRET = 'a-secret-that-nobody-may-read';

/**
 * The behaviour of every driver, for all its sessions, with and without a reader of their output.
 */
export function describeDriver(name: string, prepare: () => Promise<DriverHarness>): void {
  describe.each([
    ['outlives its host', false],
    ['is read by its host', true],
  ])(`${name}: a session that %s`, (_, isRead) => {
    let harness: DriverHarness;
    let driver: RuntimeDriver;

    beforeAll(async () => {
      harness = await prepare();
      driver = harness.make();
    });

    afterEach(async () => {
      for (const id of await driver.list()) await driver.remove(id);
    });

    afterAll(() => {
      driver.close();
      return harness.dispose();
    });

    const shell = (script: string, more: Partial<SessionSpec> = {}): SessionSpec => ({
      id: newId(),
      command: ['sh', '-c', script],
      env: {},
      files: {},
      secrets: [SECRET],
      ...more,
    });

    /** A session whose exit has its output, whoever read it. */
    async function spawn(spec: SessionSpec): Promise<RuntimeSession> {
      if (!isRead) return driver.spawn(spec);
      const output = new OutputTail(new Redactor(spec.secrets), MAX_OUTPUT_BYTES);
      const session = await driver.spawn({ ...spec, output });
      const exit = session.exit.then((end) => ({ ...end, output: output.text() }));
      const { id, pid, startedAt } = session;
      return {
        id,
        pid,
        startedAt,
        exit,
        stop: (graceMs) => session.stop(graceMs),
        notify: (signal) => session.notify(signal),
        write: (text) => session.write(text),
        endInput: () => session.endInput(),
        addFiles: (files) => session.addFiles(files),
        lastActivityAt: () => session.lastActivityAt(),
      };
    }

    /** The output that a restarted host knows: none if the earlier process has read it. */
    const expected = (output: string): string => (isRead ? '' : output);

    async function outcomeOf(spec: SessionSpec) {
      const session = await spawn(spec);
      return session.exit;
    }

    async function untilCount(word: string, count: number): Promise<void> {
      for (let seen = -1; seen !== count;) seen = await harness.countProcesses(word);
    }

    (isRead ? test : test.skip)('an open input reaches the session while it runs', async () => {
      const script = 'read first; echo "got $first"; cat';
      const session = await spawn(shell(script, { stdin: OPEN_INPUT }));
      session.write('one\n');
      session.write('two\n');
      session.endInput();
      session.write('too late');
      expect(await session.exit).toMatchObject({ exitCode: 0, output: 'got one\ntwo' });
    });

    test('files below folders have their content, and the session can change them', async () => {
      const otherFiles = [
        { name: 'state/deep/one.txt', content: 'first' },
        { name: 'state/deep/two.bin', content: Uint8Array.of(0, 1) },
      ];
      const script =
        'cd ../state/deep && cat one.txt && wc -c <two.bin && echo more >>one.txt && cat one.txt';
      const session = await spawn(shell(script, { otherFiles }));
      expect((await session.exit).output.replace(/ +/g, '')).toBe('first2\nfirstmore');
    });

    test('late parts give the command, further variables and further files', async () => {
      const late = Promise.resolve<LateParts>({
        command: ['sh', '-c', 'echo "$ONE $TWO"; cat ../state/late && echo more >>../state/late'],
        env: { ONE: 'late' },
        otherFiles: [{ name: 'state/late', content: 'file' }],
      });
      const session = await spawn(shell('', { command: late, env: { ONE: 'early', TWO: 'two' } }));
      expect(await session.exit).toMatchObject({ exitCode: 0, output: 'late two\nfile' });
    });

    test('a session whose late parts are refused leaves nothing', async () => {
      const refusal = new Error('no words');
      const spec = shell('', { command: Promise.reject(refusal) });
      await expect(spawn(spec)).rejects.toBe(refusal);
      expect(await driver.list()).toEqual([]);
    });

    test('a running session gets further files, and can change them', async () => {
      const script =
        'cd ..; until [ -s new/deep/two ]; do sleep 0.02; done; ' +
        'cat new/deep/one && echo more >>new/deep/one && cat new/deep/one';
      const session = await spawn(shell(script));
      const [one, two] = ['one', 'two'].map((name) => ({
        name: `new/deep/${name}`,
        content: name,
      }));
      await session.addFiles([one!]);
      await expect(session.addFiles([one!])).rejects.toThrow('EEXIST');
      await session.addFiles([two!]);
      expect((await session.exit).output).toBe('oneonemore');
    });

    test.each([0, 1, 3, 75, 137, 255])(
      'the exit of a session has the exit code %d',
      async (code) => {
        const before = Date.now();
        const exit = await outcomeOf(shell(`exit ${code}`));
        expect(exit).toMatchObject({ exitCode: code, signal: null, lost: false });
        expect(Date.parse(exit.endedAt)).toBeGreaterThanOrEqual(before - 1_000);
      },
    );

    test.each([
      ['USR1', 'SIGUSR1'],
      ['RTMIN', 'SIGRTMIN+0'],
      ['RTMAX', 'SIGRTMIN+30'],
    ])('the exit of a session has the signal %s', async (name, signal) => {
      const exit = await outcomeOf(shell(`kill -s ${name} $$`));
      expect(exit).toMatchObject({ exitCode: null, signal });
    });

    test('a session gets its arguments unchanged, without a shell', async () => {
      const words = ['$HOME', '`id`', '; exit 3', 'a  b', '"', "'", '*', ''];
      const command: SessionSpec['command'] = ['sh', '-c', 'printf "%s|" "$@"', 'sh', ...words];
      const { output } = await outcomeOf(shell('', { command }));
      expect(output).toBe(`${words.join('|')}|`);
    });

    test('a session gets a clean environment, a folder and a private task file', async () => {
      const script =
        'env | sort; echo "in $(pwd)"; cat "$DROVER_TASK_FILE"; ls -l "$DROVER_TASK_FILE"';
      const { output } = await outcomeOf(
        shell(script, {
          env: { DEPTH: '3' },
          files: {
            DROVER_TASK_FILE: { name: 'task.json', content: '{"id":"the task"}' },
            DROVER_WORK_DIR: { name: 'work' },
          },
        }),
      );
      const names = output.matchAll(/^([A-Z_]+)=/gm);
      expect([...names].map(([, variable]) => variable).filter((one) => one !== '_')).toEqual([
        'DEPTH',
        'DROVER_SESSION_ID',
        'DROVER_SIGNALS_FILE',
        'DROVER_TASK_FILE',
        'DROVER_WORK_DIR',
        'HOME',
        'LANG',
        'PATH',
        'PWD',
        'TMPDIR',
      ]);
      const value = (variable: string) => new RegExp(`^${variable}=(.*)$`, 'm').exec(output)?.[1];
      expect(value('HOME')).toBe(value('DROVER_WORK_DIR'));
      expect(output).toContain(`in ${value('DROVER_WORK_DIR')}\n`);
      expect(output).toContain('{"id":"the task"}');
      expect(output).toMatch(/-rw------- /);
    });

    test('the exit of a session has the end of the output, without secrets', async () => {
      const script = `
        i=0; while [ $i -lt 3000 ]; do echo "line $i"; i=$((i+1)); done
        echo "token ${SECRET}" >&2; printf 'the ü\\033[31m last words'`;
      const { output } = await outcomeOf(shell(script));
      expect(output).toContain('line 2999');
      expect(output).toContain('the ü last words');
      expect(output).not.toContain('line 0\n');
      expect(output).not.toContain(SECRET);
      expect(output).toContain('token [redacted]');
      expect(Buffer.byteLength(output)).toBeLessThanOrEqual(MAX_OUTPUT_BYTES);
    });

    test('a session is refused without a trace if its program does not exist', async () => {
      const spec = shell('', { command: ['no-such-program-anywhere'] });
      const refusal = await spawn(spec).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(SpawnError);
      expect(refusal).toMatchObject({ failureClass: 'setup' });
      expect(await driver.list()).toEqual([]);
    });

    test('a session reads the messages of its host, one a line', async () => {
      const script = `
        until grep -q last "$DROVER_SIGNALS_FILE"; do sleep 0.02; done
        cat "$DROVER_SIGNALS_FILE"; ls -l "$DROVER_SIGNALS_FILE"`;
      const session = await spawn(shell(script));
      session.notify({ action: 'warn', reason: 'first' });
      session.notify({ action: 'stop', reason: 'last', message: 'in words', graceSeconds: 3 });
      const { output } = await session.exit;
      const lines = output.split('\n').filter((line) => line.startsWith('{'));
      expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
        { action: 'warn', reason: 'first', at: expect.any(String) },
        { action: 'stop', reason: 'last', message: 'in words', graceSeconds: 3 },
      ]);
      expect(output).toMatch(/-rw------- /);
      session.notify({ action: 'warn', reason: 'too late, and harmless' });
    });

    test('a session can end by itself when it is asked to', async () => {
      const seconds = harness.uniqueSeconds();
      const session = await spawn(
        shell(`trap 'echo saved; exit 5' TERM; echo up; sleep ${seconds} & wait`),
      );
      await untilCount(seconds, 1);
      session.stop(60_000);
      expect(await session.exit).toMatchObject({ exitCode: 5, output: 'up\nsaved' });
      expect(await harness.countProcesses(seconds)).toBe(0);
    });

    test('a session is killed completely at the earliest deadline', async () => {
      const seconds = harness.uniqueSeconds();
      const session = await spawn(
        shell(`trap '' TERM; (setsid sleep ${seconds} &); while :; do sleep ${seconds}; done`),
      );
      await untilCount(seconds, 2);
      session.stop(600_000);
      session.stop(100);
      session.stop(600_000);
      expect(await session.exit).toMatchObject({ exitCode: null, signal: 'SIGKILL' });
      expect(await harness.countProcesses(seconds)).toBe(0);
    });

    test('the exit of a session comes after the end of its last process', async () => {
      const seconds = harness.uniqueSeconds();
      const exit = await outcomeOf(shell(`(setsid sleep ${seconds} &); sleep ${seconds} & exit 4`));
      expect(exit).toMatchObject({ exitCode: 4 });
      expect(await harness.countProcesses(seconds)).toBe(0);
    });

    test('a session is found by a restarted host, which sees its end', async () => {
      const seconds = harness.uniqueSeconds();
      const spec = shell(`trap 'exit 6' TERM; echo ${SECRET}; sleep ${seconds} & wait`);
      const first = await spawn(spec);
      await untilCount(seconds, 1);
      const next = harness.make();
      expect(await next.list()).toEqual([spec.id]);
      const found = await next.recover(spec.id);
      if (found.kind !== 'running') throw new Error(`a session is ${found.kind}`);
      expect(found.session).toMatchObject({ pid: first.pid, startedAt: first.startedAt });
      found.session.stop(60_000);
      expect(await found.session.exit).toMatchObject({
        exitCode: 6,
        lost: false,
        output: expected('[redacted]'),
      });
    });

    test('the end of a session is known to a restarted host until its removal', async () => {
      const spec = shell('echo the end; exit 9');
      const session = await spawn(spec);
      await session.exit;
      const next = harness.make();
      for (const attempt of [1, 2]) {
        expect([attempt, await next.recover(spec.id)]).toMatchObject([
          attempt,
          {
            kind: 'ended',
            exit: { exitCode: 9, output: expected('the end') },
            pid: session.pid,
            startedAt: session.startedAt,
          },
        ]);
      }
      await next.remove(spec.id);
      expect(await next.list()).toEqual([]);
      expect(await next.recover(spec.id)).toEqual({ kind: 'absent' });
    });

    test('a session is absent if it never started, and can start then', async () => {
      const spec = shell('exit 2');
      expect(await driver.recover(spec.id)).toEqual({ kind: 'absent' });
      expect(await outcomeOf(spec)).toMatchObject({ exitCode: 2 });
    });

    test('a session cannot be started twice', async () => {
      const seconds = harness.uniqueSeconds();
      const spec = shell(`exec sleep ${seconds}`);
      const attempts = await Promise.allSettled([1, 2, 3].map(() => spawn(spec)));
      expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await untilCount(seconds, 1);
    });

    test('a session is removed with all its processes while it runs', async () => {
      const seconds = harness.uniqueSeconds();
      const session = await spawn(shell(`(setsid sleep ${seconds} &); sleep ${seconds}`));
      await untilCount(seconds, 2);
      await driver.remove(session.id);
      await driver.remove(session.id);
      expect(await harness.countProcesses(seconds)).toBe(0);
      expect(await driver.list()).toEqual([]);
      await session.exit;
    });

    test('a session survives the end of another one', async () => {
      const seconds = [harness.uniqueSeconds(), harness.uniqueSeconds()] as const;
      const [first, second] = await Promise.all(
        seconds.map((one) => spawn(shell(`exec sleep ${one}`))),
      );
      await Promise.all(seconds.map((one) => untilCount(one, 1)));
      first?.stop(1_000);
      expect(await first?.exit).toMatchObject({ signal: 'SIGTERM' });
      expect(await harness.countProcesses(seconds[1])).toBe(1);
      second?.stop(0);
      await second?.exit;
    });

    test('the time of a session’s last output is known', async () => {
      const session = await spawn(shell('echo hello; read x'));
      await session.exit;
      const at = Date.parse(session.lastActivityAt());
      expect(at).toBeGreaterThanOrEqual(Date.parse(session.startedAt) - 1_000);
    });
  });
}
