import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Conversation, Turn } from '../support/model-server/index.js';
import { waitFor } from '../support/wait-for.js';
import { AgentGround } from './agents/ground.js';

let ground: AgentGround;

beforeAll(async () => {
  ground = await AgentGround.open('codex');
}, 240_000);
afterEach(() => ground.endTest());
afterAll(() => ground.close());

/** Holds back an answer of the stand-in until it is opened. */
function aGate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), pass: () => opened };
}

describe('the conversation of a task with Codex', () => {
  it('a message is heard after the turn, and another one instead of the rest of a turn', async () => {
    const [first, broken] = [aGate(), aGate()];
    const second = [{ text: 'It breaks off.', beforeChunk: broken.pass }, { text: 'Third.' }];
    const id = await ground.run(() => [{ text: 'First.', beforeChunk: first.pass }, ...second]);
    const untilAsked = (times: number) =>
      waitFor(`request ${times} of the agent`, () => ground.asked().length === times);
    await untilAsked(1);
    const { runId } = await ground.fleet.task(id);
    const attached = ground.drover(['attach', id], 'pipe');
    expect(await ground.drover(['task', 'message', id, 'Now the second.']).ended).toBe(0);
    await ground.worker.said('Message to a run received');
    first.open();
    await untilAsked(2);
    // The stand-in knows only whole answers, so it would repeat the one that broke off.
    second.shift();
    attached.type('!Instead, the third.\n');
    await untilAsked(3);
    // The proxy reads it to its end, and only then ends the session.
    broken.open();
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Third.' });
    const entries = (await ground.logOf(id)).filter(({ event }) =>
      ['agent_message', 'message_delivered'].includes(event),
    );
    expect(entries.map(({ message }) => message)).toEqual([
      'First.',
      'Now the second.',
      'Instead, the third.',
      'Third.',
    ]);
    const { body } = await ground.fleet.api.get<{ items: { state: string }[] }>(
      `/runs/${String(runId)}/messages`,
    );
    expect(body.items.map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(await attached.ended).toBe(0);
    // The agent's words and those of people come through two pipes, whose order is not fixed.
    expect(attached.output).toMatch(/First\.[^]*Third\./);
    expect(attached.output).toMatch(/> Now the second\.[^]*> Instead, the third\./);
    const late = { text: 'Too late.', deliver: 'turn_end' };
    expect((await ground.fleet.api.post(`/runs/${String(runId)}/messages`, late)).status).toBe(409);

    const continued = ground.drover(['task', 'continue', id, 'Now the fourth.']);
    expect(await continued.ended).toBe(0);
    const next = await ground.untilStatus(
      continued.output.trim(),
      'COMPLETED',
      'FAILED',
      'ABORTED',
    );
    expect(next).toMatchObject({ status: 'COMPLETED', continuesId: id });
    // The conversation itself, with the answers of the model, and not a summary of it.
    const words = JSON.stringify(ground.models.requests.at(-1)?.body);
    expect(words).toMatch(/First\.[^]*Third\.[^]*Now the fourth\./);
    expect(words).not.toContain('End of the earlier conversation');
  });

  it('a task pauses after the turn of its agent, and resumes in the same conversation', async () => {
    const first = aGate();
    const id = await ground.run([{ text: 'First.', beforeChunk: first.pass }, { text: 'Second.' }]);
    await waitFor('the first request', () => ground.asked().length === 1);
    expect(await ground.drover(['task', 'pause', id, '--after-turn']).ended).toBe(0);
    await ground.worker.said('Pause after the turn');
    expect(await ground.drover(['task', 'message', id, 'Now the second.']).ended).toBe(0);
    first.open();
    await waitFor(
      'the end of the run',
      async () => (await ground.fleet.task(id))['runId'] === null,
    );
    expect(await ground.fleet.task(id)).toMatchObject({ status: 'PAUSED', pausedFor: 'request' });
    expect((await ground.logOf(id)).map(({ message }) => message)).toContain('First.');
    expect(await ground.drover(['task', 'resume', id]).ended).toBe(0);
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED', 'ABORTED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Second.', retryCount: 0 });
    const words = JSON.stringify(ground.models.requests.at(-1)?.body);
    expect(words).toMatch(/First\.[^]*Now the second\./);
    expect(words).not.toContain('End of the earlier conversation');
  });

  it('another worker resumes the conversation of a killed one, and repeats no recorded call', async () => {
    let isKilled = false;
    const second = aGate();
    const begun: Turn[] = [
      { calls: [{ run: 'echo once >> count.txt' }] },
      { calls: [{ run: 'echo twice' }], beforeChunk: second.pass },
      { text: 'It hangs here.', chunks: 3, hangAfter: 1 },
    ];
    const id = await ground.run((conversation) => (isKilled ? turnsAfter(conversation) : begun), {
      maxRetries: 1,
      retryBackoffSeconds: 0,
    });
    await waitFor('the second request', () => ground.asked().length === 2);
    await ground.untilCallKept(id);
    second.open();
    const said = async (event: string) =>
      (await ground.logOf(id)).flatMap((entry) => (entry.event === event ? [entry.message] : []));
    await waitFor('the record of the second call', async () =>
      (await said('agent_tool_result')).some((text) => text?.includes('twice')),
    );
    // At once: no kept state surely has the call.
    ground.worker.kill('SIGKILL');
    await ground.worker.ended();
    isKilled = true;
    ground.worker = await ground.startWorker('heir');
    const task = await ground.untilStatus(id, 'COMPLETED', 'FAILED');
    expect(task).toMatchObject({ status: 'COMPLETED', summary: 'Counted once.', retryCount: 1 });
    // The heir asks for one call and the end, behind two or three requests of the killed worker.
    const words = JSON.stringify(ground.asked().at(-2)?.body);
    expect(words).toMatch(/Write it into haiku[^]*echo once[^]*Your session was interrupted/);
    expect(words).not.toContain('End of the earlier conversation');
    expect(words).toMatch(/Tool calls of the interrupted run[^]*- done, with [^]*echo twice/);
    expect(await said('agent_resumed')).toEqual(["Resumed the agent's conversation"]);
    expect((await said('agent_tool_result')).at(-1)?.trim()).toBe('once');
  });
});

/** One call more, and the end. */
function turnsAfter({ items }: Conversation): Turn[] {
  const results = items.filter(({ kind }) => kind === 'result');
  const isCounted = results.at(-1)?.text.includes('once') === true;
  const next = isCounted ? { text: 'Counted once.' } : { calls: [{ run: 'cat count.txt' }] };
  // The stand-in takes the turn after as many results.
  return [...results.map(() => ({ calls: [{ run: 'true' }] })), next];
}
