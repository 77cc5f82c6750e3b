import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { TestPlace, plainGit } from '../../libs/code/git/testing/repositories.js';
import { testSandbox, variablesOf } from '../../libs/hosts/session-runtime/testing/sandboxes.js';
import { TestFleet } from '../support/fleet.js';
import { ForgeServer } from '../support/forges/forge-server.js';
import type { Pull } from '../support/forges/forge-model.js';
import { waitFor } from '../support/wait-for.js';
import { Terminal } from './terminal.js';

/** Changes of a repository at a forge, from a labelled issue to the merge. */

interface Change {
  id: string;
  state: string;
  revision: number;
  headCommit: string;
  mergedCommit: string | null;
  obstacle: string | null;
  approvedBy: string | null;
  step: { agentId: string | null } | null;
  pullRequest: { number: number; url: string } | null;
  reviews: { verdict: string; author: string; body: string; comments: object[] }[];
}

const sandbox = await testSandbox();
/** Each run makes another change. */
const SCRIPT = 'echo "Hello $(date +%s%N)" >greeting.txt';

let fleet: TestFleet;
let place: TestPlace;

beforeAll(async () => {
  fleet = await TestFleet.create();
  place = new TestPlace();
  await fleet.startServer({ FORGE_POLL_SECONDS: '1', PUBLIC_URL: 'https://drover.example.com' });
  await fleet.startWorker('code', variablesOf(sandbox!));
});

afterAll(async () => {
  await fleet?.stop();
  place?.remove();
});

const change = async (id: string) => (await fleet.api.get<Change>(`/changes/${id}`)).body;

const until = (id: string, state: string, more: (one: Change) => boolean = () => true) =>
  waitFor(`the change to be ${state}`, async () => {
    const found = await change(id);
    return found.state === state && more(found) ? found : undefined;
  });

