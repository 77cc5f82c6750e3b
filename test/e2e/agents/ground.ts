import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindOf, type Provider } from '#lib/agent-kinds';
import { testSandbox, variablesOf } from '../../../libs/hosts/session-runtime/testing/sandboxes.js';
import { AGENTS, agentProgram } from '../../support/agent-programs.js';
import { type LogEntry, TestFleet } from '../../support/fleet.js';
import {
  type ModelServer,
  type SeenRequest,
  type Script,
  startModelServer,
} from '../../support/model-server/index.js';
import type { BuiltProcess } from '../../support/processes.js';
import { expectUsage } from '../../support/usage.js';
import { waitFor } from '../../support/wait-for.js';
import { Program } from '../program.js';

/** The key of every provider. No agent can see it. */
export const KEY = 'sk-canary-0123456789abcdef0123456789abcdef';
/** The stand-in answers for any model. This one has a price. */
export const MODEL = 'claude-haiku-4-5';

/** A worker with real coding agents in a sandbox, and a stand-in for their models. */
export class AgentGround {
  /** The first worker. */
  worker!: BuiltProcess;
  private served: ModelServer | undefined;

  private constructor(
    readonly fleet: TestFleet,
    private readonly sandbox: Record<string, string> | undefined,
  ) {}

  /** @param kinds the kinds that the test needs, which are installed at the first call */
  static async open(...kinds: string[]): Promise<AgentGround> {
    await Promise.all(kinds.map((name) => agentProgram(kindOf(name)!)));
    const sandbox = await testSandbox();
    const fleet = await TestFleet.atSharedServer();
    const ground = new AgentGround(fleet, sandbox && variablesOf(sandbox));
    ground.worker = await ground.startWorker('agents');
    return ground;
  }

  get models(): ModelServer {
    if (this.served === undefined) throw new Error('No stand-in for a model was started');
    return this.served;
  }

  /** The requests of Codex for answers. */
  asked(): SeenRequest[] {
    return (this.served?.requests ?? []).filter(({ path }) => path.endsWith('/responses'));
  }

  startWorker(name: string): Promise<BuiltProcess> {
    return this.fleet.startWorker(name, {
      DROVER_AGENTS: AGENTS,
      DROVER_WORKER_LOG_LEVEL: 'debug',
      DROVER_REPOSITORY_PATHS: this.fleet.folder,
      ...this.sandbox,
    });
  }

  /** Starts a stand-in for the models of the provider, until the test ends. */
  async serve(script: Script, provider: Provider = 'openai'): Promise<void> {
    await this.served?.close();
    this.served = await startModelServer(script);
    const way = { key: KEY, baseUrl: this.served.url };
    const { status } = await this.fleet.api.put(`/model-providers/${provider}`, way);
    if (status !== 200) throw new Error(`The provider was refused with ${status}`);
  }

  /** Creates a task for Codex, unless the values name another kind. Returns its id. */
  async run(script: Script, values: object = {}, provider?: Provider): Promise<string> {
    await this.serve(script, provider);
    const { status, body } = await this.fleet.api.post<{ id: string }>('/agent-tasks', {
      title: 'Write a haiku',
      taskType: 'agent',
      agent: { kind: 'codex', model: MODEL },
      instructions: 'Write it into haiku.txt.',
      maxRetries: 0,
      ...values,
    });
    if (status !== 201) throw new Error(`The task was refused: ${JSON.stringify(body)}`);
    return body.id;
  }

  untilStatus(id: string, ...statuses: string[]): Promise<Record<string, unknown>> {
    return waitFor(`${id} to be ${statuses.join(' or ')}`, async () => {
      const task = await this.fleet.task(id);
      return statuses.includes(task['status'] as string) ? task : undefined;
    });
  }

  /** Waits until the server has the conversation of Codex with its first tool call. */
  async untilCallKept(id: string): Promise<void> {
    const { runId } = await this.fleet.task(id);
    const home = join(this.fleet.folder, 'agents');
    await waitFor('the conversation with the first call to be kept', () => {
      const [rollout] = globSync(join(home, '**', String(runId), '**/rollout-*.jsonl'));
      const text = rollout === undefined ? '' : readFileSync(rollout, 'utf8');
      const kept = this.worker.all('State of the agent kept').at(-1)?.['conversation'];
      return text.includes('function_call_output') && kept === Buffer.byteLength(text);
    });
  }

  /** The command line as the owner of the workspace. */
  drover(words: string[], input: 'ignore' | 'pipe' = 'ignore'): Program {
    const script = 'dist/apps/cli/main.js';
    return new Program(script, words, this.fleet.access, undefined, process.execPath, input);
  }

  logOf(id: string): Promise<LogEntry[]> {
    return this.fleet.logOf(id);
  }

  async fileOf(id: string, name: string): Promise<string> {
    const out = join(this.fleet.folder, `files-${id}`);
    const got = this.drover(['artifact', 'get', id, '--out', out]);
    if ((await got.ended) !== 0) throw new Error(got.output);
    return readFileSync(join(out, name), 'utf8');
  }

  /** @param requests the number of the stand-in's answers */
  expectUsageAsServed(taskId: string, requests: number): Promise<void> {
    return expectUsage(this.fleet, taskId, { ...this.models.served(), requests });
  }

  async endTest(): Promise<void> {
    await this.served?.close();
    this.served = undefined;
  }

  close(): Promise<void> {
    return this.fleet.stop();
  }
}
