import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  type AgentContext,
  type AgentEnd,
  type AgentEvent,
  type AgentKind,
  KindSettingsError,
  type PermissionMode,
  type PermissionRequest,
} from '../index.js';
import { act, readSamples, SAID, type Sample } from './sample.js';

/** What a kind needs beyond the common context. */
export interface ConformanceOptions {
  settings?: Record<string, unknown>;
  /** The scenarios that were recorded with the real program. */
  samples: string[];
}

export function aContext(changes: Partial<AgentContext> = {}): AgentContext {
  return {
    prompt: 'Write the greeting.',
    permissionMode: 'auto',
    settings: {},
    program: ['/opt/agent'],
    workDir: '/sandbox/work',
    stateDir: '/sandbox/state',
    sessionId: '00000000-0000-4000-8000-000000000001',
    modelProxy: { url: 'http://127.0.0.1:4000', token: 'token-of-the-run' },
    mcpServers: [],
    isRoot: false,
    ...changes,
  };
}

/** Proves a kind by its launch, and by sessions that its real program had. */
export function describeKind(kind: AgentKind, options: ConformanceOptions): void {
  const context = (changes: Partial<AgentContext> = {}) =>
    aContext({ settings: options.settings ?? {}, ...changes });

  describe(`the launch of ${kind.name}`, () => {
    const remote = {
      name: 'drover',
      isTrusted: true,
      url: 'http://127.0.0.1:1/mcp',
      headers: { A: 'header-value' },
    };
    const local = {
      name: 'files',
      isTrusted: false,
      command: '/opt/files-server',
      args: ['--root', 'a "b" $c {d}'],
      env: { FILES_KEY: 'variable-value' },
    };
    const mcpServers = [remote, local];

    it('no token, prompt, header or variable is in the command', () => {
      const command = kind.launch(context({ mcpServers, instructions: 'Be kind.' })).command;
      expect(command.join(' ')).not.toMatch(
        /token-of-the-run|greeting|(header|variable)-value|Be k/,
      );
    });

    it('instructions are in one file of its home, if it reads any there', () => {
      const { files } = kind.launch(context({ instructions: 'Be kind.' }));
      const written = files.filter(({ content }) => content === 'Be kind.');
      const names = written.map(({ path }) => path.split('/').at(-1));
      expect(names).toEqual(kind.program === null ? [] : [kind.instructionsFile]);
    });

    it('no token, header or variable is in a file', () => {
      const { files } = kind.launch(context({ mcpServers }));
      const contents = files.map(({ content }) => content).join('');
      expect(contents).not.toMatch(/token-of-the-run|(header|variable)-value/);
    });

    it.each([
      ['over HTTP', remote, remote.url, 'header-value'],
      ['over stdio', local, local.command, 'variable-value'],
    ])('the program has the MCP servers of its host %s', async (_, server, place, value) => {
      const given = context({ mcpServers: [server] });
      const { env, files } = kind.launch(given);
      const written: string[] = [];
      const io = { write: (text: string) => void written.push(text), endInput: noop, emit: noop };
      const conversation = kind.converse(io, given);
      conversation.start();
      // Programs of the Agent Client Protocol without a configuration learn them with the session.
      const info = { protocolVersion: 1, agentCapabilities: { mcpCapabilities: { http: true } } };
      conversation.line(JSON.stringify({ jsonrpc: '2.0', id: 0, result: info }));
      for (let turn = 0; turn < 100; turn += 1) await nextTick();
      await conversation.ended({ exitCode: 0, signal: null });
      const configured = files.filter(({ content }) => content.includes(place));
      const told = written.filter((line) => line.includes(place));
      expect([...configured, ...told]).toHaveLength(1);
      const contents = configured.map(({ content }) => content);
      const named = contents.join().match(/DROVER_MCP_\w+/g) ?? [];
      const values = named.map((variable) => env[variable]);
      const all = [...contents, ...values, ...told].join();
      expect(all).toContain(value);
      // A text that would be a reference in a configuration is in a variable itself.
      if (server === local) expect(all).toMatch(/a \\?"b\\?" \$c \{d\}/);
    });

    it('without a permission the agent uses the tools of trusted servers only', () => {
      const configured = (trusted: boolean, permissionMode: PermissionMode) =>
        kind
          .launch(context({ mcpServers: [{ ...local, isTrusted: trusted }], permissionMode }))
          .files.map(({ content }) => content);
      // Claude Code asks for each tool, and other programs of the protocol decide themselves.
      if (kind.name === 'claude-code' || kind.program === null) return;
      expect(configured(true, 'ask')).not.toEqual(configured(false, 'ask'));
      expect(configured(true, 'auto')).toEqual(configured(false, 'auto'));
    });

    it('the model gets pictures beside the first words', async () => {
      const path = '/sandbox/attachments/a.png';
      const images = [{ path, mediaType: 'image/png', content: Buffer.from('pixels') }];
      const given = context({ images });
      const written: string[] = [];
      const io = {
        write: (text: string) => void written.push(...text.trimEnd().split('\n')),
        endInput: noop,
        emit: noop,
      };
      const conversation = kind.converse(io, given);
      conversation.start();
      // Each protocol reads its own answers, and none of the others.
      const capabilities = { promptCapabilities: { image: true } };
      const result = {
        protocolVersion: 1,
        agentCapabilities: capabilities,
        sessionId: 's',
        thread: { id: 's' },
      };
      const isPrompt = (line: string) => line.includes('greeting');
      for (let turn = 0, read = 0; turn < 500 && !written.some(isPrompt); turn += 1) {
        for (; read < written.length; read += 1) {
          const { id } = JSON.parse(written[read] ?? '{}') as { id?: number };
          if (id === undefined) continue;
          // Codex writes no member `jsonrpc`, and does not mind one.
          conversation.line(JSON.stringify({ jsonrpc: '2.0', id, result }));
        }
        await nextTick();
      }
      await conversation.ended({ exitCode: 0, signal: null });
      const prompt = written.find(isPrompt) ?? '';
      const inline = Buffer.from('pixels').toString('base64');
      expect(prompt).toContain(kind.name === 'codex' ? path : inline);
    });

    it('the program reaches the model proxy with its token', () => {
      const { env, files } = kind.launch(context());
      const given = `${JSON.stringify(env)}${files.map(({ content }) => content).join('')}`;
      expect(given).toContain('http://127.0.0.1:4000/');
      expect(given).toContain('token-of-the-run');
    });

    it('its files are below the state folder', () => {
      const { files } = kind.launch(context({ mcpServers, instructions: 'Be kind.' }));
      const outside = files.filter(({ path }) => !path.startsWith('/sandbox/state/'));
      expect(outside).toEqual([]);
    });

    it('an unknown setting is refused by its name', () => {
      const settings = { ...options.settings, colour: 'red' };
      expect(() => kind.launch(context({ settings }))).toThrow(KindSettingsError);
      expect(() => kind.launch(context({ settings }))).toThrow(/"colour"/);
    });

    it('the state files of a conversation are globs below the state folder', () => {
      const globs = kind.stateFiles('0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee');
      expect(globs.length).toBeGreaterThan(0);
      expect(globs.filter((glob) => /^\/|\.\./.test(glob))).toEqual([]);
    });
  });

  describe(`a recorded session of ${kind.name}`, () => {
    const samples = readSamples(kind.name);

    it('each scenario was recorded', () => {
      expect(samples.map(({ name }) => name).sort()).toEqual([...options.samples].sort());
    });

    if (samples.length === 0) return;
    it.each(samples)('$name', async (sample) => {
      const { events, end, endInputs } = await replay(kind, sample);
      const { expected } = sample;
      const of = <Type extends AgentEvent['type']>(type: Type) =>
        events.filter((event) => event.type === type) as Extract<AgentEvent, { type: Type }>[];
      expect(of('turn_ended').map(({ outcome }) => outcome)).toEqual(expected.turns);
      expect(end).toMatchObject(expected.end);
      const calls = new Set(of('tool_call').map(({ id }) => id));
      expect(calls.size).toBe(expected.tools);
      expect(of('tool_result').map(({ id }) => id)).toEqual([...calls]);
      expect(new Set(of('session').map(({ id }) => id)).size).toBeLessThanOrEqual(1);
      expect(endInputs).toBe(expected.turns.length === 0 ? endInputs : 1);
      expectWholeMessages(events);
      expectKnownSubjects(of('permission'), sample.actions.decision !== undefined);
      const heard = of('heard').flatMap(({ ids }) => ids);
      expect(heard).toEqual(sample.actions.say === undefined ? [] : [SAID]);
      if (end.kind === 'failed') expect(end.message).not.toBe('');
    });
  });
}