async function drover(args: string[], input = ''): Promise<string> {
  const own = { HOME: fleet.folder, DROVER_CONFIG: join(fleet.folder, 'config.json') };
  const env = { ...own, DROVER_HOME: join(fleet.folder, 'none'), ...fleet.access };
  const { code, stdout, stderr } = await new Terminal(args, { env, cwd: fleet.folder, input })
    .ended;
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${stderr}`);
  return stdout;
}

/** Only machines without namespaces have no sandbox. */
const describeCode = sandbox === undefined ? describe.skip : describe;

describeCode.each(['github', 'gitea'] as const)('a repository at %s', (kind) => {
  let forge: ForgeServer;
  let repositoryId: string;
  let hook: { id: string; path: string; secret: string };

  beforeAll(async () => {
    const { path } = place.repository(`${kind}-seed`, { 'greeting.txt': 'Hello\n' });
    plainGit(path, 'clone', '-q', '--bare', '.', place.path(`${kind}.git`));
    forge = await ForgeServer.start(kind, place.path(`${kind}.git`));
    const settings = ['--accept', 'grep Hello greeting.txt', '--token-stdin', '--json'];
    const add = ['repo', 'add', forge.url, '--name', kind, '--forge', kind, ...settings];
    repositoryId = (JSON.parse(await drover(add, forge.token)) as { id: string }).id;
    const command = ['sh', '-c', SCRIPT];
    const task = { title: '{{issue.title}}', taskType: 'issue', repositoryId };
    const when = { 'label.name': 'drover' };
    const rule = {
      on: 'issues',
      when,
      do: 'create_task',
      task: { ...task, inputContext: { command } },
    };
    const { body } = await fleet.api.post<typeof hook>('/inbound-hooks', { kind, rules: [rule] });
    hook = body;
  });
  afterEach(() => {
    forge.watch = () => undefined;
  });
  afterAll(() => forge?.stop());

  let deliveries = 0;
  /** Sends an event twice, as forges do after a lost answer. @returns the two outcomes */
  async function tell(name: string, payload: object): Promise<string[]> {
    deliveries += 1;
    const event = forge.event(name, payload, hook.secret, `delivery-${deliveries}`);
    const outcomes: string[] = [];
    for (let time = 0; time < 2; time += 1) {
      const answer = await fetch(`http://127.0.0.1:${fleet.port}${hook.path}`, event);
      outcomes.push(((await answer.json()) as { outcome: string }).outcome);
    }
    return outcomes;
  }

  async function aChange(more: object = {}): Promise<Change> {
    const { body } = await fleet.api.post<{ id: string }>('/agent-tasks', {
      title: 'A greeting',
      taskType: 'test',
      repositoryId,
      inputContext: { command: ['sh', '-c', SCRIPT] },
      ...more,
    });
    return until(body.id, 'IN_REVIEW', ({ pullRequest }) => pullRequest !== null);
  }

  const pullOf = ({ pullRequest }: Change): Pull => forge.model.pull(pullRequest?.number ?? 0);
  const tip = () => forge.model.commitOf('main');
  const status = (commit: string) =>
    forge.model.statusesOf(commit).find(({ name }) => name === 'drover/acceptance')?.state;

  async function merged({ id }: Change): Promise<Pull> {
    const after = await until(id, 'MERGED');
    const pull = await waitFor('its pull request to be merged', () => {
      const found = pullOf(after);
      const isGone = forge.model.commitOf(found.head) === undefined;
      return Promise.resolve(found.merged !== undefined && isGone ? found : undefined);
    });
    expect(after.mergedCommit).toBe(pull.merged);
    expect(tip()).toBe(pull.merged);
    expect(await fleet.task(id)).toMatchObject({ status: 'COMPLETED' });
    return pull;
  }

  it('a labelled issue becomes a change whose reviews and merge are at the forge', async () => {
    const issue = { number: 7, title: 'Greet the world', body: 'Please.' };
    const labelled = { action: 'labeled', issue, label: { name: 'drover' } };
    expect(await tell('issues', labelled)).toEqual(['created', 'created']);
    const { body } = await fleet.api.get<{ items: Change[] }>(
      `/changes?repositoryId=${repositoryId}`,
    );
    expect(body.items).toHaveLength(1);
    const id = body.items[0]!.id;
    const first = await until(id, 'IN_REVIEW', ({ pullRequest }) => pullRequest !== null);
    await waitFor('the status', () => Promise.resolve(status(first.headCommit) === 'success'));
    const pull = pullOf(first);
    expect(pull).toMatchObject({ title: 'Greet the world', headSha: first.headCommit });
    const described = await waitFor('the description', () => {
      const { body: text } = pullOf(first);
      return Promise.resolve(text.includes('It waits for a review') ? text : undefined);
    });
    const checked = await drover(['repo', 'check', kind]);
    expect(checked).toContain('The token can write to the repository');
    expect(checked).toContain('There is no hook of Drover');
    forge.model.hooks.push('https://old.example.com/api/v1/hooks/1');
    const again = await drover(['repo', 'check', kind]);
    expect(again).toContain('The hook goes to https://old.example.com. If Drover is not reached');
    expect(again).toContain('PUBLIC_URL of the server is https://drover.example');
    for (const words of [
      'Closes #7',
      '1 run, 0 tokens',
      'Acceptance succeeded',
      '/reviews/' + id,
    ]) {
      expect(described).toContain(words);
    }

    // Everybody can review at a forge. Only people who can write count.
    forge.model.review(pull.number, 'stranger', { state: 'APPROVED' });
    forge.model.review(pull.number, 'reader', { state: 'APPROVED' });
    const lines = [{ path: 'greeting.txt', line: 1, text: 'Greet everybody.' }];
    forge.model.review(pull.number, 'ada', { state: 'CHANGES_REQUESTED', body: 'Almost.', lines });
    const reviewed = await tell('pull_request_review', { pull_request: { number: pull.number } });
    expect(reviewed).toEqual(['synced', 'synced']);
    const second = await until(id, 'IN_REVIEW', ({ revision }) => revision === 2);
    const asked = second.reviews.filter(({ author }) => author === `${kind}:ada`);
    expect(asked).toMatchObject([
      { verdict: 'changes_requested', body: 'Almost.', comments: [lines[0]] },
    ]);
    expect(second.reviews.some(({ author }) => /stranger|reader/.test(author))).toBe(false);

    // No event tells of the approval, the forge limits requests, and somebody pushes meanwhile.
    let limited = 0;
    let pushes = 0;
    forge.watch = (request, when) => {
      if (when === 'before' && request === 'push refs/heads/main' && pushes++ === 0) {
        forge.model.moveOn('main');
      }
      if (when === 'after' || !request.includes(`/pulls/${pull.number}`) || limited === 1) return;
      limited += 1;
      return { status: 429, headers: { 'retry-after': '1' } };
    };
    await waitFor('the head at the forge', () =>
      Promise.resolve(forge.model.pull(pull.number).headSha === second.headCommit),
    );
    forge.model.review(pull.number, 'ada', { state: 'APPROVED', body: 'Fine.' });
    expect(await merged(second)).toMatchObject({ number: pull.number });
    expect([limited, pushes]).toEqual([1, 2]);
    expect((await change(id)).approvedBy).toBe(`${kind}:ada`);
    expect(forge.model.pulls).toHaveLength(1);
    expect(forge.model.pull(pull.number).body).toContain('It is merged');
    expect(await drover(['review', 'show', id])).toContain(first.pullRequest?.url);
  });

  it('a change lands through the forge where its target is protected, after its checks', async () => {
    forge.model.protect('main');
    await drover(['repo', 'set', kind, '--require-check', 'build']);
    const found = await aChange();
    const { headCommit } = found;
    await fleet.api.post(`/changes/${found.id}/comment`, { body: 'Said here.' });
    const approve = { headCommit, body: 'Approved here.' };
    expect((await fleet.api.post(`/changes/${found.id}/approve`, approve)).status).toBe(200);
    const waiting = await until(found.id, 'APPROVED', ({ obstacle }) => obstacle !== null);
    expect(waiting.obstacle).toMatch(
      kind === 'github'
        ? /^The check build is not reported yet. The token cannot read check runs: use a classic/
        : /^The check build is not reported yet$/,
    );
    const before = tip();
    const build = { name: 'build', state: 'success', description: '' };
    forge.model.readsRuns = true;
    if (kind === 'github') forge.model.runs.set(headCommit, [build]);
    else forge.model.setStatus(headCommit, build);
    // The forge merges it, and is out before it says so.
    let isOut = false;
    forge.watch = (request, when) => {
      isOut ||= when === 'after' && request.endsWith('/merge');
      return isOut ? { status: 502, message: 'Away' } : undefined;
    };
    expect(await tell('status', { sha: headCommit, state: 'success' })).toEqual([
      'synced',
      'synced',
    ]);
    const away = 'The forge answers with 502';
    await until(found.id, 'APPROVED', ({ obstacle, step }) => {
      return obstacle === away && step?.agentId === null;
    });
    // The host tries again meanwhile, and a request during an attempt has another reason.
    await waitFor('the reason', async () => {
      const path = `/changes/${found.id}/request-changes`;
      const { status, body } = await fleet.api.post(path, { body: 'No.' });
      expect(status).toBe(409);
      return String(body['detail']).includes('can be on its target already');
    });
    isOut = false;
    forge.watch = () => undefined;
    expect((await fleet.api.post(`/changes/${found.id}/merge`, {})).status).toBe(200);
    const pull = await merged(found);
    expect(
      forge.requests.filter((name) => name.endsWith(`/pulls/${pull.number}/merge`)),
    ).toHaveLength(1);
    expect(forge.model.git('rev-parse', `${pull.merged}^`)).toBe(before);
    await waitFor('both comments', () => {
      const said = forge.model
        .pull(pull.number)
        .comments.map(({ body }) => body.split('\n').at(-1));
      return Promise.resolve(
        said.length === 2 && said.sort().join() === 'Approved here.,Said here.',
      );
    });
    await drover(['repo', 'set', kind, '--require-check', '']);
  });

  it('a merge and a closure at the forge end their changes', async () => {
    const found = await aChange();
    forge.model.merge(pullOf(found).number, { message: 'Merged by hand' });
    await merged(found);
    const other = await aChange();
    forge.model.edit(pullOf(other).number, { state: 'closed' });
    await until(other.id, 'CLOSED');
    await waitFor('its branch to go', () =>
      Promise.resolve(forge.model.commitOf(pullOf(other).head) === undefined),
    );
    expect(await fleet.task(other.id)).toMatchObject({ status: 'ABORTED' });
    // The forge has merged it, and its task is cancelled before a host hears of it.
    const late = await aChange();
    forge.watch = () => ({ status: 503, message: 'Away' });
    forge.model.merge(pullOf(late).number, { message: 'Merged by hand' });
    expect((await fleet.api.post(`/agent-tasks/${late.id}/cancel`, {})).status).toBe(200);
    forge.watch = () => undefined;
    await until(late.id, 'MERGED', ({ mergedCommit }) => mergedCommit === pullOf(late).merged);
    expect(await fleet.task(late.id)).toMatchObject({ status: 'ABORTED' });
  });

  it('a wrong token is an obstacle with a sentence, and mending it goes on', async () => {
    const found = await aChange();
    forge.watch = () => ({ status: 401, message: 'Bad credentials' });
    const stuck = await until(found.id, 'IN_REVIEW', ({ obstacle }) => obstacle !== null);
    expect(stuck.obstacle).toContain('refuses the token');
    forge.watch = () => undefined;
    expect((await fleet.api.post(`/changes/${found.id}/merge`, {})).status).toBe(200);
    await until(found.id, 'IN_REVIEW', ({ obstacle }) => obstacle === null);
    await fleet.api.post(`/changes/${found.id}/close`, {});
    await waitFor('its pull request to close', () =>
      Promise.resolve(pullOf(found).state === 'closed'),
    );
  });
});
