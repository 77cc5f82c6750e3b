import type { components } from '#lib/api-client';
import type { CleanupScope } from '#lib/local-servers';
import { type ModelServer, startModelServer } from '../../../test/support/model-server/index.js';
import { Child } from '../../shared/children.js';
import { arrangeIsolation } from '../../start/isolation.js';
import { workerSpec } from '../fleet.js';
import { follow, type Task } from '../follow.js';
import type { People } from '../people.js';
import type { Stage } from '../stage.js';
import { readLog } from '../timeline.js';
import type { DemoAgent } from './prepare.js';

type Usage = components['schemas']['UsageSums'];

/** The task of a coding agent. */
export interface AgentStory {
  agent: string;
  /** The model, and the source of its answers, as a sentence. */
  answers: string;
  /** The isolation of the agent, as a sentence. */
  isolation: string;
  status: Task['status'];
  error: string | null;
  /** The steps of the agent as its log has them. */
  steps: string[];
  /** The edited file, as its artifact has it. */
  file: string;
  usedTokens: number;
  /** The tokens that the stand-in served. Undefined with a real model. */
  servedTokens: number | undefined;
  holds: boolean;
}

const FILE = 'haiku.txt';
const TITLE = 'Queues';
const HAIKU = 'Tasks wait in a row.\nOne worker falls in the night.\nAnother goes on.\n';
const CAPABILITY = 'agent';
/** A real model needs some seconds for each answer. */
const TIMEOUT_SECONDS = 120;

const SCRIPT = [
  { calls: [{ write: FILE, content: HAIKU }] },
  { calls: [{ run: `sed -i '1i ${TITLE}' ${FILE} && cat ${FILE}` }] },
  { text: `${FILE} has the haiku and its title.` },
];

export interface Place {
  scope: CleanupScope;
  stage: Stage;
  people: People;
  note: (text: string) => void;
}

/** Has a coding agent write and edit a file, in the sandbox of a worker of its own. */
export async function playAgent(demo: DemoAgent, place: Place): Promise<AgentStory> {
  const { scope, stage, people } = place;
  const models = await setProvider(demo, place);
  const isolation = await arrangeIsolation(stage.folder, place.note);
  const plan = { name: 'dot', capabilities: [CAPABILITY], concurrency: 1 };
  const spec = workerSpec(stage, people, plan);
  const env = { ...spec.env, ...isolation.env, DROVER_AGENTS: demo.folders };
  const worker = await Child.start(stage.supervisor, { ...spec, env });
  scope.add(async () => void (await worker.stop()));
  await worker.ready(({ message }) => message === 'Registered');
  const task = await runTask(demo, place);
  await worker.stop();
  const { file, used } = await resultOf(people, task.id);
  const log = await readLog(people.member, task.id);
  const served = models?.served();
  const usedTokens = Number(used?.totalTokens ?? 0);
  const servedTokens =
    served && served.input + served.output + served.cacheRead + served.cacheWrite;
  const isEdited =
    models === undefined ? file.startsWith(`${TITLE}\n`) : file === `${TITLE}\n${HAIKU}`;
  return {
    agent: `${demo.kind.title} ${demo.version}`,
    answers: answersOf(demo),
    isolation: isolation.sentence,
    status: task.status,
    error: task.lastError,
    steps: log.flatMap(({ event, message }) =>
      ['agent_message', 'agent_tool'].includes(event) && message !== null ? [message] : [],
    ),
    file,
    usedTokens,
    servedTokens,
    holds:
      task.status === 'COMPLETED' &&
      isEdited &&
      (servedTokens === undefined ? usedTokens > 0 : usedTokens === servedTokens),
  };
}

/** Gives the workspace a key of the agent's provider, or the stand-in in its place. */
async function setProvider(
  { kind, answers }: DemoAgent,
  { scope, people }: Place,
): Promise<ModelServer | undefined> {
  const models = answers.by === 'stand-in' ? await startModelServer(SCRIPT) : undefined;
  if (models) scope.add(() => models.close());
  const params = { path: { provider: kind.provider } };
  const body =
    answers.by === 'stand-in'
      ? { key: 'sk-stand-in', baseUrl: models?.url }
      : { key: answers.key, baseUrl: answers.baseUrl };
  await people.administrator.put('/api/v1/model-providers/{provider}', { params, body });
  return models;
}

async function runTask({ kind }: DemoAgent, { scope, people }: Place): Promise<Task> {
  const { id } = await people.member.post('/api/v1/agent-tasks', {
    body: {
      title: 'Write a haiku',
      taskType: 'agent',
      projectId: people.projectId,
      requiredCapabilities: [CAPABILITY],
      maxRetries: 0,
      timeoutSeconds: TIMEOUT_SECONDS,
      agent: { kind: kind.name },
      instructions: `Write a haiku about queues into the file ${FILE} of your working folder.`,
      steps: [`Then edit the file: insert the word ${TITLE} as its first line.`],
      acceptance: [`${FILE} has the title and three lines`],
    },
  });
  const [task] = await follow(people.member, [id], { scope, filter: { taskType: 'agent' } });
  return task!;
}

async function resultOf({ member, administrator }: People, taskId: string) {
  const params = { path: { id: taskId } };
  const { items } = await member.get('/api/v1/agent-tasks/{id}/artifacts', { params });
  const artifact = items.find(({ name }) => name === FILE);
  const file = artifact === undefined ? '' : await (await member.download(artifact)).text();
  const query = { groupBy: 'day' as const, taskId };
  const sums = await administrator.get('/api/v1/usage', { params: { query } });
  return { file, used: sums.items[0] as Usage | undefined };
}

function answersOf({ kind, answers }: DemoAgent): string {
  if (answers.by === 'provider') {
    return `The model ${kind.defaultModel} answered, with your ${answers.variable}.`;
  }
  const standIn = 'A stand-in answered by a script, not a real model.';
  if (answers.unused.length === 0) return `${standIn} Set OPENAI_API_KEY to use a model.`;
  const keys = answers.unused.join(' and ');
  return `${standIn} No agent here uses ${keys}: see \`npx drover agent kinds\`.`;
}
