import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';
import { Log } from '#lib/agent-host';
import { kindOf } from '#lib/agent-kinds';
import { newId } from '#lib/kernel';
import { type AgentState, packState, unpackState } from '#lib/agent-sessions';
import { Drivers, type RuntimeDriver } from '#lib/session-runtime';
import { waitFor } from '../../../test/support/wait-for.js';
import type { AttachedFile, RunPrompt } from '../api/types.js';
import type { JobReports } from '../execution/job.js';
import { makeJob, type TestJob } from '../testing/job.js';
import { startAgent } from './agent-execution.js';

const ROOT = join(import.meta.dirname, '../../..');
const AGENT = join(ROOT, 'libs/agents/agent-kinds/testing/scripted-agent.mjs');

let made: TestJob;
let drivers: Drivers;
let driver: RuntimeDriver;
/** The state at the server. */
let kept: Uint8Array | undefined;
/** The starts of sessions that asked for a prompt. */
let starts: RunPrompt[];
let learned: string[];
let attached: AttachedFile[] | 'too large';
/** The artifacts at the server, by name. */
let artifacts: Map<string, string>;
let circles: Parameters<typeof startAgent>[1]['circles'];
let code: Parameters<typeof startAgent>[1]['code'];

beforeEach(() => {
  made = makeJob({ network: 'host' });
  made.job.run.network = 'host';
  [kept, starts, learned, attached] = [undefined, [], [], []];
  artifacts = new Map();
  circles = 'end';
  code = undefined;
  const searchPath = process.env['PATH'] ?? '';
  drivers = new Drivers({ dir: made.workDir }, { process: { searchPath } });
  driver = drivers.choose(undefined, 'test');
});
afterEach(() => {
  for (const one of drivers.all) one.close();
  made.remove();
});

/** A run whose agent does as its instructions say. Each has the same folder, as in a sandbox. */
async function start(instructions: string, prompt: JobReports['prompt'] = promptOf(instructions)) {
  await driver.remove(made.job.run.id);
  made.job.run.generation = kept ? 2 : 1;
  const agent = { kind: 'acp', settings: { command: [process.execPath, AGENT] } };
  const task = { ...made.job.task, agent, instructions };
  const api = {
    agentState: () => Promise.resolve(kept && Buffer.from(kept)),
    saveAgentState: (_: string, content: Uint8Array) => {
      kept = content;
      return Promise.resolve();
    },
    attachments: () => Promise.resolve(attached),
    saveArtifact: (_: string, { name, content }: { name: string; content: Buffer }) =>
      Promise.resolve(artifacts.set(name, content.toString())),
  };
  const kind = kindOf('acp')!;
  const report = { ...made.job.report, prompt };
  return startAgent({ ...made.job, task, report } as unknown as TestJob['job'], {
    driver,
    api: api as unknown as Parameters<typeof startAgent>[1]['api'],
    offered: () => ({ kind, program: [], folders: [] }),
    log: new Log(() => undefined),
    passedEnv: {},
    circles,
    code,
    limit: pLimit(1),
    learn: (secrets) => void learned.push(...secrets),
  });
}

/** The prompts of the server, in short: the instructions, or the news for a resumed conversation. */
function promptOf(instructions: string) {
  return (begun: RunPrompt) => {
    starts.push(begun);
    const isResumed = begun.conversation === 'resumed';
    return Promise.resolve({ prompt: isResumed ? 'Your session was interrupted.' : instructions });
  };
}

const run = async (...given: Parameters<typeof start>) => (await start(...given)).exit;
const said = (event: string) =>
  made.entries.filter((entry) => entry.event === event).map(({ message }) => message);

async function change(with_: (state: AgentState) => AgentState): Promise<void> {
  kept = await packState(with_(await unpackState(kept!)));
}

test('the agent has the MCP servers of its project, and no log has their secrets', async () => {
  const files = { name: 'files', command: 'files', args: ['-v'], env: { KEY: 'key-of-files' } };
  const issues = { name: 'issues', url: 'https://a.example', headers: { Key: 'key-of-issues' } };
  const words = { prompt: 'servers', mcpServers: [files, issues] };
  await run('servers', () => Promise.resolve(words));
  const [told] = said('agent_message');
  expect(told).toMatch(/"name":"files","command":"files","args":\["-v"\].*https:\/\/a\.example/);
  expect(told).toMatch(/"value":"\[redacted\]".*"value":"\[redacted\]"/);
  expect(JSON.stringify(made.entries)).not.toMatch(/key-of-(files|issues)/);
  expect(learned).toEqual(['key-of-files', 'key-of-issues']);
});