function noop(): void {}

/** Rules of a policy find each permission by its class, and by a command or a relative path. */
function expectKnownSubjects(asked: PermissionRequest[], isDecided: boolean): void {
  expect(asked.length > 0).toBe(isDecided);
  for (const { category, subjects, diffs } of asked) {
    expect(['shell', 'edit']).toContain(category);
    if (category === 'edit') expect(subjects).toEqual(['hello.txt']);
    else expect(subjects.join()).toMatch(/^mkdir -p .*hello\.txt/);
    expect(diffs !== undefined).toBe(category === 'edit');
  }
}

/** The pieces of each message make the whole message that follows. */
function expectWholeMessages(events: AgentEvent[]): void {
  let pieces = '';
  for (const event of events) {
    if (event.type !== 'message') continue;
    if (event.delta) pieces += event.text;
    else {
      if (pieces !== '') expect(event.text).toBe(pieces);
      pieces = '';
    }
  }
}

/** Plays a program's lines, and expects the recorded lines to it at their places. */
async function replay(
  kind: AgentKind,
  sample: Sample,
): Promise<{ events: AgentEvent[]; end: AgentEnd; endInputs: number }> {
  const events: AgentEvent[] = [];
  const written: string[] = [];
  let endInputs = 0;
  const done = new Set<string>();
  const conversation = kind.converse(
    {
      write: (text) => void written.push(...text.trimEnd().split('\n')),
      endInput: () => void (endInputs += 1),
      emit: (event) => {
        events.push(event);
        act(event, sample.actions, conversation, done);
      },
    },
    sample.context,
  );
  conversation.start();
  for (const line of sample.lines) {
    if ('in' in line) {
      // The SDK of a protocol answers later, within some turns of the event loop.
      for (let turn = 0; turn < 100 && written.length === 0; turn += 1) await nextTick();
      expect(JSON.parse(written.shift() ?? '{}')).toEqual(JSON.parse(line.in));
    } else if ('out' in line) conversation.line(line.out);
    else conversation.errorLine(line.err);
  }
  const end = await conversation.ended(sample.exit);
  return { events, end, endInputs };
}
