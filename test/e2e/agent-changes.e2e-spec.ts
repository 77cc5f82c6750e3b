import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Conversation, sumOf, type Turn } from '../support/model-server/index.js';
import { expectUsage } from '../support/usage.js';
import { waitFor } from '../support/wait-for.js';
import { AgentGround, KEY, MODEL } from './agents/ground.js';

/** Changes of real coding agents, from the command line to the branch of a local repository. */

interface Change {
  id: string;
  state: string;
  branch: string;
  revision: number;
  reviews: { kind: string; verdict: string; body: string }[];
}

let ground: AgentGround;
let project: string;

beforeAll(async () => {
  ground = await AgentGround.open('codex', 'gemini-cli');
  project = join(ground.fleet.folder, 'my-project');
  mkdirSync(project);
  git('init', '--quiet', '--initial-branch', 'main');
  const test = 'grep -q W01 week.txt || { echo "week.txt names no W01"; exit 1; }\n';
  writeFileSync(join(project, 'test.sh'), test);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Begin');
}, 240_000);
afterEach(() => ground.endTest());
afterAll(() => ground.close());

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: project, encoding: 'utf8' }).trim();
}

async function drover(...words: string[]): Promise<string> {
  const command = ground.drover(words);
  const code = await command.ended;
  if (code !== 0) throw new Error(`${words.join(' ')}: ${code} ${command.output}`);
  return command.output;
}

async function untilInReview(id: string, revision: number): Promise<Change> {
  return waitFor(`revision ${revision} in review`, async () => {
    const { body } = await ground.fleet.api.get<Change>(`/changes/${id}`);
    return body.state === 'IN_REVIEW' && body.revision === revision && body;
  });
}

/** The words of the last request that the agent sent. */
const lastWords = () => JSON.stringify(ground.asked().at(-1)?.body);

describe('a change of the coding agent Codex', () => {
  it('outlives its host, a red proof and a review in one conversation, and is merged', async () => {
    let isKilled = false;
    const never = new Promise<void>(() => undefined);
    const message = 'Write the first week';
    const begin =
      `echo 2026-W1 >week.txt && git add . && git commit -qm '${message}' && git push -q && ` +
      'echo draft >notes.txt';
    const look = "git log -1 --format='on top of %s' && git status --porcelain && rm notes.txt";
    const turns: Turn[] = [
      { calls: [{ run: begin }] },
      { calls: [{ run: look }], beforeChunk: () => (isKilled ? undefined : never) },
      { text: 'The week is written.' },
      { calls: [{ run: 'echo 2026-W01 >week.txt' }] },
      { text: 'The week has two digits.' },
      { calls: [{ tool: 'get_change', input: {} }] },
      { calls: [{ run: 'echo "2026-W01 (ISO)" >week.txt' }] },
      { text: 'The week names its norm.' },
    ];
    await ground.serve(turns);
    await drover('repo', 'add', project, '--name', 'shop', '--accept', 'sh test.sh');
    const words = ['run', '--repo', 'shop', '--agent', `codex:${MODEL}`, 'Write the first week'];
    const running = ground.drover(words);
    const [, id = ''] = await running.complains(/drover: task (\S+)/);
    const kept = `refs/drover/work/${id}`;
    await waitFor('the files of the session at the repository', () =>
      git('for-each-ref', kept) === '' ? undefined : git('show', `${kept}:notes.txt`) === 'draft',
    );
    await waitFor('the second request', () => ground.asked().length === 2);
    await ground.untilCallKept(id);
    expect(git('log', '-1', '--format=%an %s', `codex/${id}`)).toBe(`codex ${message}`);
    ground.worker.kill('SIGKILL');
    await ground.worker.ended();
    isKilled = true;
    ground.worker = await ground.startWorker('heir');

    expect([await running.ended, running.output]).toEqual([0, expect.stringContaining(id)]);
    const proven = await untilInReview(id, 2);
    expect(proven.reviews).toMatchObject([
      { kind: 'proof', verdict: 'red', body: expect.stringContaining('names no W01') as unknown },
      { kind: 'proof', verdict: 'green' },
    ]);
    const entries = await ground.logOf(id);
    const notes = entries.filter(({ event }) => event === 'agent_tool_result');
    expect(notes.map((note) => note.message).join('\n')).toContain(
      `on top of ${message}\n?? notes.txt`,
    );
    expect(lastWords()).toMatch(
      /Your session was interrupted[^]*written[^]*week\.txt names no W01/,
    );

    const remark = 'week.txt:1:Name the norm as well.';
    await drover('review', 'request-changes', id, 'Almost.', '--comment', remark);
    await untilInReview(id, 3);
    expect(lastWords()).toMatch(/two digits[^]*Almost\.[^]*week\.txt[^]*Name the norm as well\./);
    expect(lastWords()).not.toContain('End of the earlier conversation');
    expect(await drover('review', 'diff', id)).toContain('+2026-W01 (ISO)');
    await drover('review', 'approve', id);
    await drover('task', 'watch', id);
    expect(git('show', 'HEAD:week.txt')).toBe('2026-W01 (ISO)');
    expect(git('log', '--format=%an %(trailers:key=Drover-Task,valueonly)').trim()).toBe(
      `codex ${id}\n\nAda`,
    );
    await waitFor('the removal of its refs', () => {
      return git('for-each-ref', '--format=%(refname)') === 'refs/heads/main';
    });
    expect(ground.asked().map(({ headers }) => headers['authorization'])).not.toContain(undefined);
    expect(JSON.stringify([entries, ground.asked().map(({ body }) => body)])).not.toContain(KEY);

    // The killed host has the usage of its answers on its disk, and not that of the last request.
    const back = await ground.startWorker('agents');
    const answers = ground.models.requests.filter(({ isBrokenOff }) => !isBrokenOff);
    const served = sumOf(answers);
    await waitFor('the usage of the killed host', async () => {
      const { rows } = await ground.fleet.db.owner.query<{ count: string }>(
        'SELECT count(*) FROM agent_usage_logs WHERE task_id = $1',
        [id],
      );
      return Number(rows[0]?.count) >= served.requests;
    });
    await expectUsage(ground.fleet, id, served);
    await back.stop();
  });
});

