import { setImmediate as nextTick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { AgentEvent } from '../index.js';
import { aContext, describeKind } from '../testing/kind-conformance.js';
import { acp } from './acp.js';
import { claudeCode } from './claude-code.js';
import { codex } from './codex.js';
import { geminiCli } from './gemini-cli.js';
import { KINDS } from './index.js';
import { opencode } from './opencode.js';
import { qwenCode } from './qwen-code.js';

describeKind(claudeCode, {
  samples: [
    'ask-allow',
    'ask-deny',
    'denied',
    'interrupt',
    'killed',
    'no-conversation',
    'read-only',
    'resume',
    'two-turns',
    'write',
  ],
});
describeKind(codex, {
  samples: [
    'ask-allow',
    'ask-deny',
    'context-full',
    'denied',
    'interrupt',
    'killed',
    'no-conversation',
    'provider',
    'rate-limited',
    'read-only',
    'resume',
    'two-turns',
    'write',
  ],
});
describeKind(geminiCli, {
  samples: ['ask-allow', 'denied', 'interrupt', 'no-conversation', 'resume', 'write'],
});
describeKind(opencode, { samples: ['resume', 'write'] });
describeKind(qwenCode, { samples: ['resume', 'write'] });
describeKind(acp, { settings: { command: ['/opt/agent'] }, samples: [] });

describe('the kinds', () => {
  it('each kind has a name of its own', () => {
    const names = KINDS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
  });

  it('each package has an exact version', () => {
    const versions = KINDS.flatMap(({ program }) => program?.npm.version ?? []);
    expect(versions.filter((version) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });
});

describe('the command of Claude Code', () => {
  const commandFor = (changes: Parameters<typeof aContext>[0]) =>
    claudeCode.launch(aContext(changes)).command;

  it('a new conversation has the id of the session', () => {
    expect(commandFor({})).toContain('--session-id=00000000-0000-4000-8000-000000000001');
  });

  it('a resumed conversation has its own id', () => {
    const command = commandFor({ resume: 'abc' });
    expect(command).toContain('--resume=abc');
    expect(command.join(' ')).not.toContain('--session-id');
  });

  it('only sessions with decisions have a tool that asks', () => {
    expect(commandFor({})).toContain('--permission-mode=bypassPermissions');
    expect(commandFor({})).not.toContain('--permission-prompt-tool=stdio');
    expect(commandFor({ permissionMode: 'read-only' })).toContain('--permission-prompt-tool=stdio');
  });

  it('as root it learns that it is in a sandbox', () => {
    expect(claudeCode.launch(aContext({ isRoot: true })).env).toHaveProperty('IS_SANDBOX', '1');
    expect(claudeCode.launch(aContext()).env).not.toHaveProperty('IS_SANDBOX');
  });
});

it('a patch of Claude Code without lines is no error', () => {
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent) => void events.push(event);
  const io = { emit, write: () => undefined, endInput: () => undefined };
  const line = {
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: '1', content: 'ok' }] },
    tool_use_result: { filePath: 'a.txt', structuredPatch: [{}] },
  };
  claudeCode.converse(io, aContext()).line(JSON.stringify(line));
  expect(events).toMatchObject([{ type: 'tool_result', diffs: [{ path: 'a.txt' }] }]);
});

it('a program that connects to no servers over HTTP gets none, and the log says so', async () => {
  const written: string[] = [];
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent) => void events.push(event);
  const write = (text: string) => void written.push(text);
  const mcpServers = [
    { name: 'drover', isTrusted: true, url: 'http://127.0.0.1:1/mcp', headers: {} },
  ];
  const context = aContext({ settings: { command: ['/opt/agent'] }, mcpServers });
  const conversation = acp.converse({ emit, write, endInput: () => undefined }, context);
  conversation.start();
  const result = { protocolVersion: 1, agentCapabilities: {} };
  conversation.line(JSON.stringify({ jsonrpc: '2.0', id: 0, result }));
  for (let turn = 0; turn < 100; turn += 1) await nextTick();
  await conversation.ended({ exitCode: 0, signal: null });
  expect(JSON.parse(written[1] ?? '{}')).toMatchObject({
    method: 'session/new',
    params: { mcpServers: [] },
  });
  const text = expect.stringContaining('no tools of drover');
  expect(events).toContainEqual({ type: 'notice', level: 'warning', text });
});

describe('the configuration of Codex', () => {
  it('texts of the caller cannot end a value', () => {
    const model = 'a"\nbase_url = "http://elsewhere"';
    const [config] = codex.launch(aContext({ model })).files;
    expect(config!.content).toMatch(/^model = "a\\"\\nbase_url = \\"http:\/\/elsewhere\\""\n/);
  });
});
