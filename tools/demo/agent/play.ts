import type { components } from '#lib/api-client';
import type { CleanupScope } from '#lib/local-servers';
import {
  type ModelServer,
  startModelServer,
  sumOf,
} from '../../../test/support/model-server/index.js';
import { Child } from '../../shared/children.js';
import { Sentence } from '../../shared/sentence.js';
import { arrangeIsolation } from '../../start/isolation.js';
import { workerSpec } from '../fleet.js';
import type { People } from '../people.js';
import { PATIENCE_MS, RETRY_BACKOFF_SECONDS } from '../settings.js';
import type { Stage } from '../stage.js';
import { Poems } from './poems.js';
import type { DemoAgent, NoAgent } from './prepare.js';
import { ACCEPTANCE, FILE, isWhole, TITLE, writePoem } from './script.js';
import { type Step, stepsOf } from './steps.js';

type Change = components['schemas']['WholeChange'];

/** The change of a coding agent, from its task to its merge. */
export interface AgentStory {
  agent: string;
  /** The model, and the source of its answers, as a sentence. */
  answers: string;
  /** The isolation of the agent, as a sentence. */
  isolation: string;
  changeId: string;
  state: Change['state'];
  error: string | null;
  /** The steps of the change in their order. */
  steps: string[];
  /** True if its worker was killed before the first submission. */
  wasKilled: boolean;
  /** The verdicts of its acceptance. */
  proofs: string[];
  /** The file and the last commit on the branch of the repository. */
  file: string;
  commit: string;
  usedTokens: number;
  /** The tokens that the stand-in served. Undefined with a real model. */
  servedTokens: number | undefined;
  holds: boolean;
}

/** The first one is killed, the second one goes on. */
const WORKERS = ['dot', 'eve'] as const;
/** A real model needs some seconds for each answer. */
const TIMEOUT_SECONDS = 120;
const LOOK_EVERY_MS = 100;

export interface Place {
  scope: CleanupScope;
  stage: Stage;
  people: People;
  note: (text: string) => void;
}

/**
 * Has a coding agent change a repository, in the sandboxes of two workers: one is killed in the
 * middle, and the other one goes on until the change is merged.
 */
export async function playAgent(demo: DemoAgent, place: Place): Promise<AgentStory | NoAgent> {
  const play = await Play.prepare(demo, place);
  const why = await play.startWorker(WORKERS[0]);
  return why === undefined ? play.run() : { reason: `No change here: ${why}.` };
}

class Play {
  private readonly workers: Child[] = [];
  private killedAt: Date | undefined;
  /** The stand-in for a model. Undefined with a real one. */
  private models: ModelServer | undefined;

  private constructor(
    private readonly demo: DemoAgent,
    private readonly place: Place,
    private readonly isolation: Awaited<ReturnType<typeof arrangeIsolation>>,
  ) {}

  static async prepare(demo: DemoAgent, place: Place): Promise<Play> {
    const play = new Play(demo, place, await arrangeIsolation(place.stage.folder, place.note));
    await play.setProvider();
    return play;
  }

  /** Gives the workspace a key of the agent's provider, or the stand-in in its place. */
  private async setProvider(): Promise<void> {
    const { scope, people } = this.place;
    const { kind, answers } = this.demo;
    if (answers.by === 'stand-in') {
      const models = await startModelServer(writePoem(() => this.killedAt !== undefined));
      scope.add(() => models.close());
      this.models = models;
    }
    const params = { path: { provider: kind.provider } };
    const body =
      answers.by === 'stand-in'
        ? { key: 'sk-stand-in', baseUrl: this.models?.url }
        : { key: answers.key, baseUrl: answers.baseUrl };
    await people.administrator.put('/api/v1/model-providers/{provider}', { params, body });
  }

  /** @returns the reason why it cannot work on code */
  async startWorker(name: string): Promise<string | undefined> {
    const { stage, people, scope } = this.place;
    const spec = workerSpec(stage, people, { name, capabilities: ['agent'], concurrency: 1 });
    const own = { DROVER_AGENTS: this.demo.folders, DROVER_REPOSITORY_PATHS: stage.folder };
    const env = { ...spec.env, ...this.isolation.env, ...own };
    const worker = await Child.start(stage.supervisor, { ...spec, env });
    this.workers.push(worker);
    scope.add(async () => void (await worker.stop()));
    let why: string | undefined;
    await worker.ready(({ message, reason }) => {
      if (message === 'No work on code here') why = String(reason);
      return message === 'Registered';
    });
    return why;
  }

