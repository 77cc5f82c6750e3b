import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CleanupScope, withCleanup } from '#lib/local-servers';
import { playAgent } from '../demo/agent/play.js';
import { prepareAgent } from '../demo/agent/prepare.js';
import { useUpBudget } from '../demo/budget.js';
import { Fleet, untilIdle } from '../demo/fleet.js';
import { follow, type Task } from '../demo/follow.js';
import { jobRequest, TASKS } from '../demo/job.js';
import { Murder } from '../demo/murder.js';
import { invitePeople, type People } from '../demo/people.js';
import { VICTIM } from '../demo/settings.js';
import { setStage, type Stage } from '../demo/stage.js';
import { projectRoot } from '#lib/kernel';
import { explain, Sentence } from '../shared/sentence.js';
import { Dashboard, openConversation } from './dashboard.js';
import { Terminal } from './terminal.js';
import { terminalPicture } from './terminal-picture.js';

const FOLDER = join(projectRoot, 'docs', 'pictures');
const note = (text: string): void => void process.stderr.write(`${text}\n`);

try {
  await withCleanup(takePictures);
} catch (error) {
  process.stderr.write(`${explain(error)}\n`);
  process.exitCode = 1;
}
// An open connection after a failure must not keep the process alive. All necessary clean-up is
// done.
process.exit();

/** Takes pictures of the demo's fleet at each interesting moment. */
async function takePictures(scope: CleanupScope): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const stage = await setStage(scope, note);
  const people = await invitePeople(stage);
  const fleet = await Fleet.start(scope, stage, people);
  await untilIdle(people.member);
  const dashboard = await Dashboard.open(stage);
  scope.add(() => dashboard.close());
  const picture = (name: string) => join(FOLDER, `${name}.png`);

  note('using up a budget');
  await useUpBudget(scope, people);
  await ask(people);
  note('working');
  const victimId = await work(scope, { stage, people, fleet }, async () => {
    await dashboard.photograph('light', '/', picture('overview-light'));
    await dashboard.photograph('dark', '/', picture('overview-dark'));
    await dashboard.photograph('light', '/tasks', picture('tasks'));
  });
  note('what is left of it');
  await dashboard.photograph('light', `/tasks/${victimId}`, picture('task'));
  await dashboard.photograph('light', '/agents', picture('agents'));
  await dashboard.photograph('dark', '/budgets', picture('budgets'));
  await dashboard.photograph('light', '/questions', picture('questions'));
  await dashboard.photograph(
    'light',
    `/tasks/${await converse(scope, stage, people)}`,
    picture('conversation'),
    openConversation,
  );
  writeFileSync(join(FOLDER, 'terminal.svg'), await typed(stage, people));
}

/** Has a coding agent change a repository, as in the demo. @returns the id of its task */
async function converse(scope: CleanupScope, stage: Stage, people: People): Promise<string> {
  const agent = await prepareAgent(scope, note);
  if ('reason' in agent) throw new Sentence(agent.reason);
  note(`having ${agent.kind.title} change a repository`);
  const story = await playAgent(agent, { scope, stage, people, note });
  if ('reason' in story) throw new Sentence(story.reason);
  return story.changeId;
}

/** @returns the id of the task whose worker is killed */
async function work(
  scope: CleanupScope,
  { stage, people, fleet }: { stage: Stage; people: People; fleet: Fleet },
  inTheMiddle: () => Promise<void>,
): Promise<string> {
  const { member, projectId } = people;
  const shared = join(stage.folder, 'shared');
  mkdirSync(shared, { mode: 0o700 });
  const body = jobRequest({ projectId, root: projectRoot, shared });
  const { items } = await member.post('/api/v1/agent-tasks/batch', { body });
  const ids = items.map(({ id }) => id);
  const victimId = ids[TASKS.findIndex(({ ref }) => ref === VICTIM)] ?? '';
  const murder = new Murder(fleet, victimId);
  let middle: Promise<void> | undefined;
  const see = (tasks: Task[]): void => {
    if (tasks.some(({ status }) => status === 'RUNNING')) middle ??= inTheMiddle();
    murder.consider(tasks);
  };
  await follow(member, ids, { scope, filter: { tags: ['demo'] }, see });
  await middle;
  return victimId;
}

/** Creates a task that asks a person, and waits for the answer. */
async function ask({ member }: People): Promise<void> {
  const question = {
    prompt: 'The release notes mention a price. Publish them as they are?',
    choices: ['publish', 'leave the price out', 'hold back'],
    deadlineSeconds: 3_600,
    onDeadline: 'default',
    default: 'hold back',
  };
  const script = `process.stdout.write(${JSON.stringify(`::drover ${JSON.stringify({ ask: question })}\n`)})`;
  const task = await member.post('/api/v1/agent-tasks', {
    body: {
      title: 'Publish the release notes',
      taskType: 'release',
      inputContext: { command: [process.execPath, '-e', script] },
    },
  });
  for (;;) {
    const params = { query: { status: 'open' as const } };
    const { items } = await member.get('/api/v1/questions', { params });
    if (items.some(({ taskId }) => taskId === task.id)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function typed(stage: Stage, { administrator, workspaceId }: People): Promise<string> {
  const { key } = await administrator.post('/api/v1/workspaces/{workspaceId}/api-keys', {
    params: { path: { workspaceId } },
    body: { name: 'terminal', role: 'ADMIN', scopes: ['tasks:write', 'agents:read'] },
  });
  const terminal = new Terminal({ DROVER_API_URL: stage.address, DROVER_API_KEY: key });
  await terminal.type(`run -- node -e 'console.log(6 * 7)'`);
  await terminal.type('agent list');
  await terminal.type('task list --limit 8');
  return terminalPicture('drover in a terminal', terminal.output);
}