describe('a change with the coding agent Codex', () => {
  it('is continued by a message, and after its merge in a new task on a branch of its own', async () => {
    let isSent: () => void = () => undefined;
    const sent = new Promise<void>((resolve) => (isSent = resolve));
    const view = '.worker-state/messages/orchestrator.jsonl';
    const look = `for i in 1 2 3 4 5; do grep -s capitals ${view} && break; sleep 1; done`;
    await ground.serve([
      { calls: [{ run: look }], beforeChunk: () => sent },
      { text: 'I see a message.' },
      { calls: [{ run: 'echo JANUARY >month.txt' }] },
      { text: 'The month is written.' },
      { calls: [{ run: 'echo 2026-01 >>month.txt' }] },
      { text: 'The month has a number.' },
    ]);
    await drover('repo', 'add', project, '--name', 'months', '--accept', 'cat month.txt');
    const words = ['run', '--repo', 'months', '--agent', `codex:${MODEL}`, 'Write the month'];
    const running = ground.drover(words);
    const [, id = ''] = await running.complains(/drover: task (\S+)/);
    await waitFor('the first request', () => ground.asked().length === 1);
    expect((await drover('task', 'continue', id, 'Write it in capitals')).trim()).toBe(id);
    await ground.worker.said('Message to a run received');
    isSent();
    expect([await running.ended, running.output]).toEqual([0, expect.stringContaining(id)]);
    const { branch } = await untilInReview(id, 1);
    const log = (await ground.logOf(id)).map(({ message }) => message).join('\n');
    expect(log).toMatch(/"type":"[a-z]+","task":"[\w-]+","text":"Write it in capitals"/);
    await drover('review', 'approve', id);
    await drover('task', 'watch', id);
    expect(git('show', 'HEAD:month.txt')).toBe('JANUARY');

    const next = (await drover('task', 'continue', id, 'Add its number')).trim();
    const second = await untilInReview(next, 1);
    expect(second.branch).not.toBe(branch);
    expect(git('show', `${second.branch}:month.txt`)).toBe('JANUARY\n2026-01');
    expect(lastWords()).toMatch(/in capitals[^]*The month is written\.[^]*Add its number/);
    expect(lastWords()).not.toContain('End of the earlier conversation');
    await drover('change', 'reset', next);
  });

  it('is reviewed by an agent, which sends it back and then approves it', async () => {
    const comments = [{ path: 'day.txt', line: 1, text: 'Name the second day.' }];
    await ground.serve(({ prompt }) => {
      const verdict = prompt.includes('+second')
        ? { verdict: 'approve', body: 'Good.' }
        : { verdict: 'request_changes', body: 'Nearly.', comments };
      return [{ text: `I read it.\n\n\`\`\`json\n${JSON.stringify(verdict)}\n\`\`\`` }];
    });
    const policy = ['--review', 'agent', '--reviewer', `codex:${MODEL}`];
    await drover('repo', 'add', project, '--name', 'days', '--accept', 'cat day.txt', ...policy);
    const script = 'if test -f day.txt; then echo second; else echo first; fi >new; mv new day.txt';
    const work = ['run', '--repo', 'days', '--wait', 'merged', '--', 'sh', '-c', script];
    const running = ground.drover(work);
    const [, id = ''] = await running.complains(/drover: task (\S+)/);
    expect([await running.ended, running.output]).toEqual([0, expect.anything()]);
    const { body } = await ground.fleet.api.get<Change & { reviewTaskId: string }>(
      `/changes/${id}`,
    );
    const author = expect.stringMatching(/^agent:/) as unknown;
    expect(body.reviews).toMatchObject([
      { kind: 'proof', verdict: 'green' },
      { kind: 'review', verdict: 'changes_requested', body: 'Nearly.', author, comments },
      { kind: 'proof', verdict: 'green' },
      { kind: 'review', verdict: 'approved', body: 'Good.', author },
    ]);
    expect(git('show', 'HEAD:day.txt')).toBe('second');
    expect(await ground.fleet.task(body.reviewTaskId)).toMatchObject({
      status: 'COMPLETED',
      agent: { kind: 'codex', permissionMode: 'read-only' },
    });
  });
});

