import { expect, it, jest } from '@jest/globals';
import { kindOf } from '#lib/agent-kinds';
import type { OutputSink, RuntimeDriver, RuntimeSession, SessionExit } from '#lib/session-runtime';
import { AgentSession, type AgentSessionParts, type AgentWork } from './agent-session.js';

/** A session of Claude Code without a process. Its end follows a stop. */
async function started(
  permissionMode: AgentWork['permissionMode'],
  onEvent: AgentSessionParts['onEvent'] = () => undefined,
) {
  const stop = jest.fn();
  let output: OutputSink | undefined;
  let end: (exit: SessionExit) => void;
  const session = {
    exit: new Promise<SessionExit>((resolve) => (end = resolve)),
    stop: (graceMs: number) => {
      stop(graceMs);
      end({ exitCode: 0, signal: null } as SessionExit);
    },
    write: () => undefined,
    endInput: () => undefined,
  } as unknown as RuntimeSession;
  const driver = {
    surroundings: () => ({
      reach: { network: 'host', allowedHosts: [] },
      proxy: {},
      folder: '/box',
      isRoot: false,
      memoryMb: 0,
    }),
    spawn: async (spec: { command: Promise<unknown>; output: OutputSink }) => {
      ({ output } = spec);
      await spec.command;
      return session;
    },
  } as unknown as RuntimeDriver;
  const work = {
    kind: kindOf('claude-code'),
    program: ['claude'],
    folders: [],
    id: '00000000-0000-4000-8000-000000000001',
    words: Promise.resolve({ prompt: 'Hello.', mcpServers: [] }),
    permissionMode,
    settings: {},
    env: {},
    files: {},
    secrets: [],
    token: 'token',
  } as unknown as AgentWork;
  const gate = {} as AgentSessionParts['gate'];
  const agent = await AgentSession.start(work, { driver, gate, onEvent });
  return {
    agent,
    stop,
    write: (line: string) => output?.write('stdout', Buffer.from(`${line}\n`)),
  };
}

const DEEP = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
const PERMISSION = `{"type":"control_request","request_id":"1","request":
  {"subtype":"can_use_tool","tool_name":"X","input":{"a":${DEEP}}}}`.replace('\n', '');

it('a line that nobody can answer fails its session alone', async () => {
  const { agent, stop, write } = await started('auto');
  write(PERMISSION);
  expect(stop).toHaveBeenCalledTimes(1);
  write(PERMISSION);
  const message = expect.stringMatching(/^The agent wrote what Drover cannot read: Maximum call/);
  expect((await agent.exit).end).toMatchObject({ kind: 'failed', class: 'crash', message });
  expect(stop).toHaveBeenCalledTimes(1);
});

it('a decision that cannot be sent fails its session alone', async () => {
  const { agent, write } = await started('ask');
  write(PERMISSION);
  agent.decide('1', 'allow');
  expect((await agent.exit).end).toMatchObject({ kind: 'failed', class: 'crash' });
});

it('an event that its receiver cannot take fails its session alone', async () => {
  const { agent, write } = await started('ask', (event) => {
    if (event.type === 'permission') throw new Error('too deep');
  });
  write(PERMISSION);
  const message = 'The agent wrote what Drover cannot read: too deep';
  expect((await agent.exit).end).toMatchObject({ kind: 'failed', message });
});