test('an agent with a repository starts in its files, and its state has none of them', async () => {
  let touches = 0;
  code = {
    touched: () => void (touches += 1),
    surroundings: () =>
      Promise.resolve({
        env: { FLAVOUR: 'sweet' },
        reach: { network: 'host', allowedHosts: [] },
        otherFiles: [],
        services: [],
        spec: {
          samePath: true,
          prepare: (work: string) => writeFile(join(work, 'checked-out.txt'), 'of the branch'),
        },
      }),
  } as unknown as typeof code;
  expect(await run('say Hello')).toMatchObject({ kind: 'succeeded' });
  const found = await readFile(join(made.job.folder.work, 'checked-out.txt'), 'utf8');
  expect([found, touches > 0]).toEqual(['of the branch', true]);
  const { files } = await unpackState(kept!);
  expect(files.filter(({ name }) => name.startsWith('work/'))).toEqual([]);
});

describe('an agent that goes in circles', () => {
  test('it is told, interrupted and ended, and its retry begins a new conversation', async () => {
    const outcome = await run('circle 40');
    const evidence = '"Read a.txt" gave the same result 18 times';
    expect(outcome).toMatchObject({
      kind: 'failed',
      error: { class: 'stuck', retryable: true, message: expect.stringContaining(evidence) },
    });
    expect(said('agent_circle')).toEqual([
      expect.stringContaining('the same result 8 times. It is told so.'),
      expect.stringContaining('It is interrupted.'),
      expect.stringContaining(`${evidence}. Its run ends.`),
    ]);
    expect(await run('say Hello')).toMatchObject({ kind: 'succeeded' });
    expect(starts.at(-1)).toMatchObject({ conversation: 'new' });
    expect(said('agent_restarted').join()).toContain(`went in circles. ${evidence}`);
  });

  test('a worker can leave it alone', async () => {
    circles = 'tell';
    const running = await start('circle 40');
    await waitFor('three warnings', () => said('agent_circle').length === 3);
    running.stop(1_000);
    expect((await running.exit).kind).not.toBe('succeeded');
    expect(said('agent_circle').join()).not.toMatch(/interrupted|ends/);
  });
});

describe('a failed session', () => {
  test.each([
    ['stop refusal', 'refused', false],
    ['stop max_turn_requests', 'turn_limit', false],
    ['stop max_tokens', 'context_full', true],
    ['exit 3', 'crash', true],
  ])('"%s" fails the run with the class "%s"', async (instructions, failure, retryable) => {
    const error = { class: failure, retryable };
    expect(await run(instructions)).toMatchObject({ kind: 'failed', error });
  });

  test('the retry after a full context begins a new conversation', async () => {
    await run('say Hello\nstop max_tokens');
    expect(await run('say Hello')).toMatchObject({ kind: 'succeeded' });
    expect(starts.at(-1)).toMatchObject({ conversation: 'new' });
    expect(said('agent_restarted').join()).toContain('no longer fits into the context');
  });
});