describe('a change of the coding agent Gemini CLI', () => {
  it('mends a red proof in its conversation and folder, and is merged without a review', async () => {
    const first: Turn[] = [
      { calls: [{ write: 'year.txt', content: '26\n' }] },
      { text: 'The year is written.' },
    ];
    await ground.serve((conversation) => {
      return conversation.later.includes('is no year') ? turnsOfMending(conversation) : first;
    }, 'gemini');
    const accept = 'grep -q 2026 year.txt || { echo "year.txt is no year"; exit 1; }';
    const settings = ['--accept', accept, '--review', 'none', '--path', 'dates/years'];
    await drover('repo', 'add', project, '--name', 'year', ...settings);
    const agent = ['--agent', 'gemini-cli:gemini-2.5-pro', '--wait', 'merged'];
    const running = ground.drover(['run', '--repo', 'year', ...agent, 'Write the year']);
    const [, id = ''] = await running.complains(/drover: task (\S+)/);
    expect([await running.ended, running.output]).toEqual([
      0,
      expect.stringMatching(/The year is written\.[^]*The year has four digits\./),
    ]);
    expect(git('log', '-1', '--format=%an %s')).toBe('gemini-cli Write the year');
    expect(git('show', 'HEAD:dates/years/year.txt')).toBe('2026');
    const words = JSON.stringify(ground.models.requests.at(-1)?.body);
    expect(words).toMatch(/The year is written\.[^]*year\.txt is no year/);
    expect(words).not.toContain('End of the earlier conversation');
    await ground.expectUsageAsServed(id, 4);
  });
});

/** The resumed conversation of this kind has each result twice, so the turns do not count them. */
function turnsOfMending({ items }: Conversation): Turn[] {
  const results = items.filter(({ kind }) => kind === 'result');
  const isMended = results.at(-1)?.text.includes('2026') === true;
  const mend = { calls: [{ run: 'echo 2026 | tee year.txt' }] };
  const next = isMended ? { text: 'The year has four digits.' } : mend;
  return [...results.map(() => mend), next];
}
