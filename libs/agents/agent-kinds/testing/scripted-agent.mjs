// A program that speaks the Agent Client Protocol, and does as its prompt says, a line a step:
//   write FILE TEXT | say TEXT | ask TITLE | run COMMAND | bare TITLE | recall | prompt | servers | circle TIMES | wait | stop REASON | exit CODE | outlive
// Its conversations are files of its home, one for each, with a line for each prompt.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const CONVERSATIONS = join(process.env.HOME ?? '.', 'conversations');
const fileOf = (sessionId) => join(CONVERSATIONS, `${sessionId}.jsonl`);

const waiting = new Map();
let lastRequest = 0;
let cancel = () => {};
let outlives = false;
let servers = [];

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, content) =>
  send({ method: 'session/update', params: { sessionId, update: content } });

function ask(sessionId, title) {
  const id = `ask-${(lastRequest += 1)}`;
  const rawInput = { title };
  return request(sessionId, { toolCallId: id, title, kind: 'edit', status: 'pending', rawInput });
}

function request(sessionId, toolCall) {
  const id = toolCall.toolCallId;
  const options = [
    { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ];
  send({ id, method: 'session/request_permission', params: { sessionId, options, toolCall } });
  return new Promise((resolve) => waiting.set(id, ({ outcome }) => resolve(outcome.optionId)));
}

const STEPS = {
  write(sessionId, [file, ...words]) {
    const content = `${words.join(' ')}\n`;
    writeFileSync(file, content);
    const call = {
      toolCallId: `write-${(lastRequest += 1)}`,
      title: `Write ${file}`,
      kind: 'edit',
    };
    const diff = { type: 'diff', path: file, oldText: null, newText: content };
    update(sessionId, {
      sessionUpdate: 'tool_call',
      ...call,
      status: 'pending',
      rawInput: { file },
    });
    const done = { ...call, status: 'completed', content: [diff] };
    update(sessionId, { sessionUpdate: 'tool_call_update', ...done });
  },
  say(sessionId, words) {
    for (const word of words) {
      const content = { type: 'text', text: `${word} ` };
      update(sessionId, { sessionUpdate: 'agent_message_chunk', content });
    }
  },
  async ask(sessionId, words) {
    STEPS.say(sessionId, [`answer: ${await ask(sessionId, words.join(' '))}`]);
  },
  /** The request names only the call, which tells its command. */
  async run(sessionId, words) {
    const rawInput = { command: words.join(' ') };
    const toolCallId = `run-${(lastRequest += 1)}`;
    const call = { toolCallId, title: 'Run it', kind: 'execute', rawInput };
    update(sessionId, { sessionUpdate: 'tool_call', ...call, status: 'pending' });
    await request(sessionId, { toolCallId });
  },
  async bare(sessionId, words) {
    const toolCallId = `bare-${(lastRequest += 1)}`;
    await request(sessionId, { toolCallId, title: words.join(' ') });
  },
  /** Says the number of prompts in this conversation. */
  recall(sessionId) {
    const prompts = readFileSync(fileOf(sessionId), 'utf8').trimEnd().split('\n');
    STEPS.say(sessionId, [`prompts: ${prompts.length}`]);
  },
  /** Says the last prompt. */
  prompt(sessionId) {
    const prompts = readFileSync(fileOf(sessionId), 'utf8').trimEnd().split('\n');
    STEPS.say(sessionId, [prompts.at(-1)]);
  },
  /** Reads the same file again and again. */
  circle(sessionId, [times]) {
    for (let i = 0; i < Number(times); i++) {
      const toolCallId = `look-${(lastRequest += 1)}`;
      const call = { toolCallId, title: 'Read a.txt', kind: 'read', rawInput: { path: 'a.txt' } };
      update(sessionId, { sessionUpdate: 'tool_call', ...call, status: 'pending' });
      const content = [{ type: 'content', content: { type: 'text', text: 'the same' } }];
      const done = { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed', content };
      update(sessionId, done);
    }
    return new Promise((resolve) => (cancel = () => resolve('cancelled')));
  },
  servers: (sessionId) => STEPS.say(sessionId, [JSON.stringify(servers)]),
  wait: () => new Promise((resolve) => (cancel = () => resolve('cancelled'))),
  stop: (_sessionId, [reason]) => reason,
  exit: (_sessionId, [code]) => process.exit(Number(code)),
  outlive: () => void (outlives = true),
};

const METHODS = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true },
      promptCapabilities: { image: true },
    },
  }),
  'session/new'({ mcpServers }) {
    servers = mcpServers;
    mkdirSync(CONVERSATIONS, { recursive: true });
    return { sessionId: 'scripted' };
  },
  'session/load'({ sessionId }) {
    if (!existsSync(fileOf(sessionId))) throw new Error(`unknown session ${sessionId}`);
    return {};
  },
  async 'session/prompt'({ sessionId, prompt }) {
    appendFileSync(fileOf(sessionId), `${JSON.stringify(prompt)}\n`);
    const lines = prompt
      .flatMap(({ text }) => text ?? [])
      .join('\n')
      .split('\n');
    for (const line of lines.filter((each) => each.trim() !== '')) {
      const [step, ...words] = line.trim().split(' ');
      const stopReason = await STEPS[step]?.(sessionId, words);
      if (typeof stopReason === 'string') return { stopReason };
    }
    return { stopReason: 'end_turn' };
  },
};

async function perform(id, method, params) {
  try {
    send({ id, result: await method(params) });
  } catch (error) {
    send({ id, error: { code: -32602, message: error.message } });
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params, result } = JSON.parse(line);
  if (method === undefined) waiting.get(id)?.(result);
  else if (method === 'session/cancel') cancel();
  else if (METHODS[method] === undefined) send({ id, error: { code: -32601, message: method } });
  else void perform(id, METHODS[method], params);
}
if (outlives) setInterval(() => {}, 60_000);