describe('a task with attachments', () => {
  const picture = { name: 'shots/a.png', mediaType: 'image/png', content: Buffer.from('pixels') };
  const notes = { name: 'notes.txt', mediaType: 'text/plain', content: Buffer.from('words') };
  beforeEach(() => void (made.job.task.inputContext['attachments'] = newId()));

  test('its files are beside the working folder, and the first prompt names them', async () => {
    attached = [notes, picture];
    await run('recall\nprompt');
    const { root, work } = made.job.folder;
    const path = join(root, 'attachments/shots/a.png');
    expect(readFileSync(path, 'utf8')).toBe('pixels');
    expect(readdirSync(work)).not.toContain('attachments');
    const [, told] = said('agent_message').join('').split('prompts: 1');
    expect(told).toContain(`- \\"${path}\\" (image/png)`);
    expect(told).toContain(`{"type":"image","mimeType":"image/png","data":"cGl4ZWxz"}`);
    expect(said('agent_attachments')).toEqual(['Attached files: notes.txt, shots/a.png']);

    await run('recall');
    expect(readFileSync(path, 'utf8')).toBe('pixels');
    const { files } = await unpackState(kept!);
    const [conversation] = files.filter(({ name }) => name.endsWith('scripted.jsonl'));
    const prompts = conversation!.content.toString().trimEnd().split('\n');
    expect(prompts.map((prompt) => prompt.includes('Attached files'))).toEqual([true, false]);
    expect(files.filter(({ name }) => name.includes('attachments'))).toEqual([]);
  });

  test('the files of a message reach the running agent, and lie there in later runs', async () => {
    delete made.job.task.inputContext['attachments'];
    attached = [notes, picture];
    const running = await start('write first.txt x\nwait');
    await waitFor('the first call', () => said('agent_tool').length > 0);
    const id = newId();
    const message = { id: 'm', questionId: null, type: 'message', position: 1 };
    const words = { text: 'recall\nprompt', data: { attachments: id } };
    running.hear?.({ ...message, ...words, deliver: 'interrupt' } as never);
    expect(await running.exit).toMatchObject({ kind: 'succeeded' });
    const path = join(made.job.folder.root, `attachments/${id}/shots/a.png`);
    const [, told] = said('agent_message').join('').split('prompts: 2');
    expect(told).toContain(`Attached files:\\n\\n- \\"${path.replace('shots/a.png', 'notes.txt')}`);
    expect(told).toContain(`{"type":"image","mimeType":"image/png","data":"cGl4ZWxz"}`);
    expect(readFileSync(path, 'utf8')).toBe('pixels');

    await run('', () => Promise.resolve({ prompt: 'prompt', attachments: [id] }));
    expect(readFileSync(path, 'utf8')).toBe('pixels');
    const later = said('agent_message').at(-1);
    expect(later).toContain(
      `## Files of messages\\n\\n- \\"${path.replace('shots/a.png', 'notes')}`,
    );
    attached = 'too large';
    const lost = await run('', () => Promise.resolve({ prompt: 'say Hello', attachments: [id] }));
    expect(lost).toMatchObject({ kind: 'succeeded' });
    expect(said('agent_attachments')).toEqual([expect.stringMatching(/more than 104857600 bytes/)]);
  });

  test('a task without its files begins, and the log says so', async () => {
    expect(await run('say Hello')).toMatchObject({ kind: 'succeeded' });
    expect(said('agent_attachments')).toEqual(['The task names attachments, but there are none']);
  });

  test.each([
    [
      'a malformed id',
      () => (made.job.task.inputContext['attachments'] = 'x'),
      'The id of attachments must be a UUID',
    ],
    ['too many bytes', () => (attached = 'too large'), 'more than 104857600 bytes'],
  ])('%s fails it', async (_, change_, message) => {
    change_();
    await expect(start('say Hello')).rejects.toThrow(message);
  });
});

test('a run goes on in the conversation and with the files of the one before', async () => {
  const first = `write ${join(made.job.folder.work, 'draft.txt')} queues\nsay First.`;
  expect(await run(first)).toMatchObject({ kind: 'succeeded', summary: 'First. ' });
  await change((state) => {
    const name = 'work/src/run.sh';
    const files = [...state.files, { name, content: Buffer.from('#!'), isExecutable: true }];
    return { ...state, files };
  });
  expect(said('agent_resumed')).toEqual([]);
  const second = await run('recall');
  // Its prompt says nothing but that it goes on, so the agent has nothing to do.
  expect(second).toMatchObject({ kind: 'succeeded' });
  expect(said('agent_resumed')).toEqual(["Resumed the agent's conversation"]);
  expect(said('agent_restarted')).toEqual([]);
  expect(readFileSync(join(made.job.folder.work, 'draft.txt'), 'utf8')).toBe('queues\n');
  // The calls of the last seconds are named in any case, until this run has made one.
  expect(starts.map(({ upTo }) => upTo)).toEqual([undefined, { runId: made.job.run.id, calls: 0 }]);
  expect(made.entries.flatMap(({ event, details }) => (details ? [[event, details]] : []))).toEqual(
    [
      ['agent_tool', { call: 1, tool: 'edit', input: expect.stringContaining('draft.txt') }],
      ['agent_tool_result', { call: 1 }],
    ],
  );
  expect(said('agent_tool_result')).toEqual(['(no output)']);
  // The checkpoint belongs to the agent alone.
  expect(made.progress.filter(({ checkpointData }) => checkpointData)).toEqual([]);
  const state = await unpackState(kept!);
  const [conversation] = state.files.filter(({ name }) => name.endsWith('scripted.jsonl'));
  expect(conversation?.content.toString()).toMatch(/First\.[^]*Your session was interrupted/);
  const script = state.files.find(({ name }) => name === 'work/src/run.sh');
  expect(script).toMatchObject({ isExecutable: true });
});

test('a run that pauses after its turn keeps its conversation, and hears nothing more', async () => {
  const running = await start('say First.\nwrite now.txt now\nwait');
  await waitFor('the first words', () => said('agent_tool').length > 0);
  running.pauseAfterTurn?.(true);
  const message = { id: 'm', questionId: null, type: 'message', text: 'say Second.', data: null };
  running.hear?.({ ...message, deliver: 'interrupt', position: 1 } as never);
  expect(await running.exit).toEqual({ kind: 'paused' });
  expect(await run('recall')).toMatchObject({ kind: 'succeeded' });
  expect(said('agent_resumed')).toEqual(["Resumed the agent's conversation"]);
  expect(said('agent_message')).toEqual(['First. ']);
});