  async run(): Promise<AgentStory> {
    const poems = Poems.make(this.place.stage.folder);
    const id = await this.createTask(poems);
    await this.killInTheMiddle(id, poems);
    await this.startWorker(WORKERS[1]);
    const proven = await this.until(id, 'IN_REVIEW');
    if (proven.state === 'IN_REVIEW') await this.approve(proven);
    await this.until(id, 'MERGED');
    // They report the last tokens.
    for (const worker of this.workers) await worker.stop();
    return this.tell(await this.read(id), poems);
  }

  private async createTask(poems: Poems): Promise<string> {
    const { member, administrator, projectId } = this.place.people;
    const { id: repositoryId } = await administrator.post('/api/v1/repositories', {
      body: { name: 'poems', url: poems.path, acceptance: ACCEPTANCE },
    });
    const { id } = await member.post('/api/v1/agent-tasks', {
      body: {
        title: 'Write a haiku',
        taskType: 'agent',
        projectId,
        repositoryId,
        maxRetries: 1,
        retryBackoffSeconds: RETRY_BACKOFF_SECONDS,
        timeoutSeconds: TIMEOUT_SECONDS,
        agent: { kind: this.demo.kind.name },
        instructions: `Write a haiku about queues into the file ${FILE}.`,
      },
    });
    return id;
  }

  /** Kills the worker when the first file is at the repository and its tokens are in the ledger. */
  private async killInTheMiddle(id: string, poems: Poems): Promise<void> {
    for await (const change of this.looks(id)) {
      // A real model can be faster.
      if (change.state !== 'WORKING') break;
      if (Number(change.cost.tokens) === 0 || !poems.hasWorkOf(id)) continue;
      this.workers[0]?.signal('SIGKILL');
      this.killedAt = new Date();
      this.place.note(`SIGKILL for the worker ${WORKERS[0]}, in the middle of its change`);
      break;
    }
  }

  private approve({ id, headCommit }: Change): Promise<unknown> {
    const params = { path: { id } };
    const body = { headCommit: headCommit ?? '' };
    return this.place.people.member.post('/api/v1/changes/{id}/approve', { params, body });
  }

  /** The change in this state, or in one from which it does not come there. */
  private async until(id: string, state: Change['state']): Promise<Change> {
    for await (const change of this.looks(id)) {
      if ([state, 'MERGED', 'FAILED', 'CLOSED'].includes(change.state)) return change;
    }
    throw new Sentence(`The change is not ${state} after ${PATIENCE_MS / 1000} s.`);
  }

  private read(id: string): Promise<Change> {
    return this.place.people.member.get('/api/v1/changes/{id}', { params: { path: { id } } });
  }

  private async *looks(id: string): AsyncGenerator<Change> {
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (performance.now() < giveUpAt) {
      if (this.place.scope.signal.aborted) throw new Sentence('Stopped.');
      yield await this.read(id);
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  private async tell(change: Change, poems: Poems): Promise<AgentStory> {
    const { demo, isolation, place, models, killedAt } = this;
    const { member } = place.people;
    const params = { path: { id: change.id } };
    const { lastError } = await member.get('/api/v1/agent-tasks/{id}', { params });
    const proofs = change.reviews.flatMap(({ kind, verdict }) => (kind === 'proof' ? verdict : []));
    const kill: Step[] = killedAt
      ? [{ at: killedAt, text: `SIGKILL for the worker ${WORKERS[0]}` }]
      : [];
    const steps = await stepsOf(change, member, kill);
    const file = poems.file(FILE);
    const usedTokens = Number(change.cost.tokens);
    const servedTokens = models && tokensOf(models);
    const isScripted =
      models === undefined ||
      (isWhole(file) && killedAt !== undefined && proofs.join() === 'red,green');
    const counts = servedTokens === undefined ? usedTokens > 0 : usedTokens === servedTokens;
    return {
      agent: `${demo.kind.title} ${demo.version}`,
      answers: answersOf(demo),
      isolation: isolation.sentence,
      changeId: change.id,
      state: change.state,
      error: lastError,
      steps,
      wasKilled: killedAt !== undefined,
      proofs,
      file,
      commit: poems.lastCommit(),
      usedTokens,
      servedTokens,
      holds: change.state === 'MERGED' && file.startsWith(`${TITLE}\n`) && isScripted && counts,
    };
  }
}

/** An answer that broke off has no usage: its worker was killed. */
function tokensOf({ requests }: ModelServer): number {
  const served = sumOf(requests.filter(({ isBrokenOff }) => !isBrokenOff));
  return served.input + served.output + served.cacheRead + served.cacheWrite;
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