test('a text that is too long for the log is kept whole, without its secrets', async () => {
  const words = `${'word '.repeat(3_000)}secret-of-the-task`;
  await run(`say ${words}`);
  const [entry] = made.entries.filter(({ event }) => event === 'agent_message');
  expect(entry!.message).toMatch(/more characters/);
  const name = '.drover/transcript/1.txt';
  expect(entry!.details).toEqual({ artifact: name });
  expect([...artifacts.keys()]).toEqual([name]);
  expect(artifacts.get(name)).toBe(`${'word '.repeat(3_000)}[redacted] `);
});

test('an input of a tool call that is too long for the log is kept whole, without its secrets', async () => {
  const words = `${'word '.repeat(3_000)}secret-of-the-task`;
  await run(`ask ${words}`);
  const [entry] = made.entries.filter(({ event }) => event === 'agent_tool');
  const { input, inputArtifact } = entry!.details as Record<string, string>;
  expect(input).toMatch(/^\{"title":"word .*more characters/);
  const whole = { title: `${'word '.repeat(3_000)}[redacted]` };
  expect(JSON.parse(artifacts.get(inputArtifact ?? '') ?? '')).toEqual(whole);
});

test('a state is kept while the agent works, and the last one after a kill of its processes', async () => {
  const running = await start('say Hello.\nwait');
  const whole = async () => (kept ? (await unpackState(kept)).conversation : undefined);
  await waitFor('the state of the turn', async () => (await whole()) === 'scripted');
  await driver.end(made.job.run.id);
  expect(await running.exit).toMatchObject({ kind: 'failed' });
  expect(await whole()).toBe('scripted');
});

test('a conversation that the program refuses is replaced by one with a summary', async () => {
  await run('say First.');
  await change((state) => ({
    ...state,
    conversation: 'another',
    files: [
      ...state.files,
      { name: 'work/kept.txt', content: Buffer.from('x'), isExecutable: false },
    ],
  }));
  const running = await start('recall');
  running.hear?.({
    id: 'message',
    questionId: null,
    deliver: 'turn_end',
    type: 'message',
    text: 'say Heard.',
    data: null,
    position: 1,
  } as never);
  expect(await running.exit).toMatchObject({ kind: 'succeeded', summary: 'prompts: 1 Heard. ' });
  expect(said('agent_resumed')).toEqual([]);
  expect(said('agent_restarted')).toEqual([
    'Started a new conversation with a summary: The agent cannot resume it: unknown session another',
  ]);
  expect(readFileSync(join(made.job.folder.work, 'kept.txt'), 'utf8')).toBe('x');
  expect((await unpackState(kept!)).conversation).toBe('scripted');
});

test('a run that cannot begin anew leaves the kept state as it is', async () => {
  await run('say First.');
  await change((state) => ({ ...state, conversation: 'another' }));
  const before = kept;
  const prompt = ({ conversation }: RunPrompt) =>
    conversation === 'new'
      ? Promise.reject(new Error('no prompt'))
      : Promise.resolve({ prompt: 'recall' });
  expect(await run('recall', prompt)).toMatchObject({
    kind: 'failed',
    error: { message: 'no prompt' },
  });
  expect(kept).toBe(before);
});

test('a state that is cut or of another path costs the conversation, and not the run', async () => {
  await run('say First.');
  const whole = kept;
  kept = kept!.slice(0, 40);
  expect(await run('recall')).toMatchObject({ summary: 'prompts: 1 ' });
  kept = whole;
  await change((state) => ({ ...state, workDir: '/elsewhere' }));
  expect(await run('recall')).toMatchObject({ summary: 'prompts: 1 ' });
  expect(said('agent_restarted')).toEqual([
    expect.stringMatching(/cannot be read: .*unexpected end of file/),
    expect.stringMatching(/resumes only at the same path/),
  ]);
});

test('no file of a state leaves the folders of its session', async () => {
  const files = (name: string) => [{ name, content: Buffer.from('x'), isExecutable: false }];
  const state = { taskId: '', kind: 'acp', conversation: 'a', workDir: '/', lost: [] };
  for (const name of ['../x', 'work/../x', '/x', 'work', 'work//x', 'input.json', 'state/a\0']) {
    const packed = await packState({ ...state, files: files(name) });
    await expect(unpackState(packed)).rejects.toThrow('It has the file');
  }
});
